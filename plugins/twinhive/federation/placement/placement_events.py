"""What the log says of a placement's tables since an event."""

from collections import defaultdict
from dataclasses import dataclass

from twinhive.core.model.changes.events import Position
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import CopyMark, object_name
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.ports import MetastoreReader
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.federation.routing.move_mark import EVERY_CLUSTER
from twinhive.replication.notification_log.log_tail import NEVER, LogTail, Reading, Touches


@dataclass(frozen=True)
class TouchedObjects:
    """What events have touched of a table: partitions by their values, and marks by what these call their objects."""

    values: frozenset[Values] = frozenset()
    marks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CopyNews:
    """What was touched of the tables of a database after an event, up to `end`."""

    database: str
    tail: LogTail

    @classmethod
    def nothing(cls, policy: Policy, log_id: str, here: Position) -> "CopyNews":
        """Return what is told where nothing has happened since an event."""
        return cls(policy.source.database, LogTail(log_id, here.event_id, here, since=here.event_id))

    @property
    def begin(self) -> int:
        """The event after which it was read."""
        return self.tail.begin

    @property
    def end(self) -> Position:
        """The newest event that was read."""
        return self.tail.end

    @property
    def tables(self) -> set[str]:
        """The tables that were touched."""
        return {name.table for name in self.tail.touches if name.database == self.database} - {COPY_MARKS.name}

    @property
    def marked(self) -> set[str] | None:
        """The tables of which marks were written or taken away, by whomever; None: perhaps of all."""
        if any(one.whole for _, one in self._of_marks):
            return None
        return {one.values[0] for _, one in self._of_marks if one.values}

    def touched(self, table: str, cluster: str) -> TouchedObjects | None:
        """Return which partitions of a table were touched, and which of its marks for a cluster.

        None: perhaps all of it, or something that has to do with all, as the table itself and its moves.
        """
        touches = [one for _, one in self.of(table)]
        marks = self._marks.get(table, {})
        is_told = self.is_whole and self.marked is not None
        if not is_told or any(one.whole or one.values is None for one in touches) or marks.get(EVERY_CLUSTER):
            return None
        return TouchedObjects(frozenset(one.values for one in touches), frozenset(marks.get(cluster, ())))

    @lazy_property
    def _marks(self) -> dict[str, dict[str, set[str]]]:
        """What marks that were written call their objects, by table and cluster."""
        found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for _, one in self._of_marks:
            if one.values:
                table, cluster, what = one.values
                found[table][cluster].add(what)
        return found

    @lazy_property
    def _written(self) -> frozenset[Values]:
        return frozenset(one.values for _, one in self._of_marks)

    @property
    def _of_marks(self) -> Touches:
        return self.tail.touches.get(COPY_MARKS.of(self.database), ())

    @property
    def is_whole(self) -> bool:
        """True when it is known of each table whether anything has touched it."""
        return self.tail.is_whole

    def of(self, table: str) -> Touches:
        """Return what touched a table."""
        return self.tail.touches.get(TableName(self.database, table), ())

    def not_told(self, table: str, after_event: int) -> str | None:
        """Say why nobody knows what has happened to a table after an event; None where it is known."""
        return self.tail.not_told(TableName(self.database, table), after_event)

    def is_same(self, table: str, values: Values, after_event: int) -> bool:
        """True when an object is what it was as of an event, and that is known."""
        return self.tail.is_same(TableName(self.database, table), values, after_event)

    def is_current(self, table: str, cluster: str, values: Values, mark: CopyMark) -> bool:
        """True for a copy that the log does not speak against; up to `begin` it was found fresh by who has read it."""
        return self._is_known(table, cluster, values, mark) and self.is_same(table, values, self._after(mark))

    def is_touched(self, table: str, cluster: str, values: Values, mark: CopyMark) -> bool:
        """True for a copy that an event speaks against, and nothing else."""
        is_told = self._is_known(table, cluster, values, mark) and self.not_told(table, self._after(mark)) is None
        return is_told and not self.is_same(table, values, self._after(mark))

    def _is_known(self, table: str, cluster: str, values: Values, mark: CopyMark) -> bool:
        """True for a mark of this log that was there when all was looked at up to `begin`, or is of a later event."""
        if not mark.is_of(self.tail.log_id, self.end.event_id):
            return False
        if mark.event_id >= self.begin:
            return True
        # One that was written since then, and is of an event before: by a process that was frozen for long.
        return self.marked is not None and (table, cluster, object_name(values)) not in self._written

    def _after(self, mark: CopyMark) -> int:
        return max(mark.event_id, self.begin)


def read_news(log: MetastoreReader, policy: Policy, begin: Position, log_id: str) -> CopyNews:
    """Read the log from an event to its end."""
    reading = _reading(policy, begin, log_id)
    reading.go_on(log)
    return CopyNews(policy.source.database, reading.tail)


@dataclass
class NewsSinceList:
    """What the log tells since a list was made: each event is read once, however many pieces are published."""

    log: MetastoreReader
    reading: Reading
    _is_read: bool = True

    @classmethod
    def begin(cls, log: MetastoreReader, policy: Policy, here: Position, log_id: str) -> "NewsSinceList | None":
        """Read what came after the event of a list; None where the log is another one than the list was made under.

        The event itself proves the log, as long as it is there: a restored metastore gives its number to another one.
        """
        reading = _reading(policy, here, log_id)
        rows = log.events_after(here.event_id - 1, _AT_ONCE) if here.digest else []
        if not rows or rows[0].event_id != here.event_id:
            reading.go_on(log)
            if log.log_id() != log_id or reading.since == NEVER:
                return None
        elif rows[0].position != here:
            return None
        else:
            for row in rows[1:]:
                reading.take(row)
        return cls(log, reading)

    def so_far(self, policy: Policy) -> CopyNews:
        """Return what the log tells now; what was read to begin with is not read again for the first piece.

        What happens while that is put in place comes after the event of its marks, and is given back.
        """
        if not self._is_read:
            while rows := self.log.events_after(self.reading.end.event_id, _AT_ONCE):
                for row in rows:
                    self.reading.take(row)
        self._is_read = False
        return CopyNews(policy.source.database, self.reading.tail)


_AT_ONCE = 300


def _reading(policy: Policy, begin: Position, log_id: str) -> Reading:
    marks = COPY_MARKS.of(policy.source.database)
    return Reading(
        log_id, begin.event_id, begin, policy.source.database, lambda name: name == marks or policy.follows(name)
    )
