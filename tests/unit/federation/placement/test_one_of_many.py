"""What changes in one partition of many costs by what has changed: the others are neither read nor asked for."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.support.worlds.copies import copies_of, left_by_kills
from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.counted_world import CountedFiles, CountedMetastore, Tally
from tests.support.worlds.fake_world import killable
from tests.support.worlds.kept_marks import kept_marks
from twinhive.core.directory_marks.write_protection import unprotect
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.federation.placement import mark_renewal

LISTED = ("list_pages", "entries listed", "list_directories")
"""What is around directories is listed whole, by pages: a write without an event shows there alone."""


def a_world(partitions: int, grace_seconds: int = 0, **more: Any) -> CopiesWorld:
    """Return a quiet world: a table of so many partitions, each with a copy, and nothing has happened for two runs."""
    options = {
        "partitions_per_call": 100,
        "batch_objects": 1_000,
        "copy_threads": 1,
        "spark_above_files": 5_000,
        "grace_seconds": grace_seconds,
    }
    world = CopiesWorld(a_placement(options=options, **more))
    world.users.create_table("orders", ("day",))
    days = range(1_000, 1_000 + partitions)
    world.users.add_partitions("orders", {(f"{day}",): {"f": b"%d" % day} for day in days})
    world.settle()
    assert world.run()["list_copies"].idle
    return world


@cache
def kept_world(partitions: int) -> Callable[[], CopiesWorld]:
    """Return what makes such a world whose directories stay for a while, without making it again each time."""
    return copies_of(a_world(partitions, 21_600))


def calls_of(world: CopiesWorld, act: Callable[[CopiesWorld], object], runs: int = 3) -> list[dict[str, int]]:
    """Return what each of some runs asks after a change: calls, and the objects and names that answers hold."""
    act(world)
    found = []
    for _ in range(runs):
        tally = Tally()
        ports: Any = world.ports()
        metastore: Any = CountedMetastore(ports.replica, "the", tally)
        here: Any = CountedFiles(world.files, "east", tally)
        there: Any = CountedFiles(world.north, "north", tally)
        world.run(replace(ports, source=metastore, replica=metastore, source_files=here, replica_files=there))
        found.append({name: count for name, count in tally.take().items() if not name.endswith(LISTED)})
    return found


def looks_at_all(calls: Mapping[str, int]) -> bool:
    return "the metastore partition_names" in calls or "the metastore partition_names_with" in calls


ONE = ("1005",)


def place(world: CopiesWorld, values: tuple[str, ...] = ONE) -> str:
    return world.users.location("orders", values)


def write_on_north(world: CopiesWorld) -> None:
    copy = world.marked()["orders day=1005"][1].location
    unprotect(world.north, copy)
    world.north.put(f"{copy}/more", b"77")


CHANGES: Mapping[str, Callable[[CopiesWorld], object]] = {
    "insert": lambda world: world.users.insert("orders", ONE, {"more": b"more"}),
    "overwrite": lambda world: world.users.overwrite("orders", ONE, {"new": b"new"}),
    "statistics": lambda world: world.users.alter_partitions("orders", [ONE], {"numRows": "1"}),
    "another location": lambda world: world.users.set_partition_location(
        "orders", ONE, "hdfs://east/elsewhere/1005", says_before=False
    ),
    "a new one": lambda world: world.users.add_partitions("orders", {("9999",): {"f": b"9"}}),
    "a dropped one": lambda world: world.users.drop_partitions("orders", [ONE]),
    "a renamed one": lambda world: world.users.rename_partition("orders", ONE, ("9999",)),
    "a write without an event": lambda world: world.files.put(f"{place(world)}/late", b"late"),
    "a write on the other cluster": write_on_north,
    "a mark that goes": lambda world: world.metastore.drop_partitions(
        world.users.name("twinhive_copies"), ["table_name=orders/cluster=north/object=1005"], delete_data=False
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_partition_costs_the_same_calls_however_many_there_are(name: str) -> None:
    few, many = (calls_of(world, CHANGES[name]) for world in (kept_world(100)(), kept_world(1_000)()))
    assert few == many
    assert not any(looks_at_all(calls) for calls in many)
    assert all(calls.get("the metastore, objects returned", 0) < 20 for calls in many)


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_is_copied_and_nothing_else(name: str) -> None:
    world = kept_world(10)()
    world.files.put("hdfs://east/elsewhere/1005/f", b"elsewhere")
    before = {one: mark.location for one, mark in world.fresh().items()}
    CHANGES[name](world)
    world.assert_no_copy_lies()
    world.settle()
    assert sorted(world.fresh()) == sorted(world.marked()) == sorted(expected(world))
    world.assert_no_copy_lies()
    same = {one for one, mark in world.fresh().items() if before.get(one) == mark.location}
    assert len(before.keys() - same) <= 1


def expected(world: CopiesWorld) -> list[str]:
    return [f"orders {one}" for one in world.metastore.partition_names(world.users.name("orders"))]


@pytest.mark.parametrize("name", ["insert", "a renamed one", "a write without an event"])
def test_killed_at_any_change_the_next_runs_converge(name: str) -> None:
    def begin() -> CopiesWorld:
        return a_world(5)

    def act(world: CopiesWorld, switch: Any) -> None:
        one = ("1001",)
        match name:
            case "insert":
                world.users.insert("orders", one, {"more": b"more"})
            case "a renamed one":
                world.users.rename_partition("orders", one, ("9999",))
            case _:
                world.files.put(f"{place(world, one)}/late", b"late")
        world.run(killable(world.ports(), switch))

    for world in left_by_kills(begin, act):
        world.assert_no_copy_lies()
        world.settle()
        world.assert_complete(*expected(world))


# --- what concerns all of a table


def unreadable(world: CopiesWorld) -> None:
    log = world.metastore._log
    log.emit("ALTER_PARTITION", "sales", "orders", {})
    log.rows[-1] = replace(log.rows[-1], message="not json")


def gap(world: CopiesWorld) -> None:
    world.users.insert("orders", ("1003",), {"more": b"more"})
    world.metastore._log.expire(world.metastore.current_event_id() - 1)


def restored(world: CopiesWorld) -> None:
    """The log ends before what a run has read, and then goes on as another one."""
    log = world.metastore._log
    rows, last = list(log.rows), log.last_event_id
    world.users.insert("orders", ("1003",), {"more": b"more"})
    world.run()
    log.rows[:], log.last_event_id = rows, last
    world.users.insert("orders", ("1003",), {"other": b"other"})


WHOLE: Mapping[str, Callable[[CopiesWorld], object]] = {
    "columns": lambda world: world.users.add_columns("orders", [("more", "string")], cascade=True),
    "its location": lambda world: world.users.set_location("orders", "hdfs://east/elsewhere"),
    "renamed": lambda world: world.users.rename_table("orders", "bills"),
    "dropped": lambda world: world.users.drop_table("orders"),
    "an event that nobody can read": unreadable,
    "a gap": gap,
    "a restored log": restored,
    "the text of the placement": lambda world: world.change(fingerprint="another"),
    "the table of marks goes": lambda world: world.metastore.drop_table(
        world.users.name("twinhive_copies"), delete_data=False
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_may_concern_all_partitions_lets_all_be_looked_at(name: str) -> None:
    world = a_world(10)
    assert looks_at_all(calls_of(world, WHOLE[name])[0])
    world.settle()
    world.assert_no_copy_lies()
    tables = world.tables()
    names = [f"{table} {one}" for table in tables for one in world.metastore.partition_names(world.users.name(table))]
    world.assert_complete(*names)


def test_a_table_that_belongs_to_another_cluster_by_now_has_no_copies_of_any_partition() -> None:
    world = a_world(10)
    world.users.insert("orders", ("1003",), {"more": b"more"})
    world.users.set_parameters("orders", {"twinhive.cluster": "south"})
    world.run()
    assert not kept_marks(world.metastore, cluster="north")


def test_a_partition_that_comes_to_lie_around_others_lets_these_be_looked_at() -> None:
    world = a_world(10)
    root = world.users.table("orders").location
    world.users.set_partition_location("orders", ("1003",), str(root), says_before=False)
    world.run()
    assert list(world.marked()) == ["orders day=1003"]
    world.settle()
    assert list(world.fresh()) == ["orders day=1003"]
    world.assert_no_copy_lies()
    world.users.set_partition_location("orders", ("1003",), "hdfs://east/elsewhere", says_before=False)
    world.files.make_directories("hdfs://east/elsewhere")
    world.settle()
    world.assert_complete(*expected(world))


# --- the newest ones only


def test_of_the_newest_the_oldest_goes_when_one_comes_and_nothing_else_is_read() -> None:
    world = a_world(20, 21_600, copies={"newest": 5})
    assert sorted(world.fresh()) == [f"orders day={day}" for day in range(1_015, 1_020)]
    for runs in calls_of(world, CHANGES["a new one"]):
        assert not looks_at_all(runs)
    assert sorted(world.fresh()) == [f"orders day={day}" for day in (*range(1_016, 1_020), 9_999)]
    assert len(kept_marks(world.metastore, cluster="north")) == 5
    for runs in calls_of(world, lambda one: one.users.drop_partitions("orders", [("1001",)])):
        assert not looks_at_all(runs)


@pytest.mark.parametrize("comes", [(), ("1000",), ("9999",)])
def test_of_the_newest_the_next_one_comes_when_one_goes(comes: tuple[str, ...]) -> None:
    world = a_world(20, copies={"newest": 5})
    world.users.drop_partitions("orders", [("1000",), ("1017",)])
    if comes:
        world.users.add_partitions("orders", {comes: {"f": b"new"}})
    world.settle()
    newest = sorted(expected(world))[-5:]
    world.assert_complete(*newest)


def test_partitions_that_the_placement_wants_by_another_rule_are_looked_at() -> None:
    world = a_world(10)
    kept = world.placement.copies
    assert isinstance(kept, KeptCopies)
    world.users.insert("orders", ("1003",), {"more": b"more"})
    world.change(copies=replace(kept, partitions=(r"day=100[1-4]",)), fingerprint="another")
    world.settle()
    world.assert_complete(*(f"orders day={day}" for day in range(1_001, 1_005)))


# --- marks that are dated anew


def test_to_date_marks_anew_does_not_read_all_of_them_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mark_renewal, "_MOST_BEHIND", 40)
    monkeypatch.setattr(mark_renewal, "_FOR_EACH_MARK", 0)
    world = a_world(100, 21_600)
    read, runs = 0, 40
    for number in range(runs):
        for _ in range(3):
            world.metastore._log.emit("OPEN_TXN", None, None, {})
        if number % 5 == 0:
            world.users.insert("orders", ONE, {f"f{number}": b"more"})
        read += sum(calls.get("the metastore, objects returned", 0) >= 100 for calls in calls_of(world, str, runs=1))
    newest = world.metastore.current_event_id()
    assert all(mark.event_id > newest - 100 for _, mark in world.marked().values())
    assert 2 <= read <= runs // 4
    world.assert_no_copy_lies()
    assert sorted(world.fresh()) == sorted(expected(world))
