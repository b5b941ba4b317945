"""A file that cannot be copied, and a directory that cannot be looked at, keep no other copy from being made."""

from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import CopiesWorld, a_placement
from twinhive.copies.copies_standing import copies_of
from twinhive.copies.copy_objects import CopyObjects
from twinhive.copies.list_copies import ListCopies
from twinhive.copies.publish_copies import PublishCopies
from twinhive.model.errors import ActNow, Refused, TryAgain, TwinhiveError, Unexplained
from twinhive.step.base import Work

FILES = {"good": b"good", "here": b"here", "later": b"later"}
Spoil = Callable[[CopiesWorld, str], None]
BAD_FILES: dict[str, tuple[Spoil, type[TwinhiveError]]] = {
    "no intact block": (lambda world, path: world.files.corrupt.add(path), TryAgain),
    "forbidden": (lambda world, path: world.files.unreadable.add(path), ActNow),
}
OTHERS = ("orders day=1", "orders day=2", "plain")


def a_world(**options: int) -> CopiesWorld:
    world = CopiesWorld(a_placement(options=options))
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {("1",): {"f": b"one"}, ("2",): {"f": b"two"}})
    return world


def mend(world: CopiesWorld) -> None:
    world.files.corrupt.clear()
    world.files.unreadable.clear()


def changed(world: CopiesWorld) -> None:
    """Let something change that has a copy, and let something new come."""
    world.users.insert("plain", None, [b"more"])
    world.users.create_table("new", files={"f": b"new"})


@pytest.mark.parametrize("bad", BAD_FILES)
@pytest.mark.parametrize("spark_above_files", [0, 1_000], ids=["mapped", "at once"])
def test_a_file_that_cannot_be_copied_stops_no_other_table(bad: str, spark_above_files: int) -> None:
    spoil, family = BAD_FILES[bad]
    world = a_world(spark_above_files=spark_above_files)
    world.settle()
    world.users.create_table("bad", files=FILES)
    path = f"{world.users.location('bad')}/here"
    spoil(world, path)
    changed(world)
    for number in range(3):
        with pytest.raises(family, match="placement near: 1 files were not copied") as raised:
            world.run()
        assert path in str(raised.value.words.found)
        assert sorted(world.fresh()) == sorted([*OTHERS, "new"])
        world.assert_no_copy_lies()
        world.users.insert("plain", None, [f"more {number}".encode()])
    mend(world)
    world.settle()
    world.assert_complete(*OTHERS, "new", "bad")
    assert not [path for path in world.north.paths() if path.startswith("hdfs://north/twinhive/staging/near/base")]


def test_what_of_it_was_copied_is_not_copied_again() -> None:
    world = a_world()
    world.users.create_table("bad", files=FILES)
    place = world.users.location("bad")
    world.files.corrupt.add(f"{place}/here")
    opened, original = list[str](), world.files.open

    def counted(path: str, **options: object) -> object:
        opened.append(path)
        return original(path, **options)

    world.files.open = counted
    for _ in range(3):
        with pytest.raises(TryAgain):
            world.run()
        changed(world) if "new" not in world.fresh() else None
    mend(world)
    world.settle()
    world.assert_complete(*OTHERS, "new", "bad")
    assert [opened.count(f"{place}/{name}") for name in ("good", "later")] == [1, 1]


def test_the_same_task_says_the_same_again() -> None:
    world = a_world()
    world.users.create_table("bad", files=FILES)
    world.files.corrupt.add(f"{world.users.location('bad')}/here")
    listed = ListCopies(Work(world.placement)).run(world.ports())
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch.name, listed.dump)).run(world.ports())
    marks = []
    for _ in range(2):
        with pytest.raises(TryAgain, match="1 files were not copied"):
            PublishCopies(Work(world.placement)).run(world.ports())
        marks.append(world.marked())
    assert marks[0] == marks[1] and sorted(marks[0]) == sorted(OTHERS)


def test_a_list_of_what_is_gone_is_cleared() -> None:
    world = a_world()
    world.users.create_table("bad", files=FILES)
    world.files.corrupt.add(f"{world.users.location('bad')}/here")
    with pytest.raises(TryAgain):
        world.run()
    world.users.drop_table("bad")
    assert world.run()["list_copies"].idle
    assert not [path for path in world.north.paths() if "/staging/near/base/" in path or path.endswith("list.json")]


@pytest.mark.parametrize("nested", [False, True], ids=["around partitions", "in a partition"])
@pytest.mark.parametrize("has_news", [False, True])
def test_a_directory_that_cannot_be_looked_at_stops_no_other_table(nested: bool, has_news: bool) -> None:
    world = a_world()
    world.users.create_table("bad", ("day",))
    world.users.add_partitions("bad", {("1",): {"sub/f": b"one"}, ("2",): {"f": b"two"}})
    world.settle()
    place = world.users.location("bad")
    world.files.unreadable.add(f"{place}/day=1/sub" if nested else place)
    if has_news:
        changed(world)
    others = [*OTHERS, "new"] if has_news else OTHERS
    for _ in range(3):
        with pytest.raises(ActNow, match="placement near: 1 tables cannot be looked at") as raised:
            world.run()
        assert place in str(raised.value.words.found)
        assert sorted(world.marked()) == sorted(world.fresh()) == sorted(others)
        world.assert_no_copy_lies()
        world.users.insert("orders", ("1",), {"again": b"again"})
    mend(world)
    world.settle()
    world.assert_complete(*others, "bad day=1", "bad day=2")


def test_a_file_and_a_directory_are_told_in_one() -> None:
    world = a_world()
    for name in ("bad", "worse"):
        world.users.create_table(name, files=FILES)
    world.files.corrupt.add(f"{world.users.location('bad')}/here")
    world.files.unreadable.add(world.users.location("worse"))
    with pytest.raises(ActNow, match=r"(?s)1 files were not copied.*1 tables cannot be looked at"):
        world.run()
    assert sorted(world.fresh()) == sorted(OTHERS)


def test_what_has_a_copy_is_told_beside_a_directory_that_cannot_be_looked_at() -> None:
    world = a_world()
    world.settle()
    world.files.unreadable.add(world.users.location("orders"))
    told = {one.name.table: one for one in copies_of(world.ports(), world.placement)}
    assert [one.stale for one in told["plain"].copies] == [None]
    assert all("cannot be looked at" in str(one.stale) for one in told["orders"].copies)
    assert "cannot be looked at" in told["orders"].left_out[0]


@pytest.mark.parametrize("is_unexplained", [False, True])
def test_what_says_nothing_of_one_table_takes_no_mark_away(is_unexplained: bool) -> None:
    world = a_world()
    world.settle()
    before = world.marked()
    world.users.set_parameters("plain", {"x": "y"})
    if is_unexplained:

        def refused(path: str) -> None:
            raise Unexplained(f"{path}: an odd answer")

        world.files._check_readable = refused
    else:
        world.files.unreadable.add("hdfs://east")
    with pytest.raises(Unexplained if is_unexplained else Refused):
        world.run()
    assert world.marked().keys() == before.keys()
