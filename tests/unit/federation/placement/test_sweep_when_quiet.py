"""Directories of replaced and dropped copies go after the time of grace, also where nothing else happens."""

import time
from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import COPIES_ROOT, CopiesWorld, a_placement
from twinhive.core.directory_marks.write_protection import unprotect
from twinhive.core.ports import FileWriter
from twinhive.core.step.step_base import Work
from twinhive.federation.placement import unused_copies
from twinhive.federation.placement.list_copies import CopiesListed, ListCopies
from twinhive.federation.placement.unused_copies import AT_HOME, OF_TABLE

GRACE = 300


def a_world() -> CopiesWorld:
    world = CopiesWorld(a_placement(options={"grace_seconds": GRACE}))
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    world.settle()
    return world


def copies(world: CopiesWorld) -> set[str]:
    there = f"{COPIES_ROOT}/near/"
    return {path.removeprefix(there).partition("/")[0] for path in world.north.paths() if path.startswith(there)}


def listed_at(world: CopiesWorld, now: float) -> CopiesListed:
    return ListCopies(Work(world.placement), now=lambda: now).run(world.ports())


def used(world: CopiesWorld) -> set[str]:
    return {mark.location.rpartition("/")[2] for _, mark in world.marked().values()}


CHANGES: dict[str, Callable[[CopiesWorld], object]] = {
    "replaced": lambda world: world.users.insert("plain", None, {"g": b"more"}),
    "dropped": lambda world: world.users.drop_table("plain"),
    "not wanted": lambda world: world.change(include=("other",), fingerprint="another text"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_they_go_where_nothing_happens_any_more(name: str) -> None:
    world = a_world()
    CHANGES[name](world)
    world.settle()
    world.settle()
    left = copies(world)
    assert len(left) == len(used(world)) + 1
    now = time.time()
    assert listed_at(world, now + GRACE / 2).removed == 0 and copies(world) == left
    assert listed_at(world, now + 2 * GRACE).removed == 1
    assert copies(world) == used(world)
    assert listed_at(world, now + 5 * GRACE).removed == 0
    world.assert_no_copy_lies()


def test_the_metastore_is_asked_once_for_all_that_go_and_not_in_each_run() -> None:
    """They come out of use one after the other, a tenth of the grace apart."""
    world = CopiesWorld(a_placement(options={"grace_seconds": GRACE, "partitions_per_call": 100, "batch_objects": 100}))
    world.users.create_table("orders", ("day",))
    world.users.add_partitions("orders", {(f"{day}",): {"f": b"x"} for day in range(10, 30)})
    world.settle()
    now, removed, asked = time.time(), list[int](), list[int]()
    locations = world.metastore.partition_locations
    world.metastore.partition_locations = lambda table: asked.append(tenth) or locations(table)  # type: ignore
    for tenth in range(40):
        world.users.insert("orders", ("20",), {f"f{tenth}": b"more"})
        removed.append(listed_at(world, now + tenth * GRACE / 10).removed)
        world.run()
    assert sum(removed) >= 25 and asked == [tenth for tenth, some in enumerate(removed) if some]
    assert len(asked) <= 40 // 3
    world.assert_no_copy_lies()


def test_a_home_among_them_is_not_looked_for_at_each_run() -> None:
    world = a_world()
    directory = world.marked()["plain"][1].location
    world.users.drop_table("plain")
    world.settle()
    unprotect(world.north, directory)
    world.north.set_attribute(directory, OF_TABLE, AT_HOME)
    later = time.time() + 2 * GRACE
    read: list[str] = []
    opened = world.north.read
    world.north.read = lambda path: read.append(path) or opened(path)  # type: ignore
    for _ in range(3):
        assert listed_at(world, later).removed == 0
    assert len([path for path in read if "/tables/other." in path]) == 1
    assert world.north.status(directory) is not None


def test_what_a_table_takes_while_others_are_removed_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    for table in ("plain", "other"):
        world.users.insert(table, None, {"g": b"more"})
    world.settle()
    world.settle()
    unused = sorted(copies(world) - used(world))
    assert len(unused) == 2
    monkeypatch.setattr(unused_copies, "_REMOVED_AT_ONCE", 1)
    removed: list[str] = []

    def unprotected(files: FileWriter, directory: str) -> None:
        removed.append(directory.rpartition("/")[2])
        (other,) = set(unused) - {removed[0]}
        if len(removed) == 1:
            world.users.set_location(other.partition(".")[0], f"{COPIES_ROOT}/near/{other}")
        unprotect(files, directory)

    monkeypatch.setattr(unused_copies, "unprotect", unprotected)
    assert listed_at(world, time.time() + 2 * GRACE).removed == 1
    assert set(unused) - set(removed) <= copies(world)
