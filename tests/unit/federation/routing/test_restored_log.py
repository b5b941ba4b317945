"""A copy of an event that the log has lost is not read: what happens under the same ids now, nobody would see."""

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.federation.routing.freshness import FollowedLog, Freshness


def test_a_copy_of_an_event_that_a_restored_log_has_not_is_stale() -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    world.settle()
    log = world.metastore._log
    rows, last = list(log.rows), log.last_event_id
    world.users.insert("plain", None, {"g": b"more"})
    world.settle()
    marks = {name: mark for name, (_, mark) in world.marked().items()}
    places = {name: str(one.location) for name, (one, _) in world.marked().items()}
    log.rows[:], log.last_event_id = rows, last
    for judge in (Freshness(world.metastore, None), Freshness(world.metastore, None, FollowedLog().tail)):
        for name in ("other", "plain"):
            one = world.metastore.table(world.users.name(name))
            said = judge.stale(one.name, {None: marks[name]}, {None: places[name]})
            assert bool(said) is (name == "plain"), said


def test_a_copy_that_was_marked_after_the_log_was_read_is_read() -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    world.settle()
    judge = Freshness(world.metastore, None)
    table = world.users.table("other")
    _, first = world.marked()["other"]
    assert judge.stale(table.name, {None: first}, {None: str(table.location)}) == {}
    world.users.insert("other", None, {"p": b"p"})
    world.settle()
    _, later = world.marked()["other"]
    assert later.event_id > first.event_id
    assert judge.stale(table.name, {None: later}, {None: str(table.location)}) == {}
