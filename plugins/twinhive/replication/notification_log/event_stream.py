"""Read the source's events from a position on: those saved into the dump first, then the log itself.

While a replica is being loaded, the incremental DAG copies events in scope from the log into the
dump's directory, so that a long bootstrap does not depend on the log's retention. Each file of saved events
covers the events after its begin, up to and with its end; together they make a chain.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.files import base_name, join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, MetastoreReader, ReadPorts, SourcePorts
from twinhive.hive.events.database_drop import drops_database
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.reader import bounded, read_events
from twinhive.replication.dump.dump_layout import saved_events_directory
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.notification_log.drop_lookahead import with_drop_ahead
from twinhive.replication.notification_log.skipped_events import obeyed_skips

_NAME = re.compile(r"(\d+)-(\d+)(?:-([0-9a-zA-Z]+))?\.jsonl\.gz")


@dataclass(frozen=True)
class NextEventRange:
    """What a window takes; `is_cut` says that its limits, or the end of what was saved, keep the rest from it."""

    event_range: EventRange
    is_cut: bool


@dataclass(frozen=True)
class EventStream:
    """What the log says to a policy, from whatever position on: all that read it obey what people pass over.

    skipped   the events that are passed over: they may be unreadable. What of them can be read has happened at the
              source all the same, and is told to all but a window
    """

    ports: SourcePorts
    policy: Policy
    skipped: frozenset[int] = frozenset()

    @classmethod
    def of(cls, ports: ReadPorts, policy: Policy) -> "EventStream":
        """Return the stream without what people have asked to pass over."""
        return cls(ports, policy, frozenset(obeyed_skips(ports, policy)))

    def event_ranges_after(self, begin: Position) -> Iterator[EventRange]:
        """Yield all that is in scope after a position, in pieces of about a window: what was saved, then the log.

        Each piece continues the one before. Memory holds one at a time.
        """
        options, end = self.policy.options, begin
        for saved in saved_events_after(self.ports.dump_files, self.policy, begin):
            later = (row for row in saved.rows if row.event_id > end.event_id)
            yield EventRange(end, saved.end, tuple(self.scoped(later)))
            end = saved.end
        for batch in bounded(read_events(self.ports.source, end), options.window_events, options.window_bytes):
            yield EventRange(end, batch[-1].position, tuple(self.scoped(batch)))
            end = batch[-1].position

    def rows_after(self, begin: Position) -> Iterator[EventRow]:
        """Yield the rows in scope after a position, up to the newest, one by one."""
        for event_range in self.event_ranges_after(begin):
            yield from event_range.rows

    def all_after(self, begin: Position) -> EventRange:
        """Return all that is in scope after a position in one piece; for what is known to be little."""
        rows: list[EventRow] = []
        end = begin
        for event_range in self.event_ranges_after(begin):
            end = event_range.end
            rows += event_range.rows
        return EventRange(begin, end, tuple(rows))

    def scoped(self, rows: Iterable[EventRow]) -> Iterator[EventRow]:
        """Yield those rows that are in scope and can be read, or are to be. Raises ActNow."""
        for row in rows:
            if row.event_id in self.skipped and not is_readable(row):
                continue
            if in_scope(row, self.policy):
                yield row


def is_readable(row: EventRow) -> bool:
    """True when an event can be decoded."""
    try:
        decode_event(row)
    except UnreadableEvent:
        return False
    return True


def window_after(ports: SourcePorts, policy: Policy, begin: Position, skipped: Collection[int]) -> NextEventRange:
    """Read what is in scope after a position, at most about one window of it, without `skipped` events.

    What was saved while the replica was loaded comes first: the log may not hold it any more. The drop of the database
    stands for what it has dropped; where that is passed over, so is this.
    """
    found = _window_told(ports, policy, begin, skipped)
    coming = _rows_coming(ports, policy, found.event_range.end) if found.is_cut else ()
    whole = with_drop_ahead(found.event_range, coming, lambda row: _is_told(row, policy, skipped))
    return _without(replace(found, event_range=whole), skipped)


def _window_told(ports: SourcePorts, policy: Policy, begin: Position, skipped: Collection[int]) -> NextEventRange:
    most = policy.options.window_events
    for event_range in saved_events_after(ports.dump_files, policy, begin):
        later = [row for row in event_range.rows if row.event_id > begin.event_id]
        # It was saved when a window may have held more.
        end = event_range.end if len(later) <= most else later[most - 1].position
        taken = tuple(row for row in later[:most] if _is_told(row, policy, skipped))
        return NextEventRange(EventRange(begin, end, taken), is_cut=True)
    return _told_after(ports.source, policy, begin, skipped)


def event_range_after(
    source: MetastoreReader, policy: Policy, begin: Position, skipped: Collection[int] = ()
) -> NextEventRange:
    """Read from the log what is in scope after a position, at most one window of it, without `skipped` events."""
    return _without(_told_after(source, policy, begin, skipped), skipped)


def _told_after(source: MetastoreReader, policy: Policy, begin: Position, skipped: Collection[int]) -> NextEventRange:
    options = policy.options
    rows: list[EventRow] = []
    end, length, is_cut = begin, 0, False
    for row in read_events(source, begin):
        if len(rows) >= options.window_events or length >= options.window_bytes:
            is_cut = True
            break
        end = row.position
        if _is_told(row, policy, skipped):
            rows.append(row)
            length += len(row.message)
    return NextEventRange(EventRange(begin, end, tuple(rows)), is_cut)


def _without(found: NextEventRange, skipped: Collection[int]) -> NextEventRange:
    rows = tuple(row for row in found.event_range.rows if row.event_id not in skipped)
    return replace(found, event_range=replace(found.event_range, rows=rows))


def _is_told(row: EventRow, policy: Policy, skipped: Collection[int]) -> bool:
    """True for what is in scope and not passed over, and for each drop of the database.

    What is passed over may be unreadable: nobody opens its message.
    """
    return (drops_database(row) or row.event_id not in skipped) and in_scope(row, policy)


def _rows_coming(ports: SourcePorts, policy: Policy, begin: Position) -> Iterator[EventRow]:
    """Yield the rows after a position one by one, no more of the log than is asked for."""
    end = begin
    for saved in saved_events_after(ports.dump_files, policy, begin):
        yield from (row for row in saved.rows if row.event_id > begin.event_id)
        end = saved.end
    yield from read_events(ports.source, end)


def saved_events_after(files: FileReader, policy: Policy, begin: Position) -> Iterator[EventRange]:
    """Yield the saved events that continue a position without a gap."""
    for path in _chain(files, policy, begin.event_id):
        yield EventRange.unpack(files.read(path))


def saved_events_end(files: FileReader, policy: Policy, begin: Position) -> Position:
    """Return up to which event the chain of saved events reaches from a position on."""
    *_, newest = None, *_chain(files, policy, begin.event_id)
    return begin if newest is None else EventRange.unpack(files.read(newest)).end


def saved_events_path(policy: Policy, event_range: EventRange) -> str:
    """Return where a range is saved to. What is in scope depends on the policy's text, so its name says which."""
    bounds = f"{event_range.begin.event_id:012d}-{event_range.end.event_id:012d}"
    text = f"-{policy.fingerprint}" if policy.fingerprint else ""
    return join(saved_events_directory(policy.dumps), f"{bounds}{text}.jsonl.gz")


def drop_saved_events(files: FileWriter, policy: Policy, event_id: int) -> None:
    """Remove the saved events that end at or before an event."""
    for _, last, _, path in _saved(files, policy):
        if last <= event_id:
            files.delete_file(path)


def _chain(files: FileReader, policy: Policy, reached: int) -> Iterator[str]:
    """Yield the paths of what was saved under this text of the policy, each from where the one before has ended."""
    for first, last, text, path in _saved(files, policy):
        if first <= reached < last and text == policy.fingerprint:
            yield path
            reached = last


def _saved(files: FileReader, policy: Policy) -> list[tuple[int, int, str, str]]:
    ((_, children),) = files.list_directories([saved_events_directory(policy.dumps)])
    matches = ((_NAME.fullmatch(base_name(child.path)), child.path) for child in children or ())
    return sorted((int(match[1]), int(match[2]), match[3] or "", path) for match, path in matches if match)
