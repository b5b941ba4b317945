"""Whether a table may have changed since an event: one answer to a gap, a restored log and what nobody can read."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.worlds.copies_world import CopiesWorld
from twinhive.core.model.names import TableName
from twinhive.replication.notification_log.log_tail import is_touched

PLAIN = TableName("sales", "plain")


def insert(table: str) -> Callable[[CopiesWorld], object]:
    return lambda world: world.users.insert(table, None, {"g": b"more"})


def emit(event_type: str, database: str | None, table: str | None) -> Callable[[CopiesWorld], object]:
    return lambda world: world.metastore._log.emit(event_type, database, table, {})


def of_another_catalog(world: CopiesWorld) -> None:
    rows = world.metastore._log.rows
    rows[-1] = replace(world.metastore._log.emit("DROP_TABLE", "sales", "plain", {}), catalog="spark")


def expire(world: CopiesWorld) -> None:
    insert("other")(world)
    world.metastore._log.expire(world.metastore.current_event_id() - 1)


def empty(world: CopiesWorld) -> None:
    insert("other")(world)
    world.metastore._log.expire(world.metastore.current_event_id())


def go_back(world: CopiesWorld) -> None:
    log = world.metastore._log
    log.rows, log.last_event_id = log.rows[:2], log.rows[1].event_id


def go_back_and_on(world: CopiesWorld) -> None:
    until = world.metastore.current_event_id()
    go_back(world)
    while world.metastore.current_event_id() <= until:
        insert("other")(world)


ACTS: dict[str, tuple[Callable[[CopiesWorld], object], bool]] = {
    "nothing": (lambda world: None, False),
    "an insert": (insert("plain"), True),
    "an insert into another table": (insert("other"), False),
    "a rename": (lambda world: world.users.rename_table("plain", "gone"), True),
    "a rename of another table": (lambda world: world.users.rename_table("other", "gone"), False),
    "an event of it that nobody can read": (emit("ALTER_TABLE", "sales", "plain"), True),
    "an event of another that nobody can read": (emit("ALTER_TABLE", "sales", "other"), False),
    "a later Hive's event of the database": (emit("SOME_NEW", "sales", None), True),
    "a later Hive's event of nothing": (emit("SOME_NEW", None, None), True),
    "a later Hive's event of another database": (emit("SOME_NEW", "else", None), False),
    "a transaction": (emit("OPEN_TXN", None, None), False),
    "an event of another catalog": (of_another_catalog, False),
    "events have expired": (expire, True),
    "the log was emptied": (empty, True),
    "the metastore was restored": (go_back, True),
    "the metastore was restored and goes on": (go_back_and_on, True),
}


@pytest.mark.parametrize("name", ACTS)
def test_a_table_may_have_changed_where_the_log_tells_so_or_does_not_tell_all(name: str) -> None:
    act, expected = ACTS[name]
    world = CopiesWorld()
    for table in ("other", "plain"):
        world.users.create_table(table, files={"f": b"one"})
    begin = world.metastore._log.rows[-1].position
    act(world)
    assert is_touched(world.metastore, PLAIN, begin) is expected
