"""Tables of Spark whose location is a placeholder are replicated from where their rows are; nobody reads the source."""

from dataclasses import replace

from tests.support.builders import a_policy, an_external
from tests.support.hive.metastore_objects import a_spark_table
from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.objects import Table
from twinhive.core.model.thrift_objects import named_locations
from twinhive.operations.actions.repair import Repair

ROWS = "hdfs://east/data/csv"
THERE = "hdfs://west/ext/data/csv"


def a_world() -> FollowedExternals:
    """Return a replica that has a table of csv files."""
    world = FollowedExternals.from_the_beginning()
    world.world.source.create_table(a_spark_table("sales", "csv", ROWS))
    world.settle()
    assert places_of(world) == (THERE, THERE)
    return world


def places_of(world: FollowedExternals) -> tuple[str | None, str | None]:
    """Return the places that the twin names."""
    twin = world.on_replica("csv")
    assert twin is not None
    return named_locations(twin)


def at_source(world: FollowedExternals) -> Table:
    """Return the table of the source."""
    return world.users.table("csv")


def test_a_new_table_waits_for_its_rows_and_names_one_place() -> None:
    world = FollowedExternals.from_the_beginning()
    world.world.source.create_table(a_spark_table("sales", "csv", ROWS))
    world.follow()
    assert world.pending == ("csv",)
    assert world.on_replica("csv") is None
    world.settle()
    assert places_of(world) == (THERE, THERE)
    world.assert_twin()


def test_the_source_keeps_its_placeholder_and_the_twin_its_place_when_it_is_altered() -> None:
    world = a_world()
    placeholder = named_locations(at_source(world))
    world.users.set_parameters("csv", {"note": "x"})
    assert named_locations(at_source(world)) == placeholder
    world.settle()
    assert places_of(world) == (THERE, THERE)
    assert world.on_replica("csv").parameters["note"] == "x"  # type: ignore[union-attr]


def test_rows_in_another_place_are_waited_for() -> None:
    world = a_world()
    moved = a_spark_table("sales", "csv", "hdfs://east/other/csv")
    world.world.source.alter_table(moved.name, moved)
    world.follow()
    assert (world.pending, places_of(world)) == (("csv",), (THERE, THERE))
    world.settle()
    assert places_of(world) == ("hdfs://west/ext/other/csv",) * 2


def test_a_table_that_stays_names_the_place_where_its_rows_are() -> None:
    policy = a_policy(external=an_external(stay=("hdfs://east/data/.*",)))
    world = FollowedExternals.from_the_beginning(policy)
    world.world.source.create_table(a_spark_table("sales", "csv", ROWS))
    world.settle()
    twin = world.on_replica("csv")
    assert twin is not None
    assert twin.location == ROWS


def test_verify_asks_for_the_place_of_the_rows_and_a_repair_mends_it() -> None:
    world = a_world()
    night = Verifying(world)
    assert night.findings() == []
    twin = world.on_replica("csv")
    assert twin is not None
    foreign = a_spark_table("sales", "csv", ROWS, location=THERE)
    foreign = replace(foreign, parameters={**twin.parameters}, columns=twin.columns)
    world.world.replica.alter_table(twin.name, foreign)
    assert named_locations(world.on_replica("csv")) == (THERE, ROWS)  # type: ignore[arg-type]
    (found,) = night.findings()
    assert "location" in str(found)
    assert ROWS in str(found)

    Repair(world.policy, (), {"by": "ann"}).run(world.world.ports())
    world.settle()
    assert places_of(world) == (THERE, THERE)
    assert night.findings() == []


def test_managed_tables_of_delta_are_named_and_nothing_of_them_comes() -> None:
    world = FollowedExternals.from_the_beginning()
    made = a_spark_table("sales", "changes", None, "delta", "hdfs://east/warehouse/changes")
    world.world.source.create_table(
        replace(made, table_type="MANAGED_TABLE", parameters={"spark.sql.sources.provider": "delta"})
    )
    world.settle()
    assert world.on_replica("changes") is None
    assert "changes" in str(Verifying(world).verify().left_out)
