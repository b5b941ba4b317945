"""Tell whether what was kept of the source's log is of the log that it has now, and not of one before a restoration."""

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, Unexplained, may_pass
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.reader import position_at
from twinhive.replication.dump.log_point import LogPoint


class SourceLog:
    """The log of a source, for one run. Each event is asked for once, the log's identity too.

    `is_last_try` is for who is on the safe side with a `has` that is False: nothing repeats this run when it fails.
    """

    def __init__(self, source: MetastoreReader, *, is_last_try: bool = False) -> None:
        self._source = source
        self._is_last_try = is_last_try
        self._log_id: str | None = None
        self._newest = -1
        self._judged: dict[LogPoint, bool] = {}

    def newest(self, known: LogPoint | None = None) -> LogPoint:
        """Return the newest event; where that is `known` still, its row is not read again."""
        event_id = self._source.current_event_id()
        if known is not None and known.position.event_id == event_id:
            return known
        return LogPoint(position_at(self._source, event_id), self._identity())

    def has(self, point: LogPoint) -> bool:
        """Return False for an event of another log, or one that a restored metastore's log has lost or replaced.

        What cannot be told is taken for true: of an event that has expired, of one of which only the id was kept and
        which the log has come to, and of a source that is not asked any more. What nobody knows is False for this
        run on the last try, else raised. Raises TryAgain, Unexplained.
        """
        if point not in self._judged:
            try:
                self._judged[point] = self._has(point)
            except Unexplained as error:
                if may_pass(error, is_last_try=self._is_last_try):
                    raise
                self._judged[point] = False
            except ActNow:
                self._judged[point] = True
        return self._judged[point]

    def _has(self, point: LogPoint) -> bool:
        if point.log_id and point.log_id != self._identity():
            return False
        at = point.position
        now = position_at(self._source, at.event_id) if at.digest else Position(at.event_id)
        return now == at if now.digest else self._has_come_to(at.event_id)

    def _has_come_to(self, event_id: int) -> bool:
        if event_id > self._newest:
            self._newest = self._source.current_event_id()
        return event_id <= self._newest

    def _identity(self) -> str:
        if self._log_id is None:
            self._log_id = self._source.log_id()
        return self._log_id
