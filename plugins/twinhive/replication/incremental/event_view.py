"""Show people what the source's log holds after a replica's position, in the policy's scope or not, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from twinhive.core.model.changes.change_descriptions import files_named, subject
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow, LogBroken
from twinhive.core.model.policy import Policy
from twinhive.core.ports import EventLog, ReadPorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.event_types import REASONS
from twinhive.hive.events.reader import newest_position
from twinhive.replication.apply.lane import why_not_replicated
from twinhive.replication.notification_log.event_stream import is_readable
from twinhive.replication.notification_log.skipped_events import obeyed_skips
from twinhive.replication.replica.replica_state import state_now

_ROWS_PER_CALL = 300  # metastore.batch.retrieve.max


@dataclass(frozen=True)
class EventView:
    """One event for people.

    subject   the object that it is about, with the partitions
    files     how many files it names
    why_not   why it is not applied: out of scope, left out, skipped; None for one that is
    trouble   why it cannot be read, None for one that can
    """

    event_id: int
    time: int
    event_type: str
    subject: str = ""
    files: int = 0
    in_scope: bool = True
    why_not: str | None = None
    trouble: str | None = None


@dataclass(frozen=True)
class LogView:
    """A piece of a log.

    position   the replica's, None for one that does not follow
    newest     id of the newest event of the log
    looked_at  id of the last event that was looked at
    hidden     how many events up to there are not among `events`: out of scope, or of other tables
    gaps       what the log does not hold any more, and that it is not the one that the replica has followed
    """

    position: int | None
    newest: int
    looked_at: int = 0
    hidden: int = 0
    events: tuple[EventView, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True)
class WantedEvents:
    """What to show.

    begin       the first event; None: the one after the position, the last `limit` where the replica does not follow
    limit       most events
    table       only events on this table, under its old name too
    everything  also events out of scope
    """

    begin: int | None = None
    limit: int = 50
    table: str | None = None
    everything: bool = False


def view_log(ports: ReadPorts, policy: Policy, wanted: WantedEvents) -> LogView:
    """Read the log; events that cannot be read are shown as that. Raises Foreign for somebody else's replica."""
    state = state_now(ports, policy)
    newest = ports.source.current_event_id()
    after = (wanted.begin or 1) - 1
    if wanted.begin is None:
        after = max(0, newest - wanted.limit) if state.last_event_id is None else state.last_event_id
    found = _Reading(policy, wanted, obeyed_skips(ports, policy), looked_at=after)
    if state.last_event_id is not None:
        try:
            newest_position(ports.source, state.position)
        except LogBroken as error:
            found.gaps.append(f"{error.words.what}: {error.words.found}, expected {error.words.expected}")
    for row in _rows(ports.source, after, newest):
        if len(found.events) >= wanted.limit:
            break
        found.add(row)
    else:
        found.note_gap(newest + 1)
    return LogView(state.last_event_id, newest, found.looked_at, found.hidden, tuple(found.events), tuple(found.gaps))


def _rows(log: EventLog, after: int, newest: int) -> Iterator[EventRow]:
    while after < newest and (rows := log.events_after(after, _ROWS_PER_CALL)):
        yield from (row for row in rows if row.event_id <= newest)
        after = rows[-1].event_id


@dataclass
class _Reading:
    """Collect what is to be shown."""

    policy: Policy
    wanted: WantedEvents
    skipped: Mapping[int, str]
    looked_at: int
    hidden: int = 0
    events: list[EventView] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def add(self, row: EventRow) -> None:
        self.note_gap(row.event_id)
        self.looked_at = row.event_id
        view = event_view(row, self.policy, self.skipped)
        if (view.in_scope or self.wanted.everything) and self._is_of_table(row, view):
            self.events.append(view)
        else:
            self.hidden += 1

    def note_gap(self, event_id: int) -> None:
        first, last = self.looked_at + 1, event_id - 1
        if first == last:
            self.gaps.append(f"event {first} is not in the log any more")
        elif first < last:
            self.gaps.append(f"events {first} to {last} are not in the log any more")

    def _is_of_table(self, row: EventRow, view: EventView) -> bool:
        wanted = (self.wanted.table or "").lower()
        if not wanted or wanted == (row.table or "").lower():
            return True
        return is_readable(row) and wanted in {name.table for name in names_touched(row)}


def event_view(row: EventRow, policy: Policy, skipped: Mapping[int, str]) -> EventView:
    """Return an event in words. Raises nothing: a message that cannot be read is a trouble of the view."""
    view = EventView(row.event_id, row.time, row.event_type, _filed_under(row))
    if row.event_id in skipped:
        return _with(view, why_not=f"skipped by a person: {skipped[row.event_id]}")
    try:
        if not in_scope(row, policy):
            return _with(view, in_scope=False, why_not=_why_out_of_scope(row, policy))
        event = decode_event(row)
    except ActNow as error:
        return _with(view, trouble=f"{error.words.what}: {error.words.found}")
    return _with(
        view,
        subject=subject(event.change) or view.subject,
        files=files_named(event.change),
        why_not=why_not_replicated(policy, event, ()),
    )


def _with(view: EventView, **changes: object) -> EventView:
    return EventView(**{**vars(view), **changes})


def _filed_under(row: EventRow) -> str:
    return ".".join(filter(None, (row.database, row.table)))


def _why_out_of_scope(row: EventRow, policy: Policy) -> str:
    if row.event_type in REASONS:
        return REASONS[row.event_type]
    if row.catalog not in (None, "", "hive"):
        return f"of catalog {row.catalog}"
    if (row.database or "").lower() != policy.source.database:
        return f"of database {row.database}"
    return f"the policy does not select table {row.table}"
