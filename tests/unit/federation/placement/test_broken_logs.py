"""A log that does not tell what has happened makes no copy stay, and stops no placement."""

from collections.abc import Callable

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.federation.placement.copies_status import copies_of

Break = Callable[[CopiesWorld], object]


def events_expire(world: CopiesWorld) -> None:
    world.users.insert("plain", None, {"g": b"more"})
    world.metastore._log.expire(world.metastore.current_event_id() - 1)


def an_id_comes_twice(world: CopiesWorld) -> None:
    world.users.insert("plain", None, {"g": b"more"})
    rows = world.metastore._log.rows
    rows.insert(-1, rows[-2])


def it_goes_back(world: CopiesWorld) -> None:
    log = world.metastore._log
    rows, last = list(log.rows), log.last_event_id
    world.users.insert("plain", None, {"g": b"more"})
    world.settle()
    log.rows[:], log.last_event_id = rows, last


BROKEN: dict[str, Break] = {
    "events have expired": events_expire,
    "an id is there twice": an_id_comes_twice,
    "a metastore is restored": it_goes_back,
}


@pytest.mark.parametrize("name", BROKEN)
def test_all_is_copied_anew_where_the_log_does_not_tell(name: str) -> None:
    world = CopiesWorld()
    world.users.create_table("plain", files={"f": b"plain"})
    world.users.create_table("other", files={"o": b"o"})
    world.settle()
    BROKEN[name](world)
    told = list(copies_of(world.ports(), world.placement))
    assert all(copy.stale for table in told for copy in table.copies if table.name.table == "plain")
    listed = world.run()["list_copies"]
    assert (listed.fresh, listed.unmarked, listed.needed) == (0, 2, 2)
    world.metastore._log.rows[:] = list({row.event_id: row for row in world.metastore._log.rows}.values())
    world.settle()
    world.assert_complete("plain", "other")
