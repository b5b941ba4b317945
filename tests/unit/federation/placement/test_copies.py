"""Copies on another cluster are whole or absent, and a mark that a reader believes tells the truth."""

import json
import time
from dataclasses import replace

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import CopiesWorld, a_placement, contents
from tests.support.worlds.fake_world import killable
from tests.support.worlds.kept_marks import put_mark
from twinhive.core.model.errors import Foreign, LeaseLost, Refused
from twinhive.core.model.files import Space
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.runtime.dry_run.rehearsal import rehearse


def a_world(placement=None) -> CopiesWorld:
    world = CopiesWorld(placement)
    world.users.create_table("plain", files={"f": b"plain", "sub dir/g": b"below"})
    world.users.create_table("empty")
    world.users.create_table("orders", ("day",))
    partitions = {("1",): {"a": b"one"}, ("a b/c:ü",): {"b": b"two", "c": b"three"}, ("3",): {}}
    world.users.add_partitions("orders", partitions)
    world.users.create_view("recent")
    return world


EVERYTHING = ("empty", "orders day=1", "orders day=3", "orders day=a b%2Fc%3Aü", "plain")


def test_everything_that_is_named_gets_a_copy_and_a_second_run_has_nothing_to_do() -> None:
    world = a_world()
    results = world.run()
    assert results["publish"].published == 5
    world.assert_complete(*EVERYTHING)
    assert world.run()["list_copies"].idle
    world.assert_complete(*EVERYTHING)


def test_the_primary_stays_as_it_was() -> None:
    world = a_world()
    before = world.users.table("plain"), world.users.partition("orders", ("1",))
    world.settle()
    after = world.users.table("plain"), world.users.partition("orders", ("1",))
    assert after == before


CHANGES = {
    "insert": lambda users: users.insert("orders", ("1",), {"more": b"more"}),
    "overwrite": lambda users: users.overwrite("orders", ("1",), {"new": b"new"}),
    "insert into a table": lambda users: users.insert("plain", None, {"more": b"more"}),
    "truncate": lambda users: users.truncate("orders", [("1",)]),
    "another location": lambda users: users.set_partition_location(
        "orders", ("1",), users.location("orders", ("3",)) + "x", says_before=False
    ),
    "parameters": lambda users: users.alter_partitions("orders", [("1",)], {"x": "y"}),
    "a renamed partition": lambda users: users.rename_partition("orders", ("1",), ("9",)),
    "a renamed table": lambda users: users.rename_table("plain", "plainer"),
    "a dropped partition": lambda users: users.drop_partitions("orders", [("1",)]),
    "a dropped table": lambda users: users.drop_table("plain"),
    "a table that is made again": lambda users: (
        users.drop_table("plain"),
        users.create_table("plain", files={"f": b"other"}),
    ),
    "a new partition": lambda users: users.add_partitions("orders", {("4",): {"d": b"four"}}),
    "an eventless write": lambda users: users.files.put(users.location("orders", ("1",)) + "/late", b"late"),
    "an eventless write to a table": lambda users: users.files.put(users.location("plain") + "/late", b"late"),
}


def a_quiet_world() -> CopiesWorld:
    """Return a world that remembers of all tables what is around them: nothing has happened for two runs."""
    world = a_world()
    world.settle()
    assert world.run()["list_copies"].idle
    return world


@pytest.mark.thorough
@pytest.mark.parametrize("begin", [lambda: settled(a_world()), a_quiet_world], ids=["settled", "quiet"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_primary_is_never_hidden_and_then_copied(name: str, begin) -> None:
    world = begin()
    (world.files.make_directories(world.users.location("orders", ("3",)) + "x"))
    CHANGES[name](world.users)
    world.assert_no_copy_lies()
    world.settle()
    world.assert_complete(*sorted(_all_objects(world)))


def settled(world: CopiesWorld) -> CopiesWorld:
    world.settle()
    return world


def _all_objects(world: CopiesWorld) -> list[str]:
    found = []
    for name in world.tables():
        table = world.users.table(name)
        if table.partition_keys:
            found += [f"{name} {one}" for one in world.metastore.partition_names(table.name)]
        elif table.location:
            found.append(name)
    return found


def test_stale_marks_go_before_anything_is_copied() -> None:
    world = a_world()
    world.settle()
    world.users.insert("orders", ("1",), {"more": b"more"})
    world.north.forbidden.add("hdfs://north/twinhive/staging/near/tmp")
    with pytest.raises(Exception, match="not copied"):
        world.run()
    assert "orders day=1" not in world.marked()
    assert "orders day=3" in world.fresh()


def test_what_changes_while_it_is_copied_is_not_marked() -> None:
    world = a_world()
    reads = {"count": 0}
    original = world.files.open

    def opened(path, **options):
        stream = original(path, **options)
        if path.endswith("day=1/a") and not reads["count"]:
            reads["count"] += 1
            world.users.insert("orders", ("1",), {"more": b"more"})
        return stream

    world.files.open = opened
    assert world.run()["publish"].changed == 1
    assert "orders day=1" not in world.marked()
    del world.files.open
    world.settle()
    world.assert_complete(*EVERYTHING)


def test_only_wanted_partitions_are_copied_and_others_go() -> None:
    world = a_world(a_placement(copies={"partitions": (r"day=\d",)}, include=("orders",)))
    world.settle()
    world.assert_complete("orders day=1", "orders day=3")
    world.change(copies=KeptCopies(world.placement.copies.root, (r"day=\d",), 1, "east"), fingerprint="f2")
    copied = world.files.calls["open"]
    world.settle()
    world.assert_complete("orders day=3")
    assert world.files.calls["open"] == copied, "what had a copy was copied again"


def test_the_newest_partitions_follow() -> None:
    world = a_world(a_placement(copies={"partitions": (r"day=\d+",), "newest": 2}, include=("orders",)))
    world.settle()
    world.users.add_partitions("orders", {("10",): {"x": b"x"}})
    world.settle()
    world.assert_complete("orders day=10", "orders day=3")


def test_tables_of_another_cluster_are_left_out_and_their_copies_go() -> None:
    world = a_world()
    world.settle()
    world.users.set_parameters("plain", {"twinhive.cluster": "south"})
    listed = world.settle()["list_copies"]
    assert "plain" not in world.marked()
    world.assert_complete(*(one for one in EVERYTHING if one != "plain"))
    assert listed


def noticed(world: CopiesWorld, switch) -> None:
    world.run(killable(world.ports(), switch))


def a_copied_world_that_changed() -> CopiesWorld:
    world = a_quiet_world()
    world.users.insert("orders", ("1",), {"more": b"more"})
    world.users.overwrite("plain", None, {"f": b"another"})
    world.users.drop_partitions("orders", [("3",)])
    world.users.add_partitions("orders", {("4",): {"d": b"four"}})
    return world


@pytest.mark.parametrize("begin", [a_world, a_copied_world_that_changed])
def test_killed_at_any_change_no_copy_lies_and_the_next_runs_converge(begin) -> None:
    for world in left_by_kills(begin, noticed, least=45):
        world.assert_no_copy_lies()
        world.settle()
        world.assert_complete(*_all_objects(world))


def test_killed_at_any_change_and_then_the_primary_changes() -> None:
    for world in left_by_kills(a_copied_world_that_changed, noticed, step=3):
        world.users.overwrite("orders", ("4",), {"d": b"4444"})
        world.files.put(world.users.location("plain") + "/late", b"late")
        world.assert_no_copy_lies()
        world.settle()
        world.assert_complete(*_all_objects(world))


def test_what_somebody_else_has_put_among_the_copies_stays() -> None:
    world = a_world()
    world.settle()
    foreign = "hdfs://north/twinhive/copies/near/orders.12-cafecafe/day=1/precious"
    world.north.put(foreign, b"precious")
    world.users.insert("orders", ("1",), {"more": b"more"})
    world.settle()
    assert world.north.read(foreign) == b"precious"


def test_a_directory_of_somebody_else_is_not_used_for_copies() -> None:
    world = a_world()
    world.north.put("hdfs://north/twinhive/copies/near/precious", b"precious")
    with pytest.raises(Foreign):
        world.run()
    assert not world.marked()


def test_a_replaced_copy_stays_for_the_time_of_grace() -> None:
    world = a_world(a_placement(options={"grace_seconds": 100}))
    world.settle()
    (place,) = (mark.location for name, mark in world.fresh().items() if name == "orders day=1")
    world.users.insert("orders", ("1",), {"more": b"more"})
    world.settle()
    assert contents(world.north, place) == {"a": b"one"}
    world.users.insert("orders", ("1",), {"still more": b"more"})
    sweep_later = ListCopies(Work(world.placement, holder={"run": "later"}), now=lambda: time.time() + 200)
    sweep_later.run(world.ports())
    assert world.north.status(place) is None


def test_a_primary_that_came_to_lie_among_the_copies_is_never_swept() -> None:
    world = a_world()
    world.settle()
    (place,) = (mark.location for name, mark in world.fresh().items() if name == "orders day=1")
    world.users.set_partition_location("orders", ("1",), place)
    put_mark(world.metastore, world.users.partition("orders", ("1",)), "north", {})
    world.run()
    assert contents(world.north, place) == {"a": b"one"}


def test_who_takes_the_lease_over_keeps_the_other_from_marking() -> None:
    world = a_world()
    original = world.north.rename

    def renamed(source, target):
        if "/copies/near/" in target:
            del world.north.rename
            world.settle()
        return original(source, target)

    world.north.rename = renamed
    with pytest.raises(LeaseLost):
        world.run()
    world.settle()
    world.assert_complete(*EVERYTHING)


@pytest.mark.parametrize("name", ["parameters", "another location"])
def test_a_change_at_the_very_moment_of_a_mark_is_not_lost(name: str) -> None:
    world = a_world()
    world.files.make_directories(world.users.location("orders", ("3",)) + "x")
    original = world.metastore.add_partitions

    def added(partitions):
        if any(one.table.table == "twinhive_copies" and one.values[0] == "orders" for one in partitions):
            del world.metastore.add_partitions
            CHANGES[name](world.users)
        original(partitions)

    world.metastore.add_partitions = added
    world.run()
    changed = world.users.partition("orders", ("1",))
    assert changed.parameters.get("x") == "y" if name == "parameters" else changed.location.endswith("day=3x")
    world.assert_no_copy_lies()
    world.settle()
    world.assert_complete(*EVERYTHING)


class Counted:
    """Count the calls of a metastore."""

    def __init__(self, metastore) -> None:
        self._metastore, self.calls = metastore, []

    def __getattr__(self, name: str):
        value = getattr(self._metastore, name)
        if not callable(value):
            return value

        def called(*args, **kwargs):
            self.calls.append(name)
            return value(*args, **kwargs)

        return called


def counted(world: CopiesWorld):
    ports, counting = world.ports(), Counted(world.metastore)
    return replace(ports, source=counting, replica=counting), counting


def a_world_of(partitions: int) -> CopiesWorld:
    world = CopiesWorld(a_placement(options={"partitions_per_call": 1_000, "batch_objects": 1_000}))
    world.users.create_table("orders", ("day",))
    world.users.create_view("recent")
    world.users.add_partitions("orders", {(f"{number:04}",): {"f": b"%d" % number} for number in range(partitions)})
    return world


@pytest.mark.thorough
def test_a_thousand_copies_are_published_in_eight_calls_of_the_metastore() -> None:
    world = a_world_of(1_000)
    listed = ListCopies(Work(world.placement)).run(world.ports())
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch.name, listed.dump)).run(world.ports())
    ports, counting = counted(world)
    assert PublishCopies(Work(world.placement)).run(ports).published == 1_000
    assert len(counting.calls) <= 8, counting.calls
    assert counting.calls.count("create_table") == 1


@pytest.mark.parametrize(("batch_objects", "batches"), [(1, 5), (2, 3), (5, 1)])
def test_a_batch_holds_as_many_objects_as_the_placement_says_and_each_is_copied_alone(
    batch_objects: int, batches: int
) -> None:
    world = CopiesWorld(a_placement(options={"batch_objects": batch_objects}))
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {(f"{number}",): {"f": b"%d" % number} for number in range(5)})
    listed = ListCopies(Work(world.placement)).run(world.ports())
    assert len(listed.batches) == batches
    for batch in reversed(listed.batches):
        CopyObjects(Work(world.placement, batch.name, listed.dump)).run(world.ports())
    assert PublishCopies(Work(world.placement)).run(world.ports()).published == 5


def test_a_placement_without_a_change_costs_nothing_for_its_partitions() -> None:
    costs = []
    for partitions in (2, 200):
        world = a_world_of(partitions)
        world.settle()
        world.run()
        ports, counting = counted(world)
        before = sum(world.files.calls.values()), sum(world.north.calls.values())
        assert ListCopies(Work(world.placement)).run(ports).idle
        after = sum(world.files.calls.values()), sum(world.north.calls.values())
        costs.append((sorted(counting.calls), after[0] - before[0], after[1] - before[1]))
    assert costs[0] == costs[1]
    assert len(costs[0][0]) <= 6


def test_without_a_change_no_record_of_copies_is_read() -> None:
    world = a_quiet_world()
    read: list[str] = []
    original = world.north.read
    world.north.read = lambda path: (read.append(path), original(path))[1]
    assert world.run()["list_copies"].idle
    assert read
    assert not [path for path in read if "/copies/tables/" in path]
    # A directory beside those of a table looks like a change: then its record tells that it is none.
    world.files.make_directories(world.users.location("orders", ("1",)) + "-beside")
    read.clear()
    assert world.run()["list_copies"].idle
    assert [path for path in read if "/copies/tables/orders" in path]
    read.clear()
    assert world.run()["list_copies"].idle
    assert not [path for path in read if "/copies/tables/" in path]
    world.assert_complete(*EVERYTHING)


def test_a_cluster_without_room_gets_nothing() -> None:
    world = a_world()
    world.north.quotas["hdfs://north/"] = Space(free_bytes=3)
    with pytest.raises(Refused, match="there is not enough room on north for the copies of placement near"):
        world.run()
    assert not world.marked()


def test_little_is_copied_before_spark_would_have_begun() -> None:
    world = a_world(a_placement(options={"spark_above_files": 500}))
    results = world.run()
    assert results["list_copies"].batches == ()
    world.assert_complete(*EVERYTHING)


def test_a_plan_says_what_a_run_does_and_changes_nothing() -> None:
    world = a_world(a_placement(options={"grace_seconds": 100}))
    world.settle()
    world.users.insert("orders", ("1",), {"more": b"more"})
    events, paths = world.metastore.current_event_id(), world.north.paths()
    plan = rehearse("copies", world.ports(), world.placement)
    assert (world.metastore.current_event_id(), world.north.paths()) == (events, paths)
    assert [str(section) for section in plan.sections] == [
        "take marks away from objects: 1: sales.orders 1",
        "copy objects: 1 (2 files, 7 B): sales.orders day=1",
        "mark copies of objects: 1: sales.orders day=1",
    ]
    assert world.run()["publish"].published == 1


def test_a_place_that_is_longer_than_a_parameter_is_left_out_and_told() -> None:
    world = a_world()
    copies = replace(world.placement.copies, root="hdfs://north/" + "/".join(["x" * 99] * 40))
    world.change(copies=copies)
    left_out = world.run()["list_copies"].left_out
    assert "longer than a parameter may be" in left_out["sales.plain"]
    assert not world.marked()


def test_directories_within_one_another_have_one_copy_and_the_rest_is_told() -> None:
    world = a_world()
    world.users.set_partition_location("orders", ("3",), world.users.location("orders", ("1",)) + "/below")
    world.files.make_directories(world.users.location("orders", ("3",)))
    left_out = world.run()["list_copies"].left_out
    assert left_out["sales.orders day=3"] == "its directory is, or lies in, that of day=1"
    world.assert_no_copy_lies()


def an_external_world() -> CopiesWorld:
    world = a_world()
    for name in ("plain", "orders"):
        found = world.users.table(name)
        world.metastore._tables[found.name] = replace(found, table_type="EXTERNAL_TABLE")
    return world


@pytest.mark.parametrize(
    "name", ["insert", "overwrite", "another location", "a dropped partition", "an eventless write"]
)
def test_external_tables_are_copied_as_managed_ones(name: str) -> None:
    world = settled(an_external_world())
    world.assert_complete(*EVERYTHING)
    world.files.make_directories(world.users.location("orders", ("3",)) + "x")
    CHANGES[name](world.users)
    world.assert_no_copy_lies()
    world.settle()
    world.assert_complete(*sorted(_all_objects(world)))


def test_a_dropped_external_table_loses_its_copies_and_keeps_its_files() -> None:
    world = settled(an_external_world())
    place = world.users.location("plain")
    world.metastore.drop_table(world.users.name("plain"), delete_data=False)
    world.settle()
    assert "plain" not in world.marked()
    assert contents(world.files, place) == {"f": b"plain", "sub dir/g": b"below"}
    assert not [path for path in world.north.paths() if "/copies/near/plain." in path]


def test_a_table_directly_below_the_root_of_its_file_system_is_copied() -> None:
    world = a_world()
    world.users.create_table("top", files={"f": b"top"}, location="hdfs://east/top")
    world.settle()
    assert "top" in world.marked()


def with_path(world: CopiesWorld, one, path: str):
    """Let Spark read the rows of a table or a partition at a path of its own, whatever its location says."""
    tree = json.loads(one.thrift)
    sd = tree["7" if isinstance(one, Table) else "6"]["rec"]
    sd["7"]["rec"]["3"] = {"map": ["str", "str", 1, {"path": path}]}
    altered = replace(one, thrift=json.dumps(tree))
    metastore = world.users.metastore
    if isinstance(one, Table):
        metastore.alter_table(one.name, altered)
    else:
        metastore.alter_partitions([altered])


def test_rows_that_spark_reads_elsewhere_are_in_no_copy() -> None:
    world = a_world()
    world.settle()
    plain = world.users.table("plain")
    with_path(world, plain, "hdfs://east/elsewhere/plain")
    with_path(world, world.users.partition("orders", ("1",)), "hdfs://east/elsewhere/day=1")
    orders = world.users.table("orders")
    with_path(world, world.users.partition("orders", ("3",)), orders.location)
    left_out = world.run()["list_copies"].left_out
    assert "serde's path" in left_out["sales.plain"] and "serde's path" in left_out["sales.orders day=1"]
    world.settle()
    marked = world.marked()
    assert "plain" not in marked and "orders day=1" not in marked and "orders day=3" in marked
    with_path(world, world.users.table("plain"), f"{plain.location}/")
    world.settle()
    assert "plain" in world.marked()


def test_what_has_no_files_of_its_own_is_left_out_and_named() -> None:
    world = a_world()
    world.users.create_table("acid", files={"f": b"x"}, parameters={"transactional": "true"})
    world.users.create_table("iceberg", files={"f": b"x"}, parameters={"table_type": "ICEBERG"})
    left_out = world.run()["list_copies"].left_out
    assert set(left_out) == {"sales.recent", "sales.acid", "sales.iceberg"}
    assert left_out["sales.recent"] == "a view is not copied"
    assert not {"recent", "acid", "iceberg"} & world.marked().keys()
