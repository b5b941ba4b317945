"""Read a stretch of the notification log without losing a row.

Rows are fetched unfiltered, because only then are the ids gap-free: the metastore hands them out
under a lock, in the order of commits. A missing or a doubled id means lost events.
"""

from collections.abc import Iterator

from twinhive.domain.errors import ActNow
from twinhive.domain.events import EventRow, Position
from twinhive.ports import MetastoreReader

_ROWS_PER_CALL = 300  # metastore.batch.retrieve.max


def position_at(metastore: MetastoreReader, event_id: int) -> Position:
    """Return the position of an event; without time and digest when the log no longer has it."""
    rows = metastore.events_after(event_id - 1, 1) if event_id else []
    return rows[0].position if rows and rows[0].event_id == event_id else Position(event_id)


def read_events(metastore: MetastoreReader, begin: Position) -> Iterator[EventRow]:
    """Yield every row after `begin` up to the newest one at the time of the call.

    Raises ActNow when the log is not the one that `begin` was read from, or has a gap.
    """
    newest = metastore.current_event_id()
    _check_same_log(metastore, begin, newest)
    expected = begin.event_id + 1
    while expected <= newest:
        rows = metastore.events_after(expected - 1, _ROWS_PER_CALL)
        if not rows:
            raise _gap(expected, f"nothing, though the newest event is {newest}")
        for row in rows:
            if row.event_id != expected:
                raise _gap(expected, f"event {row.event_id}")
            yield row
            expected += 1


def _check_same_log(metastore: MetastoreReader, begin: Position, newest: int) -> None:
    if newest < begin.event_id:
        raise _another_log(begin, f"the newest event is {newest}")
    now = position_at(metastore, begin.event_id)
    # A row that is gone while its successors are there has expired; the gap check covers those.
    if begin.digest and now.digest and now != begin:
        raise _another_log(begin, f"event {now.event_id} of time {now.time} with another message")


def _another_log(begin: Position, found: str) -> ActNow:
    return ActNow(
        "the notification log of the source is not the one it was (a metastore restored from a backup?)",
        found=found,
        expected=f"event {begin.event_id} of time {begin.time}, digest {begin.digest}",
        next_step="clear the task list_objects with all tasks after it: it lists the source anew",
    )


def _gap(expected: int, found: str) -> ActNow:
    return ActNow(
        "the notification log of the source has a gap: events have expired or were deleted",
        found=found,
        expected=f"event {expected}",
        next_step="raise metastore.event.db.listener.timetolive at the source, then clear the task "
        "list_objects with all tasks after it",
    )
