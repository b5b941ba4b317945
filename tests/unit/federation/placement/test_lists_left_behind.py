"""A list that a killed run has left takes nothing from the list of the run after it, and no mark."""

import json
from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.fake_world import Killed
from twinhive.core.model.changes.events import EventRow
from twinhive.core.step.step_base import Work
from twinhive.federation.placement import publish_copies
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies

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


def test_a_list_of_events_that_a_restored_log_gave_to_others_is_forgotten() -> None:
    """The log has grown past the list's event since, by other tables: only the event itself tells."""
    world = CopiesWorld(a_placement(include=("plain",)))
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other")
    log = world.metastore._log
    rows, last = list(log.rows), log.last_event_id
    world.users.set_parameters("plain", {"told": "before"})
    listed = ListCopies(Work(world.placement)).run(world.ports())
    assert listed.needed == 1
    CopyObjects(Work(world.placement, listed.batches[0].name, listed.dump)).run(world.ports())
    log.rows[:], log.last_event_id = rows, last
    for number in range(3):
        world.users.set_parameters("other", {"told": f"after {number}"})
    done = PublishCopies(Work(world.placement)).run(world.ports())
    assert (done.published, world.marked()) == (0, {})
    assert world.run()["publish"].published == 1


def test_a_list_of_an_earlier_version_is_published() -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    listed = ListCopies(Work(world.placement)).run(world.ports())
    CopyObjects(Work(world.placement, listed.batches[0].name, listed.dump)).run(world.ports())
    [path] = [path for path in world.north.paths() if path.endswith("/list.json")]
    said = json.loads(world.north.read(path))
    assert said.pop("digest")
    del said["time"]
    world.north.write(path, json.dumps(said).encode())
    assert PublishCopies(Work(world.placement)).run(world.ports()).published == 1


def test_each_event_is_read_once_however_many_pieces_are_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """The marks of each piece are an event, which those after it would read again and again."""
    world = CopiesWorld(a_placement(options={"partitions_per_call": 1}))
    days = [f"{day:02}" for day in range(12)]
    world.users.create_table("daily", keys=("day",))
    world.users.add_partitions("daily", {(day,): {"f": b"rows"} for day in days})
    listed = ListCopies(Work(world.placement)).run(world.ports())
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch.name, listed.dump)).run(world.ports())
    read, events_after = Counter[int](), world.metastore.events_after

    def counted(event_id: int, limit: int) -> list[EventRow]:
        rows: list[EventRow] = events_after(event_id, limit)
        read.update(row.event_id for row in rows)
        return rows

    monkeypatch.setattr(world.metastore, "events_after", counted)
    assert PublishCopies(Work(world.placement)).run(world.ports()).published == len(days)
    # Once for the news, once by who has written them.
    assert max(read.values()) <= 2
