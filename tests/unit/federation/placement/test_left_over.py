"""What killed runs have left in staging keeps no later run from its room, and hides no lack of room."""

import pytest

from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.unit.federation.placement.test_lists_left_behind import killed
from twinhive.core.model.errors import LeaseLost, Refused
from twinhive.core.model.files import Space
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.federation.placement import copy_directories, publish_copies
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import CopiesListed, ListCopies
from twinhive.federation.placement.placement_layout import building_directory, list_directory
from twinhive.transfer.staged.staged_files import unfinished_directory

NEEDED = 120
QUOTA = 150


class Tight(dict[str, Space]):
    """A quota of bytes for all files of the copies' cluster, as they are at each moment; lists are for free."""

    def __init__(self, world: CopiesWorld) -> None:
        super().__init__()
        self._world = world

    def items(self):  # type: ignore[no-untyped-def, override]
        there = [self._world.north.status(path) for path in self._world.north.paths()]
        used = sum(one.length for one in there if one and not one.path.endswith(("json", "gz")))
        return {"hdfs://north/twinhive": Space(QUOTA - used)}.items()


def a_world(grace_seconds: int = 0) -> CopiesWorld:
    world = CopiesWorld(a_placement(options={"grace_seconds": grace_seconds}))
    world.users.create_table("plain", files={"f": b"x" * 60, "g": b"y" * 60})
    world.north.quotas = Tight(world)
    return world


def copied(world: CopiesWorld) -> CopiesListed:
    """List and copy, and publish nothing."""
    listed = ListCopies(Work(world.placement)).run(world.ports())
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch=batch.name, dump=listed.dump)).run(world.ports())
    return listed


def something_happens(world: CopiesWorld) -> None:
    """Let the log go on, so that a list of the next run has another name."""
    world.metastore._log.emit("OPEN_TXN", None, None, {})


def below(world: CopiesWorld, *parts: str) -> list[str]:
    return [path for path in world.north.paths() if any(f"/staging/near/{part}/" in path for part in parts)]


@pytest.mark.thorough
@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("goes_on", [False, True])
def test_killed_at_any_change_a_run_comes_to_its_end(goes_on: bool, after_effect: bool) -> None:
    at, is_through = 0, False
    while not is_through:
        at += 1
        world = a_world()
        try:
            world.run(killable(world.ports(), KillSwitch(at, after_effect=after_effect)))
            is_through = True
        except Killed:
            pass
        world.lease.lose_holders()
        if goes_on:
            something_happens(world)
        world.settle()
        world.assert_complete("plain")
        assert not below(world, "tmp", "base", "copies/lists", "copies/building"), at
    assert at > 20


def test_what_was_being_put_together_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(copy_directories, "_prove", killed)
        world.run()
    assert len(below(world, "copies/building")) == 2
    something_happens(world)
    world.run()
    assert not below(world, "copies/building")
    world.assert_complete("plain")


def test_what_was_in_its_place_and_not_marked_goes_after_the_time_of_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world(grace_seconds=3600)
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(publish_copies, "write_marks", killed)
        world.run()
    for seconds in (0, 3599):
        with pytest.raises(Refused, match="not enough room"):
            ListCopies(Work(world.placement), now=lambda seconds=seconds: 1e9 + seconds).run(world.ports())
    assert ListCopies(Work(world.placement), now=lambda: 1e9 + 1.25 * 3600).run(world.ports()).removed == 1
    world.settle()
    world.assert_complete("plain")


def test_unfinished_files_go_where_room_is_short_and_when_a_run_is_through() -> None:
    world = a_world()
    unfinished = f"{unfinished_directory(world.placement.staging)}/{'a' * 32}"
    parts = f"{unfinished_directory(world.placement.staging)}/parts/{'b' * 32}_60/00000"
    assert ListCopies(Work(world.placement)).run(world.ports()).needed == 1
    for path in (unfinished, parts):
        world.north.put(path, b"x" * 40)
    assert ListCopies(Work(world.placement)).run(world.ports()).needed == 1
    assert not below(world, "tmp")
    world.north.put(unfinished)
    assert world.run()["publish"].published == 1
    assert not below(world, "tmp")
    world.north.put(unfinished)
    assert world.run()["list_copies"].idle
    assert not below(world, "tmp")


def test_staged_files_that_nobody_needs_any_more_go_where_room_is_short() -> None:
    world = a_world()
    copied(world)
    before = below(world, "base")
    world.users.overwrite("plain", None, {"f": b"a" * 60, "g": b"b" * 60})
    assert copied(world).bytes == NEEDED
    assert len(before) == len(below(world, "base")) == 2
    assert not set(before) & set(below(world, "base"))
    world.settle()
    world.assert_complete("plain")


def test_they_hide_no_lack_of_room_and_a_refused_list_does_not_stay() -> None:
    world = a_world()
    listed = copied(world)
    world.users.overwrite("plain", None, {"f": b"a" * 100, "g": b"b" * 100})
    for _ in range(2):
        with pytest.raises(Refused, match="not enough room") as raised:
            copied(world)
        assert (raised.value.words.found[:14], raised.value.words.expected) == ("150 bytes free", "200 bytes, 2 names")
        assert not below(world, "base")
        assert {path.split("/")[-2] for path in below(world, "copies/lists")} == {listed.dump}
        something_happens(world)


def test_a_list_that_somebody_may_be_copying_stays_also_where_it_is_refused() -> None:
    world = a_world()
    listed = ListCopies(Work(world.placement)).run(world.ports())
    world.north.put("hdfs://north/data/of/others", b"x" * 60)
    with pytest.raises(Refused):
        ListCopies(Work(world.placement)).run(world.ports())
    CopyObjects(Work(world.placement, batch=listed.batches[0].name, dump=listed.dump)).run(world.ports())
    assert world.north.status(list_directory(world.placement, listed.dump)) is not None


def test_who_publishes_and_is_overtaken_by_who_clears_may_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    proving = copy_directories._prove

    def overtaken(*given: object) -> None:
        with hold_lease(world.ports(), Work(world.placement), LeaseKind.PLACEMENT):
            world.north.delete(building_directory(world.placement, ""))
        proving(*given)

    with monkeypatch.context() as patched, pytest.raises(LeaseLost):
        patched.setattr(copy_directories, "_prove", overtaken)
        world.run()
    world.settle()
    world.assert_complete("plain")
