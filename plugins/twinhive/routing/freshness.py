"""Which copies are what their objects are now: nothing in the log has touched these since, nor their directories."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from twinhive.events.decoder import decode_event
from twinhive.events.event_errors import UnreadableEvent
from twinhive.events.reader import position_at, read_events
from twinhive.model.changes.event_types import EventType
from twinhive.model.changes.events import EventRow, Position
from twinhive.model.copies.marks import TICKET, CopyMark, DirectoryState
from twinhive.model.copies.touches import Touch, Values, touched_at, touches_of
from twinhive.model.errors import ActNow
from twinhive.model.names import TableName
from twinhive.ports import MetastoreReader

StatesOf = Callable[[Mapping[str, DirectoryState]], Mapping[str, DirectoryState]]
"""Directories as they are now, by their paths: by one look at each directory around those of which a state is known."""
_ANY_DATABASE = (EventType.ALTER_TABLE, EventType.ALTER_DATABASE, EventType.DROP_DATABASE)
"""Kinds of events that concern a database also when their row names another: renames."""


@dataclass(frozen=True)
class LogTail:
    """What was touched after an event, up to `end`; `untold` says why that may have been everything."""

    log_id: str
    begin: int
    end: int
    touches: Mapping[TableName, Sequence[tuple[int, Touch]]]
    untold: str | None = None

    def stale(self, mark: CopyMark, table: TableName, values: Values) -> str | None:
        """Say why a copy is not what its object is, as far as the log tells; None where it is."""
        if mark.log_id != self.log_id:
            return f"it was made under another log, {mark.log_id}"
        if self.untold:
            return f"what has changed since event {self.begin} is not known: {self.untold}"
        if mark.event_id > self.end:
            return f"it is of event {mark.event_id}, and the log ends with event {self.end}"
        found = touched_at(self.touches.get(table, ()), values, mark.event_id)
        return None if found is None else f"event {found} has changed the object since"


def read_tail(log: MetastoreReader, event_id: int) -> LogTail:
    """Read what came after an event. A gap, or an event that cannot be read, may have touched everything."""
    read = _Read(log.log_id(), event_id, position_at(log, event_id))
    try:
        read.go_on(log)
    except (UnreadableEvent, ActNow) as error:
        return LogTail(read.log_id, event_id, event_id, {}, str(error.words.what))
    return read.tail


@dataclass
class _Read:
    """What was read of a log after an event, up to `end`."""

    log_id: str
    begin: int
    end: Position
    count: int = 0
    touches: dict[TableName, list[tuple[int, Touch]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def tail(self) -> LogTail:
        """What it tells."""
        return LogTail(self.log_id, self.begin, self.end.event_id, self.touches)

    def go_on(self, log: MetastoreReader) -> None:
        """Read to the newest event. Raises UnreadableEvent, ActNow."""
        for row in read_events(log, self.end):
            for touch in _touches(row):
                self.touches[touch.table].append((row.event_id, touch))
                self.count += 1
            self.end = row.position


class FollowedLog:
    """The tail of one metastore's log, read once, and from then on only what is new. Threads may share it.

    It holds at most `most` touches of objects: after more of them each question reads the log as if it were the first.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._read: _Read | None = None
        self._lock = Lock()

    def tail(self, log: MetastoreReader, event_id: int) -> LogTail:
        """Return what `read_tail` would return now."""
        with self._lock:
            read, self._read = self._read, None  # what fails is not gone on with
            if read is None or event_id < read.begin or read.log_id != log.log_id():
                read = _Read(log.log_id(), event_id, position_at(log, event_id))
            try:
                read.go_on(log)
            except (UnreadableEvent, ActNow):
                return read_tail(log, event_id)
            if read.count <= self._most:
                self._read = read
            return read.tail


@dataclass
class Freshness:
    """Judges copies. The log is read once, from the oldest event asked for; directories only where `look` is given."""

    log: MetastoreReader
    look: StatesOf | None
    read: Callable[[MetastoreReader, int], LogTail] = read_tail
    _tail: LogTail | None = field(default=None, init=False)

    def stale(
        self, table: TableName, marks: Mapping[Values, CopyMark], places: Mapping[Values, str]
    ) -> dict[Values, str]:
        """Return which copies of a table may not be read, and why. `places` are the objects' own directories."""
        if not marks:
            return {}
        events = [mark.event_id for mark in marks.values()]
        tail = self._between(min(events), max(events))
        found = {values: tail.stale(mark, table, values) for values, mark in marks.items()}
        if self.look is not None:
            current = [values for values, why in found.items() if why is None]
            states = self.look({places[values]: marks[values].directory for values in current})
            found |= {values: _changed(marks[values], states.get(places[values])) for values in current}
        return {values: why for values, why in found.items() if why is not None}

    def _between(self, first: int, last: int) -> LogTail:
        """Return a tail that begins with an event at the latest, and ends with another, if the log has that one."""
        if self._tail is None or first < self._tail.begin or last > self._tail.end:
            self._tail = self.read(self.log, first)
        return self._tail


def _touches(row: EventRow) -> Iterator[Touch]:
    if not row.database and not row.table and row.event_type not in _ANY_DATABASE:
        return  # transactions
    for touch in touches_of(decode_event(row).change):
        # Of the parameters that an event leaves only the ticket is asked for, and many touches are held.
        ticket = (touch.after or {}).get(TICKET)
        yield replace(touch, after=None if ticket is None else {TICKET: ticket})


def _changed(mark: CopyMark, state: DirectoryState | None) -> str | None:
    return None if state == mark.directory else "files of the object were written without an event"
