"""Watch a notification log from inside an event loop, without ever blocking or ending it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import TwinhiveError
from twinhive.surfaces.airflow.triggers.one_thread import OneThread

_POLL_SECONDS = 1.0
_MOST_SECONDS = 30.0
# Of these rows only the names count, but they come with their messages, into a process that others share.
_ROWS_PER_CALL = 50
_MOST_ROWS = 3_000

_log = logging.getLogger(__name__)


class NotificationLog(Protocol):
    """What is asked of a metastore."""

    def current_event_id(self) -> int:
        """Return the id of the newest event."""
        ...

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows after an event."""
        ...


@dataclass(frozen=True)
class News:
    """A log has another newest event; `databases` are those its rows name, None when they cannot be told.

    A rename into another database names that one only: who follows the old one learns of it at its
    next scheduled run.
    """

    event_id: int
    databases: frozenset[str] | None = None

    def concerns(self, database: str) -> bool:
        """True when something may have happened to a database."""
        return self.databases is None or database in self.databases


async def watch_log(
    open_log: Callable[[], NotificationLog], poll_seconds: float = _POLL_SECONDS, most_seconds: float = _MOST_SECONDS
) -> AsyncIterator[News]:
    """Yield news from the newest event at the start on, for ever.

    Whatever goes wrong is logged once, and tried again after pauses that grow up to `most_seconds`;
    the log is opened again then, because its address may be another by now.
    """
    watch = _Watch(open_log)
    # One thread, because a client keeps a connection for each thread that uses it.
    thread = OneThread("notification-log")
    try:
        while True:
            news = await thread.call(watch.look)
            if news is not None:
                yield news
            await asyncio.sleep(min(most_seconds, poll_seconds * 2 ** min(watch.failures, 16)))
    finally:
        thread.leave()


class _Watch:
    """How far a log has been seen, and how often in a row it could not be."""

    def __init__(self, open_log: Callable[[], NotificationLog]) -> None:
        self.failures = 0
        self._open_log = open_log
        self._log: NotificationLog | None = None
        self._position: int | None = None

    def look(self) -> News | None:
        """Return what is new since the last look. Raises nothing: a failure is counted."""
        try:
            self._log = self._log or self._open_log()
            news = _news_since(self._log, self._position)
        except Exception as error:  # nothing may end the watch
            self._log, self.failures = None, self.failures + 1
            if self.failures == 1:
                _log.warning("the notification log cannot be read, it is tried again: %s", error)
            return None
        if self.failures:
            _log.info("the notification log can be read again, at event %s", news.event_id)
        before, self._position, self.failures = self._position, news.event_id, 0
        return news if before not in (None, news.event_id) else None


def _news_since(log: NotificationLog, position: int | None) -> News:
    newest = log.current_event_id()
    if position is None or newest == position:
        return News(newest)
    try:
        return News(newest, _databases_between(log, position, newest))
    except TwinhiveError as error:
        _log.warning("events %s to %s cannot be read: %s", position + 1, newest, error)
        return News(newest)


def _databases_between(log: NotificationLog, position: int, newest: int) -> frozenset[str] | None:
    """Return the databases that the rows (position, newest] name; None for a gap, or for too many rows."""
    if not 0 < newest - position <= _MOST_ROWS:
        return None
    databases: set[str] = set()
    while position < newest:
        rows = log.events_after(position, _ROWS_PER_CALL)
        if not rows or rows[0].event_id != position + 1:
            return None
        databases |= {row.database.lower() for row in rows if row.database}
        position = rows[-1].event_id
    return frozenset(databases)
