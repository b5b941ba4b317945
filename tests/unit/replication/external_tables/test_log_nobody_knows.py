"""Of a source's log that answers oddly external tables wait on after the last try: nothing else waits with them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.operations.failover.test_failover import position
from twinhive.core.model.errors import Unexplained
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.log_point import LogPoint
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.replica.sync_records import SyncedEntry, write_synced
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL, WINDOW

TOPS = ("hdfs://east/data", "hdfs://east/other", "hdfs://east/outside", "hdfs://east/warehouse")


@pytest.fixture
def waiting() -> Iterator[FollowedExternals]:
    """A replica with a table whose data has come, as a copy says that began at an event of which the log answers oddly.

    It is well again in the end, and the table comes.
    """
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_external("days", ("p",))
    point = SourceLog(followed.world.source).newest()
    followed.users.create_table("later", files=[b"x"])
    followed.follow()
    assert followed.pending == ("days",)
    for top in TOPS:
        write_copied(followed, top, point)
    source: Any = followed.world.source
    original, asked = source.events_after, point.position.event_id - 1

    def oddly(after: int, *given: Any) -> Any:
        if after == asked:
            raise Unexplained("reading an event: refused", found="MetaException: hm", next_step="see the log")
        return original(after, *given)

    source.events_after = oddly
    yield followed
    source.events_after = original
    followed.follow()
    assert followed.pending == ()


def write_copied(followed: FollowedExternals, source: str, point: LogPoint) -> None:
    at, policy = point.position, followed.policy
    entry = SyncedEntry(
        source,
        policy.external.place(source, source),
        at.event_id,
        0.0,
        log_id=point.log_id,
        event_time=at.time,
        digest=at.digest,
    )
    write_synced(followed.world.replica_files, policy, entry)


def work(followed: FollowedExternals, *, is_last_try: bool, dump: str = "") -> Work:
    return Work(followed.policy, dump=dump, holder={"run": "i"}, is_last_try=is_last_try)


def test_a_run_without_a_window_ends_after_the_last_try(waiting: FollowedExternals) -> None:
    ports = waiting.world.ports()
    with pytest.raises(Unexplained, match="reading an event"):
        WINDOW(work(waiting, is_last_try=False)).run(ports)
    assert WINDOW(work(waiting, is_last_try=True)).run(ports).already
    assert waiting.pending == ("days",)


def test_so_does_an_apply(waiting: FollowedExternals) -> None:
    ports = waiting.world.ports()
    for is_last_try in (False, True):
        waiting.users.create_table("second" if is_last_try else "first", files=[b"x"])
        dump = waiting.run_with(ports, INCREMENTAL[:2])["window"].dump
        step = APPLY(work(waiting, is_last_try=is_last_try, dump=dump))
        if is_last_try:
            step.run(ports)
        else:
            with pytest.raises(Unexplained, match="reading an event"):
                step.run(ports)
        assert position(waiting) == waiting.world.source.current_event_id()
    assert waiting.pending == ("days",)


def test_the_next_run_asks_again(waiting: FollowedExternals, monkeypatch: pytest.MonkeyPatch) -> None:
    log, point = SourceLog(waiting.world.source, is_last_try=True), SourceLog(waiting.world.source).newest()
    with monkeypatch.context() as meanwhile:

        def answer_oddly(after: int, limit: int) -> None:
            raise Unexplained("reading an event: refused")

        meanwhile.setattr(waiting.world.source, "events_after", answer_oddly)
        assert not log.has(point)
    assert SourceLog(waiting.world.source, is_last_try=True).has(point)
