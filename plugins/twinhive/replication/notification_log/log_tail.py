"""What a log tells of objects since an event: the one rule for those who route, copy and export.

An event that nobody can read, and a gap in the log, speak against what is older than they are, of the tables that they
may concern: against no others. A log that is not the one it was speaks against everything.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import LogBroken
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.core.model.placement.touches import Touch, Values, touched_at, touches_of
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.core.ports import EventLog
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_scope import is_of_default_catalog
from twinhive.hive.events.event_types import KNOWN_TYPES, EventType
from twinhive.hive.events.reader import position_at, read_events

Touches = Sequence[tuple[int, Touch]]
NEVER = 2**63
"""No event has such a number: nothing is told."""
_OF_ALL_TABLES = (EventType.CREATE_DATABASE, EventType.DROP_DATABASE)


@dataclass(frozen=True)
class Wide:
    """An event that may have changed every table of a database; None: every table."""

    event_id: int
    database: str | None
    why: str


@dataclass(frozen=True)
class LogTail:
    """What was touched after an event, up to `end`.

    since   what came after this event is told; `untold` says why what came before it is not
    """

    log_id: str
    begin: int
    end: Position
    touches: Mapping[TableName, Touches] = field(default_factory=dict)
    wide: Sequence[Wide] = ()
    since: int = 0
    untold: str | None = None

    @property
    def is_whole(self) -> bool:
        """True when all that came is told of table by table."""
        return self.since <= self.begin and not self.wide

    def stale(self, mark: CopyMark, table: TableName, values: Values) -> str | None:
        """Say why a copy is not what its object is, as far as the log tells; None where it is."""
        if mark.log_id != self.log_id:
            return f"it was made under another log, {mark.log_id}"
        if why := self.not_told(table, mark.event_id):
            return why
        if mark.event_id > self.end.event_id:
            return f"it is of event {mark.event_id}, and the log ends with event {self.end.event_id}"
        found = self.touched_at(table, values, mark.event_id)
        return None if found is None else f"event {found} has changed the object since"

    def not_told(self, table: TableName, after_event: int) -> str | None:
        """Say why nobody knows what has happened to a table after an event; None where it is known."""
        if after_event < self.since and self.untold:
            return f"what has changed since event {after_event} is not known: {self.untold}"
        about = (one for one in self.wide if one.event_id > after_event and one.database in (None, table.database))
        return next((one.why for one in about), None)

    def touched_at(self, table: TableName, values: Values, after_event: int) -> int | None:
        """Return the first event after one that has changed an object, None where none is told of."""
        return touched_at(self.touches.get(table, ()), values, after_event)

    def is_same(self, table: TableName, values: Values, after_event: int) -> bool:
        """True when an object is what it was as of an event, and that is known."""
        return self.not_told(table, after_event) is None and self.touched_at(table, values, after_event) is None


def _any(name: TableName) -> bool:
    return name.table not in OWN_TABLES


@dataclass
class Reading:
    """A log that is read from an event on, up to `end`; with a `database` only what concerns tables that are `asked`.

    The touches of other tables of that database are held where one event speaks of both, as a rename does.
    """

    log_id: str
    begin: int
    end: Position
    database: str | None = None
    asked: Callable[[TableName], bool] = _any
    count: int = 0
    since: int = field(init=False)
    untold: str | None = field(default=None, init=False)
    _touches: dict[TableName, list[tuple[int, Touch]]] = field(default_factory=lambda: defaultdict(list), init=False)
    _wide: list[Wide] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """What is before the first event that is read nobody asks for."""
        self.since = self.begin

    @property
    def tail(self) -> LogTail:
        """What was told."""
        return LogTail(self.log_id, self.begin, self.end, self._touches, tuple(self._wide), self.since, self.untold)

    def go_on(self, log: EventLog) -> None:
        """Read to the newest event; what is gone is passed over, and said."""
        tries = 0
        while tries < 2:
            before = self.end
            try:
                for row in read_events(log, self.end):
                    self._note(row)
                    self.end = row.position
                return
            except LogBroken as error:
                self._pass_over(log, str(error.words.what))
                tries = tries + 1 if self.end == before else 0

    def take(self, row: EventRow) -> None:
        """Note the next row of the log; what is missing before it is said."""
        expected = self.end.event_id + 1
        if row.event_id != expected:
            self.lose(f"the log has no event {expected}", max(row.event_id - 1, expected))
        self._note(row)
        self.end = row.position

    def lose(self, why: str, since: int) -> None:
        """Note that what came before an event is not known."""
        self.since, self.untold = since, why
        # Others may still read the ones that were handed out.
        self._touches, self._wide, self.count = defaultdict(list), [], 0

    def _pass_over(self, log: EventLog, why: str) -> None:
        """Go to where the log goes on behind what it has lost."""
        newest, here = log.current_event_id(), self.end.event_id
        now = position_at(log, here)
        if newest < here or (self.end.digest and now.digest and now != self.end):
            self.lose(why, NEVER)
            self.end = position_at(log, newest)
            return
        rows = log.events_after(here, 1)
        following = rows[0].event_id if rows else newest + 1
        if following > here + 1:
            self.end = Position(following - 1)
            self.lose(why, following - 1)
        else:
            self.lose(why, here + 1)  # an id that is there twice

    def _note(self, row: EventRow) -> None:
        for one in _told_by(row, self.database, self.asked):
            if isinstance(one, Wide):
                self._wide.append(one)
            else:
                self._touches[one.table].append((row.event_id, one))
            self.count += 1


def is_touched(log: EventLog, table: TableName, begin: Position) -> bool:
    """True when a table may have changed after an event: the log tells so, or does not tell all."""
    reading = Reading("", begin.event_id, begin, table.database, lambda name: name == table)
    reading.go_on(log)
    tail = reading.tail
    return bool(tail.touches.get(table)) or tail.not_told(table, begin.event_id) is not None


def _told_by(row: EventRow, database: str | None, asked: Callable[[TableName], bool]) -> Iterator[Touch | Wide]:
    """Yield what an event touches, as far as it is asked for."""
    if _is_passed_over(row, database, asked):
        return
    touches: list[Touch] = []
    for one in _read(row):
        if isinstance(one, Wide):
            yield one
        elif database in (None, one.table.database):
            touches.append(one)
    if any(asked(one.table) for one in touches):
        yield from touches


def _is_passed_over(row: EventRow, database: str | None, asked: Callable[[TableName], bool]) -> bool:
    """True for an event that cannot concern what is asked for, by its row alone."""
    if not is_of_default_catalog(row):
        return True
    if row.event_type == EventType.ALTER_TABLE:
        return False  # a rename: the row names the new table alone
    if not row.database:
        return row.event_type in KNOWN_TYPES  # transactions
    if database not in (None, row.database.lower()):
        return True
    return not asked(TableName(row.database.lower(), row.table.lower())) if row.table else False


def _read(row: EventRow) -> Iterator[Touch | Wide]:
    """Yield what an event touches; one that cannot be read touches all of what its row names.

    A rename that cannot be read touches its new table: of the old name nothing is left that has a copy.
    """
    database = row.database.lower() if row.database else None
    if not row.table and row.event_type in _OF_ALL_TABLES:
        yield Wide(row.event_id, database, f"event {row.event_id}: {row.event_type}")
        return
    try:
        yield from touches_of(decode_event(row).change)
    except UnreadableEvent as error:
        if database and row.table:
            yield Touch(TableName(database, row.table.lower()), whole=True)
        else:
            yield Wide(row.event_id, database, str(error.words.what))
