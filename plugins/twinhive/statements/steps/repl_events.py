"""Dump a range of events for replicas that are not known: events, their files, and tables that come whole.

Whole come the tables of which the log of this range does not tell everything: those that a change of policy (REPLACE)
or a rename brings into the scope, and those that become managed or external. They are as the source has them at the
range's end, so that what is loaded is one state.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow, InvalidSettings, TryAgain
from twinhive.core.model.text import Again, Exclude
from twinhive.core.ports import MetastoreReader, SourcePorts
from twinhive.core.step.step_base import Report
from twinhive.hive.events.database_drop import drops_object, last_drops_begin, take
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.reader import position_at, read_events
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.publishing import being_written
from twinhive.replication.incremental.window_writer import WindowWriter
from twinhive.replication.notification_log.drop_lookahead import look_on
from twinhive.replication.notification_log.dump_checksums import seal_batches
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.notification_log.unnamed_files import Away
from twinhive.replication.replica.source_scope import read_scope
from twinhive.statements.steps.repl_dump_options import DumpOrder, dumped_database
from twinhive.statements.steps.scope_changes import newly_included, renamed_in

_MOST_READINGS = 5


@dataclass(frozen=True)
class EventsAsked:
    """The events that a statement asks for, and the tables that are dumped whole beside them.

    `cut_by` is the event before which a bounded range ends, because it brings a table into the scope.
    """

    event_range: EventRange
    whole: tuple[str, ...] = ()
    cut_by: int | None = None


def events_asked(source: MetastoreReader, order: DumpOrder) -> EventsAsked:
    """Read the log. Raises InvalidSettings for a statement that cannot be carried out; nothing is written."""
    event_range = _event_range(source, order)
    events = [decode_event(row) for row in event_range.rows]
    new, external = newly_included(source, order, events), _external_whole(source, order)
    if order.is_bounded:
        _refuse_bounded(order, new, external)
    renamed = renamed_in(order.policy, events)
    if renamed and order.is_bounded:
        return _cut(order, event_range, min(renamed.values()))
    return EventsAsked(event_range, tuple(sorted({*new, *renamed, *external})))


def dump_events(ports: SourcePorts, order: DumpOrder, asked: EventsAsked, report: Report) -> Dump:
    """Return the dump of events. Raises TryAgain."""
    whole = asked.whole
    for _ in range(_MOST_READINGS):
        written = _write(ports, order, asked.event_range, whole)
        if isinstance(written, Dump):
            _say(report, order, asked.cut_by, written)
            return written
        whole = tuple(sorted(written.union(whole)))
    raise TryAgain(
        f"tables of {order.policy.source} change while they are read whole",
        found=f"{', '.join(whole[:5])} changed during each of {_MOST_READINGS} readings",
        expected="one reading during which they stay as they are",
        next_step="run the statement again when those who rewrite these tables rest",
    )


def _event_range(source: MetastoreReader, order: DumpOrder) -> EventRange:
    """Read the events after `begin`, up to TO, or until LIMIT of them are of this scope (seed 002, example g)."""
    assert order.from_event is not None, "a bootstrap has no events"
    begin = position_at(source, order.from_event)
    rows: list[EventRow] = []
    end, is_dropped = begin, False
    for row in read_events(source, begin):
        if order.to_event is not None and row.event_id > order.to_event:
            break
        end = row.position
        if not in_scope(row, order.policy):
            continue
        take(rows, row)
        is_dropped = is_dropped and drops_object(row)
        if order.limit is None or len(rows) < order.limit or is_dropped:
            continue
        # What the drop of the database has dropped does not count: that takes its place when it comes.
        is_dropped = _is_dropped(source, order, end, rows)
        if not is_dropped:
            break
    if order.is_bounded and _is_dropped(source, order, end, rows):
        del rows[last_drops_begin(rows) :]
    return EventRange(begin, end, tuple(rows))


def _is_dropped(source: MetastoreReader, order: DumpOrder, end: Position, rows: Sequence[EventRow]) -> bool:
    """True where rows end in drops that a drop of the database ends, which comes after them."""
    if last_drops_begin(rows) == len(rows):
        return False
    return look_on(end, read_events(source, end), lambda row: in_scope(row, order.policy)).drop is not None


def _external_whole(source: MetastoreReader, order: DumpOrder) -> list[str]:
    """Return the external tables that come whole with the events, where the statement wants that."""
    external = read_scope(source, order.policy).external if order.external_whole else ()
    return sorted(table.name.table for table in external)


def _refuse_bounded(order: DumpOrder, new: list[str], external: list[str]) -> None:
    """Refuse a range that may end before the newest event, as of which whole tables are read."""
    if new:
        raise InvalidSettings(
            f"REPLACE brings tables into the scope, which are dumped as they are now: {', '.join(new[:5])}",
            found=_bound_of(order),
            expected="neither TO nor LIMIT",
            next_step="leave TO and LIMIT out of the statement that changes the policy",
        )
    if external:
        raise InvalidSettings(
            "hive.repl.bootstrap.external.tables brings external tables whole, which are dumped as they are now: "
            + ", ".join(external[:5]),
            found=_bound_of(order),
            expected="neither TO nor LIMIT",
            next_step="leave TO and LIMIT out of the statement that brings the external tables, "
            "or hive.repl.bootstrap.external.tables out of this one",
        )


def _cut(order: DumpOrder, event_range: EventRange, first: int) -> EventsAsked:
    """End a bounded range before the first event that brings a table into the scope."""
    rows = tuple(row for row in event_range.rows if row.event_id < first)
    if not rows:
        raise _unbounded(order, f"event {first} brings a table into the scope")
    return EventsAsked(EventRange(event_range.begin, rows[-1].position, rows), cut_by=first)


def _unbounded(order: DumpOrder, why: str) -> InvalidSettings:
    return InvalidSettings(
        f"{why}, which is dumped as it is at the newest event",
        found=_bound_of(order),
        expected="neither TO nor LIMIT, because this event is the first one",
        next_step="leave TO and LIMIT out of this one statement",
    )


def _bound_of(order: DumpOrder) -> str:
    return f"TO {order.to_event}" if order.to_event is not None else f"LIMIT {order.limit}"


def _write(
    ports: SourcePorts, order: DumpOrder, event_range: EventRange, whole: tuple[str, ...]
) -> Dump | frozenset[str]:
    """Write the dump; return tables that have to come whole too when it has to be written again."""
    stream = EventStream(ports, order.policy)
    window = WindowWriter.begin(stream, event_range, replica=None, has_files=not order.metadata_only)
    with being_written(ports.dump_files, window.attempt):
        if whole:
            window = window.with_whole_tables(whole)
            _refuse_unusable(window)
        again = _write_events(ports, order, window)
        if again is not None:
            discard_dump(ports.dump_files, window.attempt.directory)
            return again
        manifest = window.with_files().manifest(dumped_database(ports.source, order.policy.source))
    return window.publish(manifest)


def _refuse_unusable(window: WindowWriter) -> None:
    """Refuse tables that cannot be read whole, whatever the policy says: no replica is known to freeze them on."""
    for table, why in window.unusable.items():
        raise ActNow(
            f"table {table} cannot be dumped as it is",
            found=why,
            expected="a table that can be read, with its files on the source's file system",
            next_step=Exclude(table) + ", or correct it in Hive; then " + Again(),
        )


def _write_events(ports: SourcePorts, order: DumpOrder, window: WindowWriter) -> frozenset[str] | None:
    """Write the events; return tables that have to come whole too, None where the dump can stay as it is.

    It cannot when files of whole tables were gone before their checksums were read, when the events up to which those
    were read have brought other tables into the scope, and when nothing tells any more what a table held.
    """
    if window.read:
        come_in = _come_in(ports.source, order, window.event_range) - set(window.read)
        if come_in or seal_batches(ports, window.attempt, window.snapshots, window.event_range.end.event_id):
            return come_in
    found = window.write_events()
    untold = found.untold
    for table, away in found.away.items():
        raise _nobody_lists(table, away, ports.source_files.root)
    if untold and order.is_bounded:
        first = min(untold.values())
        raise _unbounded(order, f"the files of event {first} are gone, so that it needs its whole table")
    return frozenset(untold) or None


def _nobody_lists(table: str, away: Away, root: str) -> ActNow:
    return ActNow(
        f"event {away.event_id} puts partition {away.partition} of table {table} on another file system",
        found=away.location,
        expected=f"a directory of {root}",
        next_step="bring its files back and set its location there, or leave the table out of the statement; then "
        + Again(),
    )


def _come_in(source: MetastoreReader, order: DumpOrder, event_range: EventRange) -> frozenset[str]:
    events = [decode_event(row) for row in event_range.rows]
    return frozenset({*newly_included(source, order, events), *renamed_in(order.policy, events)})


def _say(report: Report, order: DumpOrder, cut_by: int | None, dump: Dump) -> None:
    manifest, end = dump.manifest, dump.manifest.end.event_id
    report(f"events after {manifest.begin.event_id} up to {end}: {manifest.events} of this scope")
    if cut_by is not None:
        report(f"event {cut_by} brings a table into the scope: the dump ends before it, at event {end}")
    elif order.to_event is not None and order.to_event > end and order.limit is None:
        report(f"TO {order.to_event} is newer than the newest event: the dump ends at event {end}")
    if manifest.window.snapshots:
        report(f"dumped whole, as they are at event {end}: {', '.join(manifest.window.snapshots)}")
