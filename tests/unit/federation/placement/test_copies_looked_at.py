"""Who believes a mark looks at what it names; and what an event has not changed is not copied again."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.unit.federation.placement.test_copies import a_quiet_world, a_world, settled
from tests.unit.federation.routing.test_table_resolution import routed
from twinhive.core.directory_marks.write_protection import unprotect
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.files import Attributes
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.federation.placement.copies_status import copies_of, totals
from twinhive.federation.routing.cluster_choice import Nowhere, Routed
from twinhive.federation.routing.freshness import FollowedLog, Freshness
from twinhive.federation.routing.statement_reading import read_statement, view_reads
from twinhive.federation.routing.table_resolution import Clusters, Resolver

ONE = ("1",)


def copy_of(world: CopiesWorld, name: str) -> str:
    return world.marked()[name][1].location


def delete_it(world: CopiesWorld, place: str) -> None:
    unprotect(world.north, place)  # as a superuser, or its owner after a chmod
    world.north.delete(place)


def delete_a_file(world: CopiesWorld, place: str) -> None:
    unprotect(world.north, place)
    world.north.delete_file(next(path for path in world.north.paths() if path.startswith(f"{place}/")))


def write_a_file(world: CopiesWorld, place: str) -> None:
    world.north.put(f"{place}/written on north", b"77")


def replace_a_file(world: CopiesWorld, place: str) -> None:
    path = next(path for path in world.north.paths() if path.startswith(f"{place}/"))
    content = world.north.read(path)
    unprotect(world.north, place)
    world.north.delete_file(path)
    world.north.put(path, content[::-1])


def replace_it(world: CopiesWorld, place: str) -> None:
    content = {path: world.north.read(path) for path in world.north.paths() if path.startswith(f"{place}/")}
    unprotect(world.north, place)
    world.north.delete(place)
    for path in content:
        world.north.put(path, b"other")


def write_below(world: CopiesWorld, place: str) -> None:
    world.north.put(f"{place}/sub dir/more", b"77")


SPOILED: dict[str, Callable[[CopiesWorld, str], None]] = {
    "gone": delete_it,
    "a file is gone": delete_a_file,
    "a file was written": write_a_file,
    "a file was replaced": replace_a_file,
    "another directory": replace_it,
}


@pytest.mark.parametrize("begin", [lambda: settled(a_world()), a_quiet_world], ids=["settled", "quiet"])
@pytest.mark.parametrize("table", ["plain", "orders"])
@pytest.mark.parametrize("name", SPOILED)
def test_a_copy_that_is_not_what_it_was_made_is_believed_by_nobody_and_made_again(
    name: str, table: str, begin: Callable[[], CopiesWorld]
) -> None:
    world = begin()
    what = "plain" if table == "plain" else "orders day=1"
    before = totals(list(copies_of(world.ports(), world.placement)))
    SPOILED[name](world, copy_of(world, what))
    sql = "select * from plain" if table == "plain" else "select * from orders where day = '1'"
    refused = routed(world, sql, "north")
    assert isinstance(refused, Nowhere)
    told = [copy for found in copies_of(world.ports(), world.placement) for copy in found.copies if copy.stale]
    assert [one.stale for one in told] == ["its directory is gone" if name == "gone" else "the copy itself was written"]
    assert totals(list(copies_of(world.ports(), world.placement))) == (before[0] - 1, 1, 1)
    listed = world.run()["list_copies"]
    assert (listed.needed, listed.unmarked) == (1, 1)
    world.settle()
    assert isinstance(routed(world, sql, "north"), Routed)
    world.assert_no_copy_lies()
    assert totals(list(copies_of(world.ports(), world.placement))) == before


def test_what_is_written_below_a_directory_of_a_copy_is_seen_too() -> None:
    world = settled(a_world())
    write_below(world, copy_of(world, "plain"))
    assert isinstance(routed(world, "select * from plain", "north"), Nowhere)
    assert world.run()["list_copies"].needed == 1


def test_what_is_changed_in_a_copy_before_it_is_marked_is_not_marked() -> None:
    world = a_world()
    rename = world.north.rename

    def renamed(source: str, target: str) -> bool:
        done = rename(source, target)
        if "/copies/near/plain." in target:
            world.north.put(f"{target}/written on north", b"77")
        return done

    world.north.rename = renamed  # type: ignore[method-assign]
    world.run()
    assert "plain" not in world.marked() and "empty" in world.marked()


# --- what it costs, and who does not answer


class Looking:
    """Count the looks at directories, by the clusters."""

    def __init__(self, world: CopiesWorld) -> None:
        self.world, self.asked = world, list[tuple[str, ...]]()

    def __call__(self, places: Mapping[str, DirectoryState]) -> Mapping[str, DirectoryState]:
        self.asked.append(tuple(sorted(places)))
        return self.world.look(places)


def test_a_statement_looks_at_each_directory_once() -> None:
    world = settled(a_world())
    looking = Looking(world)
    resolver = Resolver(
        world.metastore, Clusters(("east", "north"), "east"), Freshness(world.metastore, looking), view_reads
    )
    found = resolver.route(read_statement("select * from orders o join orders p join plain", "sales"), "north")
    assert isinstance(found, Routed)
    every = [place for asked in looking.asked for place in asked]
    assert len(every) == len(set(every)) == 2 * 4
    assert len(looking.asked) == 2 * 2, "once each side for each table"


@pytest.mark.parametrize("partitions", [10, 300])
def test_a_statement_over_one_partition_of_many_asks_for_two_directories_and_lists_none(partitions: int) -> None:
    world = CopiesWorld(a_placement(options={"partitions_per_call": 1_000, "batch_objects": 1_000}))
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {(f"{number}",): {} for number in range(partitions)})
    world.settle()
    before = {files: dict(files.calls) for files in (world.files, world.north)}
    assert isinstance(routed(world, "select * from orders where day = '7'", "north"), Routed)
    for files, calls in before.items():
        assert {name: n - calls.get(name, 0) for name, n in files.calls.items() if n != calls.get(name, 0)} == {
            "status": 1
        }


def test_of_a_cluster_that_does_not_answer_the_copies_are_not_read_and_others_are() -> None:
    world = settled(a_world())
    (one, mark) = world.marked()["plain"]

    def look(places: Mapping[str, DirectoryState]) -> Mapping[str, DirectoryState]:
        if any(place.startswith("hdfs://north") for place in places):
            raise Unreachable("north does not answer", found="nothing", expected="an answer", next_step="wait")
        return world.look(places)

    name, places = world.users.name("plain"), {None: str(one.location)}
    patient = Freshness(world.metastore, look, patient=True)
    assert patient.stale(name, {None: mark}, places) == {
        None: "its directory cannot be looked at: north does not answer"
    }
    with pytest.raises(Unreachable):
        Freshness(world.metastore, look).stale(name, {None: mark}, places)


def test_of_two_tables_the_second_ones_older_copy_is_judged_from_its_own_event_on() -> None:
    world = CopiesWorld()
    world.users.create_table("old", files={"f": b"1"})
    world.settle()
    old, mark = world.marked()["old"]
    world.users.insert("old", None, {"g": b"2"})
    world.users.create_table("young", files={"f": b"1"})
    world.settle()
    young, later = world.marked()["young"]
    assert later.event_id > mark.event_id
    for read in ({}, {"read": FollowedLog().tail}):
        judge = Freshness(world.metastore, None, **read)  # type: ignore[arg-type]
        assert judge.stale(world.users.name("young"), {None: later}, {None: str(young.location)}) == {}
        assert judge.stale(world.users.name("old"), {None: mark}, {None: str(old.location)}).keys() == {None}


# --- events that change no file


def statistics(world: CopiesWorld) -> None:
    world.users.set_parameters("plain", {"numRows": "5"})
    world.users.alter_partitions("orders", [ONE, ("3",)], {"numRows": "1"})


def comments(world: CopiesWorld) -> None:
    world.users.set_parameters("plain", {"comment": "x"})
    world.users.set_parameters("orders", {"comment": "x"})
    world.users.alter_partition("orders", ONE, {"comment": "x"})


def columns(world: CopiesWorld) -> None:
    world.users.add_columns("plain", [("more", "string")])
    world.users.add_columns("orders", [("more", "string")], cascade=True)


NOTHING: dict[str, Callable[[CopiesWorld], None]] = {"statistics": statistics, "comments": comments, "columns": columns}


@pytest.mark.parametrize("name", NOTHING)
def test_an_event_that_changes_no_file_lets_nothing_be_copied_again(name: str) -> None:
    world = a_quiet_world()
    before, opened = {one: mark.location for one, mark in world.fresh().items()}, world.files.calls["open"]
    NOTHING[name](world)
    listed = world.run()["list_copies"]
    assert (listed.needed, listed.unmarked) == (0, 0) and listed.idle and listed.dated
    assert {one: mark.location for one, mark in world.fresh().items()} == before
    assert world.files.calls["open"] == opened
    assert isinstance(routed(world, "select * from plain join orders", "north"), Routed)
    assert world.run()["list_copies"].dated == 0
    world.assert_no_copy_lies()


@pytest.mark.parametrize("name", ["a file was replaced", "a file was added", "elsewhere"])
def test_what_changes_files_as_well_is_copied_again(name: str) -> None:
    world = a_quiet_world()
    place = world.users.location("plain")
    match name:
        case "a file was replaced":
            world.files.delete_file(f"{place}/f")
            world.files.put(f"{place}/f", b"PLAIN")
        case "a file was added":
            world.files.put(f"{place}/more", b"more")
        case "elsewhere":
            world.files.put("hdfs://east/elsewhere/f", b"plain")
            world.users.set_location("plain", "hdfs://east/elsewhere")
    world.users.set_parameters("plain", {"comment": "x"})
    assert world.run()["list_copies"].needed == 1
    world.settle()
    world.assert_no_copy_lies()


def test_a_file_that_has_grown_is_copied_again_when_an_event_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a directory shows that a file in it has grown: its list does."""
    world = a_quiet_world()
    world.users.set_parameters("plain", {"comment": "x"})
    original: Any = world.files.list_pages

    def listed(paths: Any) -> Any:
        for directory, page in original(paths):
            grown_page = [
                replace(one, length=one.length + 1) if one.path.endswith("/plain/f") else one for one in page or ()
            ]
            yield directory, page if page is None else grown_page

    monkeypatch.setattr(world.files, "list_pages", listed)
    assert world.run()["list_copies"].needed == 1


def test_a_file_that_grows_while_it_is_copied_gets_no_mark() -> None:
    """Its directory keeps its time: the files are listed again, and compared in any order."""
    world = a_world()
    rename = world.north.rename

    def renamed(source: str, target: str) -> bool:
        done = rename(source, target)
        if "/copies/near/plain." in target:
            world.files.rewrite(f"{world.users.location('plain')}/sub dir/g", b"below, and more")
        return done

    world.north.rename = renamed  # type: ignore[method-assign]
    assert world.run()["publish"].changed == 1
    assert "plain" not in world.marked() and "orders day=1" in world.marked()


# --- times that prove nothing


def set_time(world: CopiesWorld, place: str, seconds: float) -> None:
    world.files.set_attributes(place, Attributes(modified_ms=int((time.time() + seconds) * 1_000)))


@pytest.mark.parametrize("below", ["", "/sub dir"])
def test_a_directory_of_a_time_to_come_has_no_copy_until_that_time_is_past(below: str) -> None:
    """Who writes into it before then changes neither its id nor its time: HDFS sets no time back."""
    world = a_world()
    place = world.users.location("plain") + below
    set_time(world, place, 600)
    world.run()
    assert "plain" not in world.marked() and "orders day=1" in world.marked()
    told = [one for found in copies_of(world.ports(), world.placement) for one in found.left_out]
    assert any(one.startswith("sales.plain: ") and "of a time to come" in one for one in told)
    assert world.run()["list_copies"].idle and "plain" not in world.marked()
    set_time(world, place, -1)
    world.run()
    assert "plain" in world.fresh()


def test_of_a_directory_that_came_to_be_of_a_time_to_come_the_copy_goes() -> None:
    world = a_quiet_world()
    set_time(world, world.users.location("orders", ONE), 600)
    world.run()
    assert "orders day=1" not in world.marked()
    assert isinstance(routed(world, "select * from orders where day = '1'", "north"), Nowhere)


# --- by the clock of the primary's file system, where we may write there


def a_world_with_a_clock() -> CopiesWorld:
    world = a_world()
    world.files.make_directories("hdfs://east/tmp")
    return world


def of_a_later_time(world: CopiesWorld, place: str, seconds: int) -> None:
    """Give a directory a time that the file system's own clock has not come to; ours passed it long ago, or never."""
    world.files.set_attributes(place, Attributes(modified_ms=world.files._tree.new_time() + seconds * 1_000))


@pytest.mark.parametrize("below", ["", "/sub dir"])
@pytest.mark.parametrize("years", [0, 50])
def test_a_time_to_come_is_one_by_the_clock_of_that_file_system(years: int, below: str) -> None:
    """It may be far behind ours, and far ahead."""
    world = a_world_with_a_clock()
    world.files.pass_time(years * 365 * 24 * 3_600)
    for place in ("plain", "empty", "orders"):
        world.files.retime(world.users.location(place))
    for one in ("1", "3", "a b/c:ü"):
        world.files.retime(world.users.location("orders", (one,)))
    world.files.retime(f"{world.users.location('plain')}/sub dir")
    of_a_later_time(world, world.users.location("plain") + below, 600)
    world.run()
    assert "plain" not in world.marked() and {"empty", "orders day=1"} <= world.marked().keys()
    world.files.pass_time(700)
    world.run()
    assert "plain" in world.fresh()
    assert not [path for path in world.files.paths() if path.startswith("hdfs://east/tmp/")]


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_written_while_a_run_looks_is_copied_unless_it_is_each_time(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world_with_a_clock()
    world.settle()
    original, left = world.files.delete_file, iter(range(times))

    def deleted(path: str) -> bool:
        ended = original(path)
        if path.startswith("hdfs://east/tmp/") and next(left, None) is not None:
            world.files.put(f"{world.users.location('plain')}/right after the clock", b"was read")
        return ended

    monkeypatch.setattr(world.files, "delete_file", deleted)
    for name in "before", "last":
        world.users.insert("plain", None, {name: b"rows"})
        found = world.run()
        left_out = found["list_copies"].left_out
        assert ("sales.plain" in left_out) == (times == 2 and name == "before")
        assert ("plain" in world.fresh()) == ("sales.plain" not in left_out)


@pytest.mark.parametrize("place", ["plain", "orders"])
def test_where_the_clock_is_set_back_copies_of_later_times_go(place: str) -> None:
    """As by a fail-over to a NameNode that is behind: who writes there before that time comes is not noticed."""
    world, values = a_world_with_a_clock(), None if place == "plain" else ONE
    world.settle()
    world.files.put(f"{world.users.location(place, values)}/more", b"more")
    name = "plain" if place == "plain" else "orders day=1"
    for _ in range(3):
        world.run()
    assert name in world.fresh()
    before = set(world.fresh())
    world.files.pass_time(-300)
    world.run()
    assert name not in world.marked()
    world.files.pass_time(3_000)
    world.settle()
    assert set(world.fresh()) == before
    for _ in range(3):
        assert world.run()["list_copies"].idle


def test_where_nobody_may_write_for_it_our_own_clock_is_taken() -> None:
    world = a_world_with_a_clock()
    world.files.forbidden.add("hdfs://east/tmp")
    world.settle()
    assert set(world.fresh()) == set(world.marked()) and "plain" in world.fresh()
