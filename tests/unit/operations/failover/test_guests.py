"""A database that people write becomes a replica: only what the policy replicates is touched."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.hive import metastore_objects as objects
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import World
from tests.support.worlds.users_between import UsersBetween, beside_users
from tests.unit.operations.failover.test_adopt import INSIDE, seeded
from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched
from tests.unit.replication.incremental.test_incremental import POLICY, Followed
from twinhive.core.model.errors import ActNow, Foreign, TwinhiveError
from twinhive.core.model.marks import DIRECTORY_MARK, STAMP, own_marks
from twinhive.core.model.names import TableName
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.operations.failover.adopt import SEED, Adopt
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

EXCLUDED = ("private",)
THERE, BACK_AGAIN = replace(POLICY, exclude=EXCLUDED), replace(BACK, exclude=EXCLUDED)
BESIDE = ("acid", "ice", "outside", "private")
"""What the policies do not replicate: two kinds, an external table, and one that is excluded."""


def fill(users: SourceWriter) -> None:
    """Make what no policy brings, with rows."""
    users.create_table("acid", keys=("p",), parameters={"transactional": "true"})
    acid = users.table("acid")
    users._put(f"{acid.location}/p=1/delta_1", {"bucket_0": b"acid rows"})
    users.metastore.add_partitions([objects.a_partition(acid, "1", location=f"{acid.location}/p=1")])
    users.create_table("ice", files={"d": b"rows"}, parameters={"table_type": "ICEBERG", "metadata_location": "v1"})
    users.create_table("private", keys=("p",))
    users.add_partitions("private", {("1",): [b"private rows"]})
    users._put(f"{users.files.root}/outside", {"f": b"outside"})


def switched(policy: Any = THERE) -> Switched:
    """Return two clusters of which west has taken over, with tables at east that no policy brings."""
    followed = Followed(policy)
    fill(followed.users)
    followed.users.create_table("doomed", files=[b"d"])
    while not followed.follow()["window"].idle:
        pass
    assert not {*BESIDE} & {*followed.world.replica.table_names("sales")}
    return Switched(followed=followed)


def others_things(world: World, metastore: Any = None, files: Any = None) -> dict[str, Any]:
    """Return all that there is of the tables beside the replica: what the metastore says, and their files."""
    metastore, files = metastore or world.source, files or world.source_files
    found: dict[str, Any] = {}
    for table in metastore.tables("sales", BESIDE):
        parts = metastore.partitions(table.name, metastore.partition_names(table.name)) if table.partition_keys else []
        paths = [path for path in files.paths() if path.startswith(f"{table.location}/")]
        marks = [files.attribute(table.location, DIRECTORY_MARK)]
        found[table.name.table] = table, parts, {path: files.read(path) for path in paths}, marks
    return found


def go_on(one: Switched, policy: Any = BACK_AGAIN) -> None:
    one.go_on(policy, one.ports)


def test_what_no_policy_brings_is_never_touched_by_a_switch_there_and_back() -> None:
    one = switched()
    world, before = one.world, others_things(one.world)
    assert set(before) == {*BESIDE}
    one.west.insert("plain", None, [b"west's rows"])
    plan = Failback(BACK_AGAIN, HOLDER).plan(one.ports())
    lines = Failback(BACK_AGAIN, HOLDER).run(one.ports())
    for said in (plan, lines):
        (named,) = [line for line in said if line.startswith("left alone on east/sales")]
        assert all(f"{table} (" in named for table in BESIDE)
    (foreign,) = [one for one in ResyncEverything(BACK_AGAIN, HOLDER).plan(one.ports()) if "left alone" in str(one)]
    assert all(table in str(foreign) for table in ("acid", "ice", "outside"))
    assert others_things(world) == before
    go_on(one)
    assert others_things(world) == before
    one.world.source_files.pass_time(1e6)
    # A running insert has not told the metastore yet.
    for table in ("private", "orders"):
        place = one.east.table(table).location
        one.east._put(f"{place}/p=inflight", {"f": b"of a running insert"})
    Failover(BACK_AGAIN, HOLDER, wait=lambda seconds: None).run(one.ports())
    for table in ("private", "orders"):
        path = f"{one.east.table(table).location}/p=inflight/f"
        assert world.source_files.read(path) == b"of a running insert"
        world.source_files.delete_file(path)
    assert others_things(world) == before


def test_a_failback_marks_no_directory() -> None:
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    files = one.world.source_files
    for table in one.world.source.tables("sales", one.world.source.table_names("sales")):
        assert (
            not table.location
            or not files.status(table.location)
            or not files.attribute(table.location, DIRECTORY_MARK)
        )


def test_what_the_policy_that_was_followed_did_not_select_is_left_alone_though_the_reverse_one_does() -> None:
    one = switched()
    before = others_things(one.world)["private"]
    lines = Failback(BACK, HOLDER).run(one.ports())
    assert any("private (west/sales never held it)" in line for line in lines)
    one.west.drop_table("doomed")
    Unpause(BACK).run(one.ports())
    while not run_phase(INCREMENTAL, BACK, one.ports(), {"run": "i"}, lambda line: None)["window"].idle:
        pass
    assert others_things(one.world)["private"] == before
    assert "doomed" not in one.world.source.table_names("sales")


def test_what_users_of_the_new_primary_dropped_goes_from_the_old_one_whatever_scope_was_followed() -> None:
    one = switched()
    one.west.drop_table("doomed")
    Failback(BACK, HOLDER).run(one.ports())
    assert STAMP in one.east.table("doomed").parameters
    Unpause(BACK).run(one.ports())
    while not run_phase(INCREMENTAL, BACK, one.ports(), {"run": "i"}, lambda line: None)["window"].idle:
        pass
    assert "doomed" not in one.world.source.table_names("sales")


def test_a_table_that_became_another_kind_is_none_of_ours_any_more_though_it_is_stamped() -> None:
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    one.east.set_parameters("doomed", {"transactional": "true"})
    one.west.drop_table("doomed")
    with pytest.raises(Foreign, match="was not made by policy"):
        Resync(BACK_AGAIN, "doomed", HOLDER).plan(one.ports())
    before = one.east.table("doomed")
    ResyncEverything(BACK_AGAIN, HOLDER).run(one.ports())
    Unpause(BACK_AGAIN).run(one.ports())
    run_phase(INCREMENTAL, BACK_AGAIN, one.ports(), {"run": "i"}, lambda line: None)
    assert one.east.table("doomed") == before


def overwritten(users: SourceWriter) -> None:
    users.overwrite("doomed", None, {"o": b"other"})


def dropped(users: SourceWriter) -> None:
    users.drop_table("doomed")


def made_anew(users: SourceWriter) -> None:
    users.drop_table("doomed")
    users.create_table("doomed", files=[b"new"])


@pytest.mark.parametrize("act", [overwritten, dropped, made_anew])
def test_no_event_changes_a_table_that_became_another_kind(act: Callable[[SourceWriter], None]) -> None:
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    go_on(one)
    one.east.set_parameters("doomed", {"transactional": "true"})
    before = one.east.table("doomed")
    act(one.west)
    with pytest.raises(ActNow, match="was not made by policy"):
        run_phase(INCREMENTAL, BACK_AGAIN, one.ports(), {"run": "i"}, lambda line: None)
    assert one.east.table("doomed") == before


class Acts:
    """Users of a database who do what users do, all at one moment; `assert_stands` says that nothing is undone."""

    def __init__(self, users: SourceWriter) -> None:
        self.users = users

    def __call__(self) -> None:
        users = self.users
        users.add_columns("plain", [("late", "string")])
        users.add_columns("private", [("late", "string")])
        users.set_parameters("ice", {"metadata_location": "v2"})
        for table, values in (("private", ("1",)), ("orders", ("a b",))):
            users.set_partition_location(table, values, f"{users.files.root}/elsewhere/{table}")
        users.drop_table("doomed")
        users.create_table("fresh", files=[b"fresh"])
        users.alter_database_parameters({"by": "users"})

    def assert_stands(self) -> None:
        users = self.users
        assert ("late", "string") in users.table("plain").columns
        assert ("late", "string") in users.table("private").columns
        assert users.table("ice").parameters["metadata_location"] == "v2"
        for table, values in (("private", ("1",)), ("orders", ("a b",))):
            assert users.location(table, values) == f"{users.files.root}/elsewhere/{table}"
        names = users.metastore.table_names("sales")
        assert "doomed" not in names and "fresh" in names
        assert users.metastore.database("sales").parameters["by"] == "users"
        for table in ("ice", "private"):
            assert not own_marks(users.table(table).parameters)


def test_nothing_that_users_do_between_two_calls_of_a_failback_is_undone() -> None:
    copy, at, ended = copies_of(switched()), 0, 0
    while True:
        at += 1
        one = copy()
        acts = Acts(one.east)
        between = UsersBetween(at, acts)
        with suppress(TwinhiveError):
            Failback(BACK_AGAIN, HOLDER).run(beside_users(one.ports(), between))
            ended += 1
        if between.count < at:
            break
        acts.assert_stands()
    assert at > 40 and ended


def test_nothing_that_users_do_between_two_calls_of_an_adoption_is_undone() -> None:
    copy, at = copies_of(seeded_beside()), 0
    while True:
        at += 1
        world = copy()
        acts = Acts(SourceWriter(world.replica, world.replica_files, "sales"))
        between = UsersBetween(at, acts)
        Adopt(THERE_SEEDED, HOLDER).run(beside_users(world.ports(), between))
        if between.count < at:
            break
        acts.assert_stands()
    assert at > 20


THERE_SEEDED = replace(INSIDE, exclude=EXCLUDED)


def seeded_beside() -> World:
    world = seeded(**{SEED: "sales"})
    users = SourceWriter(world.replica, world.replica_files, "sales")
    fill(users)
    users.create_table("doomed", files=[b"d"])
    return world


def test_an_adoption_leaves_alone_what_the_policy_does_not_bring_and_marks_no_directory() -> None:
    world = seeded_beside()
    users = SourceWriter(world.replica, world.replica_files, "sales")
    before = others_things(world, world.replica, world.replica_files)
    plan, lines = (act(world.ports()) for act in (Adopt(THERE_SEEDED, HOLDER).plan, Adopt(THERE_SEEDED, HOLDER).run))
    for said in (plan, lines):
        assert [line for line in said if "left alone" in line and "acid, ice, private" in line]
    assert not world.replica_files.attribute(str(users.table("plain").location), DIRECTORY_MARK)
    assert STAMP in users.table("plain").parameters
    policy = THERE_SEEDED
    Unpause(policy).run(world.ports())
    while not run_phase(INCREMENTAL, policy, world.ports(), {"run": "i"}, lambda line: None)["window"].idle:
        pass
    assert "doomed" not in world.replica.table_names("sales")
    assert others_things(world, world.replica, world.replica_files) == before


def test_a_bootstrap_that_begins_again_drops_nothing_of_other_people() -> None:
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    go_on(one)
    one.east.create_function("users_own")
    before, log = others_things(one.world), []
    run_bootstrap(BACK_AGAIN, one.ports(), {"run": "b"}, log.append, again=True)
    assert others_things(one.world) == before
    assert [each.name for each in one.world.source.functions("sales")] == ["users_own"]
    said = "\n".join(map(str, log))
    assert "left alone" in said and "private" in said and "DROP FUNCTION sales.users_own" in said


def test_a_bootstrap_that_begins_again_is_refused_before_it_drops_anything() -> None:
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    go_on(one)
    one.east.create_table("fresh", files=[b"fresh"])
    before = one.world.source.table_names("sales")
    with pytest.raises(Foreign, match=r"sales\.fresh"):
        run_bootstrap(BACK_AGAIN, one.ports(), {"run": "b"}, lambda line: None, again=True)
    assert one.world.source.table_names("sales") == before


def test_what_was_built_and_a_table_of_others_uses_stays_where_it_is() -> None:
    one = switched()
    one.west.overwrite("plain", None, {"o": b"other"})
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    go_on(one)
    place = one.east.table("plain").location
    assert one.world.source_files.attribute(place, DIRECTORY_MARK)
    user = a_table("sales.outside2", table_type="EXTERNAL_TABLE", location=place)
    one.world.source.create_table(user)
    run_bootstrap(BACK_AGAIN, one.ports(), {"run": "b"}, lambda line: None, again=True)
    assert one.world.source_files.read(f"{place}/o") == b"other"


def rows_of_a_new_partition(one: Switched, values: tuple[str, ...]) -> list[str]:
    """Add a partition as Hive does, without a place, at the primary in the east; return the files it has then."""
    (table,) = one.world.source.tables("sales", ["orders"])
    one.world.source.add_partitions([objects.a_partition(table, *values)])
    place = one.east.location("orders", values)
    return [path for path in one.world.source_files.paths() if path.startswith(f"{place}/")]


@pytest.mark.parametrize("replaced_first", [False, True])
def test_a_partition_that_west_dropped_comes_back_empty_at_the_old_primary(replaced_first: bool) -> None:
    one = switched()
    if replaced_first:
        one.west.overwrite("orders", ("a b",), {"o": b"other"})
        Failback(BACK_AGAIN, HOLDER).run(one.ports())
        go_on(one)
        one.west.drop_partitions("orders", [("a b",)])
    else:
        one.west.drop_partitions("orders", [("a b",)])
        Failback(BACK_AGAIN, HOLDER).run(one.ports())
    go_on(one)
    one.world.source_files.pass_time(1e6)
    Failover(BACK_AGAIN, HOLDER, wait=lambda seconds: None).run(one.ports())
    assert one.east.table("orders").location == "hdfs://east/warehouse/managed/sales.db/orders"
    assert rows_of_a_new_partition(one, ("a b",)) == []


def test_a_partition_can_be_renamed_to_where_another_one_was_left_at_the_old_primary() -> None:
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    one.west.drop_partitions("orders", [("a b",)])
    go_on(one)
    one.west.rename_partition("orders", ("50%=#:ü",), ("a b",))
    go_on(one)
    assert ("a b",) in [each.values for each in one.east._partitions("orders", [("a b",)])]


def test_definitions_that_the_old_primary_alone_has_are_named_and_an_empty_table_is_kept() -> None:
    one = switched()
    one.east.create_view("view_of_east")
    one.east.create_function("f_of_east")
    one.east.create_table("empty_of_east")
    one.east.add_columns("plain", [("late", "int")])
    one.west.drop_table("recent")
    plan = Failback(BACK_AGAIN, HOLDER).plan(one.ports())
    lines = Failback(BACK_AGAIN, HOLDER).run(one.ports())
    for said in ("\n".join(plan), "\n".join(lines)):
        assert "view view_of_east, which goes; its text: select 'é' from `sales`.`t`" in said
        assert "empty_of_east: a table without rows" in said
        assert "columns of plain, which go: late int" in said
        assert "DROP FUNCTION sales.f_of_east" in said
        assert "recent" not in said
    assert "has nothing that west/sales has not" not in "\n".join(plan)
    Unpause(BACK_AGAIN).run(one.ports())
    while not run_phase(INCREMENTAL, BACK_AGAIN, one.ports(), {"run": "i"}, lambda line: None)["window"].idle:
        pass
    (kept,) = [name for name in one.world.source.database_names() if "__diverged_" in name]
    assert one.world.source.table(TableName(kept, "empty_of_east")) is not None
    verify = Verify(Work(BACK_AGAIN, holder=HOLDER), deep=True, wait=lambda seconds: None)
    assert not verify.run(one.ports()).is_equal
    # The way that is named leads on.
    assert "DROP FUNCTION sales.f_of_east" in "\n".join(
        map(str, ResyncEverything(BACK_AGAIN, HOLDER).plan(one.ports()))
    )
    one.east.drop_function("f_of_east")
    assert verify.run(one.ports()).is_equal
    Failover(BACK_AGAIN, HOLDER, wait=lambda seconds: None).run(one.ports())


def test_what_was_built_before_people_wrote_it_is_left_and_comes_back_empty_too() -> None:
    """West was built by a load, and became its users': no mark stays on the directories of its tables."""
    one = switched()
    Failback(BACK_AGAIN, HOLDER).run(one.ports())
    go_on(one)
    Failover(BACK_AGAIN, HOLDER, wait=lambda seconds: None).run(one.ports())
    Failback(THERE, HOLDER).run(one.world.ports())
    one.go_on(THERE, one.world.ports)
    one.east.rename_partition("orders", ("a b",), ("c",))
    one.go_on(THERE, one.world.ports)
    one.east.drop_partitions("orders", [("c",)])
    one.east.rename_partition("orders", ("no files",), ("c",))
    one.go_on(THERE, one.world.ports)
    one.east.drop_partitions("orders", [("c",)])
    one.go_on(THERE, one.world.ports)
    one.world.replica_files.pass_time(1e6)
    Failover(THERE, HOLDER, wait=lambda seconds: None).run(one.world.ports())
    (table,) = one.world.replica.tables("sales", ["orders"])
    one.world.replica.add_partitions([objects.a_partition(table, "c")])
    place = one.west.location("orders", ("c",))
    assert place == f"{table.location}/p=c"
    assert not [path for path in one.world.replica_files.paths() if path.startswith(f"{place}/")]
