"""Read a notification log once for many policies, and tell what each of them has not applied yet."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import EventLog
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.reader import read_events

_ROWS_PER_PAGE = 300  # metastore.batch.retrieve.max
_ROWS_PER_CALL = 50


@dataclass(frozen=True)
class NamedRow(EventRow):
    """A row whose message was read and forgotten: what it is called stays, None where it could not be read."""

    at: Position
    names: frozenset[TableName] | None

    @classmethod
    def of(cls, row: EventRow, databases: Collection[str]) -> "NamedRow":
        """Keep of a row what tells whom it concerns, and whether the log is the one it was.

        Messages of other databases than these are not opened.
        """
        names: frozenset[TableName] | None = frozenset()
        try:
            if (row.database or "").lower() in databases:
                names = names_touched(row)
        except ActNow:
            names = None
        said = {field.name: getattr(row, field.name) for field in fields(EventRow)}
        return cls(**{**said, "message": ""}, at=row.position, names=names)

    @property
    def position(self) -> Position:
        """Return what identifies this event in its log."""
        return self.at


class LogPages:
    """Be a log up to one newest event; pages that were read are kept, so that each is fetched once.

    Kept are names, not messages: there may be ten thousand rows of each source.
    """

    def __init__(self, log: EventLog, newest: int, databases: Collection[str]) -> None:
        self._log = log
        self._databases = databases
        self._newest = newest
        self._pages: dict[int, list[NamedRow]] = {}
        self._seen: set[Position] = set()

    def current_event_id(self) -> int:
        """Return the id of the newest event when the reading began."""
        return self._newest

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, no further than to the end of its page."""
        number = event_id // _ROWS_PER_PAGE
        if number not in self._pages:
            self._pages[number] = [NamedRow.of(row, self._databases) for row in self._page(number)]
        rows: list[EventRow] = [row for row in self._pages[number] if row.event_id > event_id]
        return rows[:limit]

    def still_goes_on_after(self, position: Position) -> None:
        """Ask for two rows. Raises ActNow where this is not the log of a position, or where what follows it is gone."""
        if position not in self._seen:
            rows = self._log.events_after(max(0, position.event_id - 1), 2)
            next(read_events(_Few(self._newest, rows), position), None)
            self._seen.add(position)

    def _page(self, number: int) -> Iterator[EventRow]:
        """Yield the rows of a page, fetched in pieces: each is forgotten before the next."""
        after, end = number * _ROWS_PER_PAGE, (number + 1) * _ROWS_PER_PAGE
        while after < end and (rows := self._log.events_after(after, min(_ROWS_PER_CALL, end - after))):
            yield from rows
            after = rows[-1].event_id


@dataclass(frozen=True)
class _Few:
    """Be a log of which a few rows are known."""

    newest: int
    rows: Sequence[EventRow]

    def current_event_id(self) -> int:
        return self.newest

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        return [row for row in self.rows if row.event_id > event_id][:limit]


def concerns(row: EventRow, policy: Policy) -> bool:
    """Tell whether a row is in a policy's scope, as far as its database says so; a message that is broken may be."""
    if row.database and row.database.lower() != policy.source.database:
        return False
    try:
        return in_scope(row, policy, _names_of)
    except ActNow:
        return True


def _names_of(row: EventRow) -> frozenset[TableName]:
    """Return the tables of an event. Raises ActNow for a message that is broken."""
    if not isinstance(row, NamedRow):
        return names_touched(row)
    if row.names is None:
        raise unreadable(row, "what could not be read before")
    return row.names


def rows_between(log: EventLog, policy: Policy, begin: Position, end: int) -> Iterator[EventRow]:
    """Yield the rows after a position, up to and with an event, that concern a policy. Raises ActNow."""
    for row in read_events(log, begin):
        if row.event_id > end:
            return
        if concerns(row, policy):
            yield row
