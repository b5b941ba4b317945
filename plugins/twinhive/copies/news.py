"""What the log says of a placement's tables since an event."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinhive.events.decoder import decode_event
from twinhive.events.event_errors import UnreadableEvent
from twinhive.events.reader import position_at, read_events
from twinhive.events.scope import in_scope
from twinhive.model.changes.event_types import EventType
from twinhive.model.changes.events import EventRow, Position
from twinhive.model.copies.touches import Touch, touches_of
from twinhive.model.errors import LogBroken
from twinhive.model.policy import Policy
from twinhive.ports import MetastoreReader

Touches = Sequence[tuple[int, Touch]]


@dataclass(frozen=True)
class CopyNews:
    """What was touched after an event, by the names of tables, up to `end`.

    `all_of_it` says why everything may have been: then no copy counts as fresh.
    """

    log_id: str
    begin: int
    end: Position
    touches: Mapping[str, Touches]
    all_of_it: str | None = None

    def of(self, table: str) -> Touches:
        """Return what touched a table."""
        return self.touches.get(table, ())


def read_news(log: MetastoreReader, policy: Policy, begin: Position, log_id: str) -> CopyNews:
    """Read the log from an event to its end; an event that nobody can read, or a gap, may have touched everything."""
    touches: dict[str, list[tuple[int, Touch]]] = defaultdict(list)
    end, why = begin, None
    try:
        for row in read_events(log, begin):
            end = row.position
            why = why or _note(row, policy, touches)
    except LogBroken as error:
        end, why = position_at(log, log.current_event_id()), str(error.words.what)
    return CopyNews(log_id, begin.event_id, end, touches, why)


def newest_news(log: MetastoreReader, policy: Policy, after_event: int, log_id: str) -> CopyNews:
    """Read what came after an event that was read a while ago, in as few calls as can be."""
    touches: dict[str, list[tuple[int, Touch]]] = defaultdict(list)
    end, why = Position(after_event), None
    while rows := log.events_after(end.event_id, _AT_ONCE):
        for row in rows:
            if row.event_id != end.event_id + 1:
                why = f"the log has no event {end.event_id + 1}"
            end = row.position
            why = why or _note(row, policy, touches)
    return CopyNews(log_id, after_event, end, touches, why)


_AT_ONCE = 300


def _note(row: EventRow, policy: Policy, touches: dict[str, list[tuple[int, Touch]]]) -> str | None:
    """Note what an event touches; return why it may have touched everything."""
    try:
        if not in_scope(row, policy):
            return None
        if not row.table and row.event_type in (EventType.DROP_DATABASE, EventType.CREATE_DATABASE):
            return f"event {row.event_id}: {row.event_type}"
        for touch in touches_of(decode_event(row).change):
            if touch.table.database == policy.source.database:
                touches[touch.table.table].append((row.event_id, touch))
    except UnreadableEvent as error:
        return str(error.words.what)
    return None
