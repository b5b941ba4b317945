"""A list that a killed run has left takes nothing from the list of the run after it, and no mark."""

from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.fake_world import Killed
from twinhive.copies import publish_copies
from twinhive.copies.list_copies import ListCopies
from twinhive.step.base import Work

Change = Callable[[CopiesWorld], object]
CHANGES: dict[str, Change] = {
    "an event comes later than its files": lambda world: world.users.set_parameters("plain", {"told": "late"}),
    # The lists are of one event then: any of their names may come first.
    **{
        f"another file without an event, {name}": lambda world, name=name: world.files.put(
            f"{world.users.location('plain')}/{name}", b"most"
        )
        for name in "hijklm"
    },
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_newest_list_gets_the_files_that_are_copied(name: str) -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.settle()
    world.files.put(f"{world.users.location('plain')}/g", b"more")
    assert ListCopies(Work(world.placement)).run(world.ports()).needed == 1
    CHANGES[name](world)
    done = world.run()["publish"]
    assert (done.published, done.changed) == (1, 0)
    world.assert_complete("plain")


def killed_while_it_publishes(world: CopiesWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a list whose copies are in their places, without marks."""
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(publish_copies, "write_marks", killed)
        world.run()


def killed(*given: object) -> None:
    raise Killed


def test_an_older_list_takes_no_mark_from_a_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world = CopiesWorld(a_placement(options={"grace_seconds": 3600}))
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    killed_while_it_publishes(world, monkeypatch)
    world.users.set_parameters("other", {"told": "late"})
    listed, done = (result := world.run())["list_copies"], result["publish"]
    assert (listed.needed, done.published, done.files, done.changed) == (2, 2, 2, 0)
    events = {mark.location.rpartition(".")[2].partition("-")[0] for _, mark in world.marked().values()}
    assert events == {listed.dump.partition("-")[0].lstrip("0")}
    world.assert_no_copy_lies()


@pytest.mark.parametrize("log_id", ["log-restored", "log-east"])
def test_a_list_of_a_log_that_is_no_more_is_forgotten(log_id: str) -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    log = world.metastore._log
    rows, last = list(log.rows), log.last_event_id
    for number in range(8):
        world.users.set_parameters("plain", {"told": str(number)})
    assert ListCopies(Work(world.placement)).run(world.ports()).needed == 1
    log.rows[:], log.last_event_id = rows, last
    world.metastore._log_id = log_id
    done = world.run()["publish"]
    assert (done.published, done.changed) == (1, 0)
    [(_, mark)] = world.marked().values()
    assert (mark.log_id, mark.event_id <= world.metastore.current_event_id()) == (log_id, True)
    assert world.run()["list_copies"].idle
    assert not [path for path in world.north.paths() if "/lists/" in path]
