"""A log that is followed tells what a log tells that is read from the start, and is read once."""

from random import Random
from typing import Any

import pytest

from tests.unit.federation.placement.test_copies import CHANGES, a_world
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import CopyMark, DirectoryState
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.federation.routing.freshness import FollowedLog, read_tail
from twinhive.replication.notification_log.log_tail import LogTail

VALUES = (None, ("1",), ("3",), ("a b/c:ü",), ("9",))


def told(tail: LogTail, event_id: int) -> list[bool]:
    state = DirectoryState(1, 1)
    mark = CopyMark("hdfs://north/x", "log-east", event_id, "", state, state, TableIdentity(1, 1), 0, 0)
    names = [TableName("sales", name) for name in ("plain", "plainer", "orders", "empty")]
    return [tail.stale(mark, name, values) is not None for name in names for values in VALUES]


@pytest.mark.parametrize("seed", range(6))
def test_it_tells_what_reading_it_all_tells(seed: int) -> None:
    random = Random(seed)
    world = a_world()
    world.settle()
    world.files.make_directories(world.users.location("orders", ("3",)) + "x")
    begin = world.metastore.current_event_id()
    followed, few = FollowedLog(), FollowedLog(most=1)
    changes = ["insert", "overwrite", "parameters", "truncate", "insert into a table", "a new partition"]
    for name in [*random.sample(changes, 4), "a renamed table"]:
        CHANGES[name](world.users)
        if random.random() < 0.5 and name != "a renamed table":
            world.settle()  # marks, whose own events touch nothing
        for since in {begin, random.randint(max(1, begin - 5), world.metastore.current_event_id())}:
            expected = read_tail(world.metastore, since)
            for tail in (followed.tail(world.metastore, since), few.tail(world.metastore, since)):
                assert told(tail, since) == told(expected, since), (name, since)


def test_what_was_read_is_not_read_again_and_what_fails_is_never_gone_on_with() -> None:
    world = a_world()
    asked: list[int] = []
    read = world.metastore.events_after

    def counted(event_id: int, limit: int) -> Any:
        asked.append(limit)
        return read(event_id, limit)

    world.metastore.events_after = counted  # type: ignore[method-assign]
    followed = FollowedLog()
    followed.tail(world.metastore, 1)
    asked.clear()
    followed.tail(world.metastore, 1)
    assert sum(asked) <= 1, "only the last event is looked at again"
    world.users.insert("plain", None, {"more": b"more"})
    asked.clear()
    assert told(followed.tail(world.metastore, 1), 1)[0]
    assert len(asked) <= 2
    log = world.metastore._log
    world.users.insert("plain", None, {"yet": b"more"})
    log.expire(log.last_event_id)
    assert followed.tail(world.metastore, 1).untold
    world.users.insert("orders", ("1",), {"late": b"late"})
    assert followed.tail(world.metastore, 1).untold


def test_the_log_of_another_metastore_begins_anew() -> None:
    world = a_world()
    followed = FollowedLog()
    assert followed.tail(world.metastore, 1).log_id == "log-east"
    world.metastore.log_id = lambda: "another"  # type: ignore[method-assign]
    assert followed.tail(world.metastore, 1).log_id == "another"
