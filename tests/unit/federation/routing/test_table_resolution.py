"""Route statements over copies that a placement has really made: fresh ones are used, stale ones never."""

from dataclasses import replace

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.placement.test_copies import CHANGES, a_world
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import from_text, to_text
from twinhive.federation.routing.cluster_choice import Nowhere, Routed, Why
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.refusing import refusal
from twinhive.federation.routing.statement_reading import read_statement, view_reads
from twinhive.federation.routing.table_resolution import Clusters, Resolver, read_names

NORTH_ONLY = "insert into there select * from {}"


def resolver(world: CopiesWorld, *, looks: bool = True) -> Resolver:
    freshness = Freshness(world.metastore, world.look if looks else None)
    return Resolver(world.metastore, Clusters(("east", "north"), "east"), freshness, view_reads)


def routed(world: CopiesWorld, sql: str, chosen: str | None = None) -> Routed | Nowhere:
    return resolver(world).route(read_statement(sql, "sales"), chosen)


def a_world_with_a_table_of_north() -> CopiesWorld:
    world = a_world()
    world.users.create_table("there")
    world.users.set_parameters("there", {"twinhive.cluster": "north"})
    return world


def test_without_copies_everything_runs_where_it_belongs() -> None:
    world = a_world_with_a_table_of_north()
    assert routed(world, "select * from plain join orders on 1 = 1") == Routed("east", Why.INPUT)
    assert routed(world, "select * from there").cluster == "north"  # type: ignore[union-attr]
    found = routed(world, "select * from plain join there on 1 = 1")
    assert isinstance(found, Nowhere)
    assert [(one.cluster, str(one.table)) for one in found.tried] == [("east", "sales.there"), ("north", "sales.plain")]
    assert routed(world, "select 1", "north") == Routed("north", Why.CHOSEN)


def test_copies_let_a_join_run_and_a_refusal_names_the_first_partition_that_is_missing() -> None:
    world = a_world_with_a_table_of_north()
    world.settle()
    assert routed(world, "select * from plain join there on 1 = 1").cluster == "north"  # type: ignore[union-attr]
    assert routed(world, "insert into there select * from orders") == Routed("north", Why.OUTPUT)
    world.users.insert("orders", ("3",), {"new": b"new"})
    found = routed(world, "insert into there select * from orders")
    assert isinstance(found, Nowhere)
    [lacks] = found.tried
    assert lacks.missing is not None
    assert (lacks.cluster, lacks.missing.what, lacks.primary) == ("north", "day=3", "east")
    assert "has changed the object since" in (lacks.stale or "")
    assert routed(world, "insert into there select * from orders where day <> '3'").cluster == "north"  # type: ignore[union-attr]
    assert routed(world, "select * from orders", "north") == found
    assert routed(world, "insert into plain select * from orders", "north").tried[0].missing is None  # type: ignore[union-attr]


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_never_read_from_its_copy(name: str) -> None:
    world = a_world()
    world.settle()
    world.files.make_directories(world.users.location("orders", ("3",)) + "x")
    CHANGES[name](world.users)
    fresh = world.fresh()
    for table in world.tables():
        found = world.users.table(table)
        if found.location is None:
            continue
        objects = [f"{table} {one}" for one in world.metastore.partition_names(found.name)] or [table]
        answer = routed(world, f"select * from {table}", "north")
        if found.partition_keys and not world.metastore.partition_names(found.name):
            continue
        assert isinstance(answer, Routed) == all(one in fresh for one in objects), (name, table)
    world.settle()
    assert isinstance(routed(world, "select * from orders", "north"), Routed)


def test_a_directory_tells_what_the_log_does_not_unless_nobody_looks() -> None:
    world = a_world()
    world.settle()
    world.files.put(world.users.location("plain") + "/late", b"late")
    uses = read_statement("select * from plain", "sales")
    assert isinstance(resolver(world).route(uses, "north"), Nowhere)
    assert isinstance(resolver(world, looks=False).route(uses, "north"), Routed)


def test_a_log_that_tells_nothing_makes_no_copy_fresh() -> None:
    world = a_world()
    world.settle()
    world.users.insert("empty", None, [b"x"])
    log = world.metastore._log
    log.expire(log.last_event_id - 1)
    found = routed(world, "select * from plain", "north")
    assert isinstance(found, Nowhere)
    assert "is not known" in (found.tried[0].stale or "")


def test_views_are_opened_in_their_own_database_and_in_depth() -> None:
    world = a_world()
    world.settle()

    def view(name: str, text: str) -> None:
        world.users.create_view(name)
        found = world.users.table(name)
        tree = from_text(found.thrift) | {"10": {"str": text}, "11": {"str": text}}
        world.metastore._tables[found.name] = type(found)(**{**vars(found), "thrift": to_text(tree)})

    view("v1", "select * from `sales`.`plain`")
    view("v2", "select * from v1 join orders on 1 = 1")
    assert routed(world, "select * from v2", "north").cluster == "north"  # type: ignore[union-attr]
    world.users.insert("orders", ("1",), {"more": b"more"})
    found = routed(world, "select * from sales.v2", "north")
    assert isinstance(found, Nowhere)
    assert str(found.tried[0].table) == "sales.orders"
    view("v3", "select * from v3")
    with pytest.raises(ActNow, match=r"view sales\.v3 cannot be opened"):
        routed(world, "select * from v3")


def test_names_in_a_view_of_spark_are_in_the_database_of_its_session() -> None:
    world = a_world_with_a_table_of_north()
    world.users.create_view("v")
    found = world.users.table("v")
    tree = from_text(found.thrift) | {"10": {"str": "select * from plain"}, "11": {"str": "select * from plain"}}

    def made_in(catalog: str, *database: str) -> None:
        said = {f"part.{number}": name for number, name in enumerate((catalog, *database))}
        parts = {"numParts": str(len(said)), **said}
        parameters = {f"view.catalogAndNamespace.{name}": value for name, value in parts.items()}
        world.metastore._tables[found.name] = replace(found, thrift=to_text(tree)).with_parameters(parameters)

    made_in("spark_catalog", "Sales")
    assert routed(world, "select * from v") == Routed("east", Why.INPUT)
    made_in("spark_catalog", "elsewhere")
    with pytest.raises(ActNow, match=r"there is no table elsewhere\.plain"):
        routed(world, "select * from v")
    for other in (("glue", "sales"), ("spark_catalog",), ("spark_catalog", "sales", "x")):
        made_in(*other)
        with pytest.raises(ActNow, match=r"view sales\.v cannot be opened"):
            routed(world, "select * from v")


def test_outputs_on_two_clusters_run_nowhere_whatever_is_copied() -> None:
    world = a_world_with_a_table_of_north()
    world.settle()
    sql = "from orders insert into plain select a where day = '1' insert overwrite table there select a"
    for chosen in (None, "east", "north"):
        found = routed(world, sql, chosen)
        assert isinstance(found, Nowhere)
        words = refusal(found, lambda table, cluster: None).words
        assert "is written, and belongs to" in str(words.found)
        assert "write only tables of one cluster in a statement" in str(words.next_step)
    assert [str(one.table) for one in found.tried] == ["sales.plain"]


@pytest.mark.parametrize("sql", ["select * from plain", "insert into plain select 1", "insert into there table plain"])
def test_a_table_of_no_cluster_is_an_error_that_says_so(sql: str) -> None:
    world = a_world_with_a_table_of_north()
    world.users.set_parameters("plain", {"twinhive.cluster": "gone"})
    with pytest.raises(ActNow, match=r"sales\.plain belongs to gone, which is no cluster of this metastore") as refused:
        routed(world, sql)
    assert "twinhive clusters check" in str(refused.value.words.next_step)


def test_what_is_not_there_and_what_is_elsewhere_is_said() -> None:
    world = a_world()
    with pytest.raises(ActNow, match=r"there is no table sales\.nowhere"):
        routed(world, "select * from nowhere")
    with pytest.raises(ActNow, match="there is no cluster west"):
        routed(world, "select * from plain", "west")
    with pytest.raises(ActNow, match="the statement cannot be routed"):
        routed(world, "export table plain to '/x'")
    assert routed(world, "export table plain to '/x'", "east").cluster == "east"  # type: ignore[union-attr]
    world.users.set_parameters("plain", {"twinhive_remote": "other.plain"})
    with pytest.raises(ActNow, match="is a remote"):
        routed(world, "select * from plain")


@pytest.mark.parametrize(
    "sql",
    [
        "delete from delta.`/x`",
        "insert into delta.`hdfs://north/x` select * from plain",
        "merge into iceberg.`x` using plain on 1 = 1 when matched then delete",
        "truncate table parquet.`x`",
        "create table delta.`s3://b/x` as select * from there",
    ],
)
@pytest.mark.parametrize("chosen", [None, "north"])
def test_files_that_are_written_by_their_path_are_on_no_cluster_that_anybody_knows(
    sql: str, chosen: str | None
) -> None:
    world = a_world_with_a_table_of_north()
    with pytest.raises(ActNow, match="is written cannot be told"):
        routed(world, sql, chosen)


def test_a_table_that_is_read_twice_needs_what_either_wants() -> None:
    world = a_world()
    world.settle()
    world.users.insert("orders", ("1",), {"more": b"more"})
    one = "select * from orders where day = '3'"
    assert isinstance(routed(world, one, "north"), Routed)
    assert isinstance(routed(world, f"{one} union all select * from orders where day = '1'", "north"), Nowhere)


def test_partitions_are_not_looked_at_where_nothing_depends_on_them() -> None:
    world = a_world()
    calls: list[str] = []
    real = world.metastore.partition_names
    world.metastore.partition_names = lambda table: calls.append(str(table)) or real(table)  # type: ignore[method-assign,func-returns-value]
    assert routed(world, "select * from orders join plain on 1 = 1").cluster == "east"  # type: ignore[union-attr]
    assert calls == []


def test_names_of_partitions_are_read_with_their_escapes() -> None:
    world = a_world()
    table = world.metastore.table(TableName("sales", "orders"))
    assert table is not None
    names = world.metastore.partition_names(table.name)
    (read,) = read_statement("select * from orders where day = 'a b/c:ü'", "sales").inputs
    assert read_names(table, names, read.where) == ["day=a b%2Fc%3Aü"]
