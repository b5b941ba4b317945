"""Read a range of the notification log without losing a row.

Rows are fetched unfiltered, because only then are the ids gap-free: the metastore hands them out
under a lock, in the order of commits. A missing or a doubled id means lost events.
"""

from collections.abc import Iterable, Iterator, Sequence

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import LogBroken
from twinhive.core.model.next_steps import BOOTSTRAP_AGAIN, RESYNC_EVERYTHING
from twinhive.core.model.text import Clear
from twinhive.core.ports import EventLog

_MOST_ROWS_PER_CALL = 300  # metastore.batch.retrieve.max
_FIRST_ROWS = 50
_BYTES_PER_CALL = 32 * 2**20
"""So much of messages is wanted at a time: fewer rows are asked for where they are long."""


def position_at(metastore: EventLog, event_id: int) -> Position:
    """Return the position of an event; without time and digest when the log no longer has it."""
    rows = metastore.events_after(event_id - 1, 1) if event_id else []
    return rows[0].position if rows and rows[0].event_id == event_id else Position(event_id)


def newest_position(metastore: EventLog, begin: Position) -> Position:
    """Return the position of the newest event, whatever is missing before it.

    Raises ActNow when the log is not the one that `begin` was read from.
    """
    newest = metastore.current_event_id()
    _check_same_log(metastore, begin, newest)
    return position_at(metastore, newest)


def read_events(
    metastore: EventLog, begin: Position, first_rows: int = _FIRST_ROWS, bytes_per_call: int | None = None
) -> Iterator[EventRow]:
    """Yield every row after `begin` up to the newest one at the time of the call.

    The first call asks for `first_rows`, those after it for so many that their messages are some `bytes_per_call`.

    Raises LogBroken when the log is not the one that `begin` was read from, has a gap, or holds an
    id twice. A log that is emptied behind its newest id is a gap as well: Hive's own client takes
    it for a log in which nothing happened.
    """
    newest = metastore.current_event_id()
    _check_same_log(metastore, begin, newest)
    expected, limit = begin.event_id + 1, first_rows
    while expected <= newest:
        rows = metastore.events_after(expected - 1, limit)
        if not rows:
            raise _gap(expected, f"nothing, though the newest event is {newest}")
        for row in rows:
            if expected > newest:
                return
            _check_next(row, expected)
            yield row
            expected += 1
        limit = _next_limit(rows, bytes_per_call or _BYTES_PER_CALL)
        # A row may be large: the next call need not find those before it still here.
        del rows, row


def _next_limit(rows: Sequence[EventRow], bytes_per_call: int) -> int:
    """Return how many rows to ask for when those before were so long."""
    each = sum(len(row.message) for row in rows) // len(rows) + 1
    return max(1, min(_MOST_ROWS_PER_CALL, bytes_per_call // each))


def bounded(rows: Iterable[EventRow], most_events: int, most_bytes: int) -> Iterator[list[EventRow]]:
    """Cut a stream of rows into lists of at most `most_events` rows and `most_bytes` bytes of messages.

    A row that is larger than that is a list of its own. Rows are taken from the stream one at a
    time, so that no more than one list and one row are in memory.
    """
    batch: list[EventRow] = []
    length = 0
    for row in rows:
        row_length = len(row.message.encode())
        if batch and length + row_length > most_bytes:
            yield batch
            batch, length = [], 0
        batch.append(row)
        length += row_length
        if len(batch) >= most_events or length >= most_bytes:
            # Full: what comes next is not fetched before this has been used.
            del row
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _check_same_log(metastore: EventLog, begin: Position, newest: int) -> None:
    if newest < begin.event_id:
        raise _another_log(begin, f"the newest event is {newest}")
    now = position_at(metastore, begin.event_id)
    # A row that is gone while its successors are there has expired; the gap check covers those.
    if begin.digest and now.digest and now != begin:
        raise _another_log(begin, f"event {now.event_id} of time {now.time} with another message")


def _check_next(row: EventRow, expected: int) -> None:
    if row.event_id < expected:
        raise LogBroken(
            "the notification log of the source holds a duplicate: two events with one id",
            found=f"event {row.event_id} a second time",
            expected=f"event {expected}",
            next_step=f"find out why EVENT_ID {row.event_id} is twice in the metastore's table NOTIFICATION_LOG, "
            "delete the wrong row, then " + Clear("the task"),
        )
    if row.event_id > expected:
        raise _gap(expected, f"event {row.event_id}")


def _another_log(begin: Position, found: str) -> LogBroken:
    return LogBroken(
        "the notification log of the source is not the one it was (a metastore restored from a backup?)",
        found=found,
        expected=f"event {begin.event_id} of time {begin.time}, digest {begin.digest}",
        next_step="what changed cannot be told from this log: " + BOOTSTRAP_AGAIN,
    )


def _gap(expected: int, found: str) -> LogBroken:
    return LogBroken(
        "the notification log of the source has a gap: events have expired or were deleted",
        found=found,
        expected=f"event {expected}",
        next_step="raise metastore.event.db.listener.timetolive (metastore.repl.event.db.listener.timetolive where "
        "the change manager is on) at the source, then " + RESYNC_EVERYTHING,
    )
