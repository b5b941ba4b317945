"""The parts of the stage `window` that plan a new one: read the log, then write its dump. With a window that was
taken up, or with nothing in the log, they have nothing to do.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import wraps

from twinhive.core.model.errors import Missing, TryAgain
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Database
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import dumps_of
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.publishing import attempts_of, being_written
from twinhive.replication.incremental.bounded_window import beside_copies
from twinhive.replication.incremental.full_resync import range_without_events, read_database, request_all_tables
from twinhive.replication.incremental.resync_snapshots import first_tables
from twinhive.replication.incremental.tables_elsewhere import tables_elsewhere
from twinhive.replication.incremental.tables_to_resync import request_whole_tables
from twinhive.replication.incremental.window_requests import freeze_requested
from twinhive.replication.incremental.window_stage import WindowDraft, WindowStage
from twinhive.replication.incremental.window_writer import WindowWriter
from twinhive.replication.notification_log.event_stream import NextEventRange, drop_saved_events, window_after
from twinhive.replication.operator_requests.request_files import everything_requested, request_table, table_is_done
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.unusable_tables import why_it_waits

# So many events outside the scope are passed over, or so long, before it is worth a task to say so on the replica.
_SILENT_EVENTS = 500
_SILENT_SECONDS = 3600
_KEPT_WINDOWS = 2


def read_log(run: WindowStage) -> WindowStage:
    """Read the events after the replica's position, and ask for the tables that they do not tell enough of.

    A range in which nothing is to be done makes no window, unless it is much. Where everything is asked for, what the
    events before the newest one have done is found by comparing.
    """
    if run.dump is not None:
        return run
    ports, policy, stream = run.ports, run.policy, run.stream
    everything = everything_requested(ports.replica_files, policy)
    if everything:
        found = NextEventRange(range_without_events(ports, run.state), is_cut=False)
        request_all_tables(ports, policy, run.state)
    else:
        found = window_after(ports, beside_copies(ports, policy), run.state.position, stream.skipped)
    event_range = found.event_range
    whole = request_whole_tables(ports, policy, run.state, event_range.rows)
    waits = tables_elsewhere(ports, policy, whole, run.work.report)
    passes_much = _passes_much(run, event_range, stream.skipped)
    if not event_range.rows and waits.keys() == set(whole) and not everything and not passes_much:
        return run
    window = WindowWriter.begin(stream, event_range, ports.replica)
    return replace(run, draft=WindowDraft(window, found.is_cut, everything, whole, waits=waits))


def _of_draft(part: Callable[[WindowStage, WindowDraft], WindowStage]) -> Callable[[WindowStage], WindowStage]:
    """Do a part where a window is being planned. It raises TryAgain when another run has removed the attempt."""

    @wraps(part)
    def done(run: WindowStage) -> WindowStage:
        if run.draft is None:
            return run
        with being_written(run.ports.dump_files, run.draft.window.attempt):
            return part(run, run.draft)

    return done


@_of_draft
def read_whole_tables(run: WindowStage, draft: WindowDraft) -> WindowStage:
    """Read the tables that have to come whole, with the events that come meanwhile: a source need not rest for that.

    A range that was cut ends before the newest event, so that nothing can be read as it was at its end.
    """
    wanted = [table for table in draft.whole if table not in draft.waits]
    if draft.is_cut or not (wanted or draft.everything):
        return run
    database = read_database(run.ports, run.policy) if draft.everything else None
    window = draft.window.with_whole_tables(first_tables(run.ports, run.policy, wanted))
    event_range = window.event_range
    database = database.after(event_range) if database else None
    rows = tuple(row for row in event_range.rows if row.event_id not in window.stream.skipped)
    # What has come meanwhile may say of other tables that they have to come whole.
    whole = request_whole_tables(run.ports, run.policy, run.state, rows)
    window = replace(window, event_range=replace(event_range, rows=rows))
    return run.drafted(window=window, whole=whole, database=database)


@_of_draft
def freeze_requested_tables(run: WindowStage, draft: WindowDraft) -> WindowStage:
    """Freeze, under the lease, the tables that have to come whole with a later window: events do not reach them.

    One of which nothing can be brought over now is asked for again by a person who has mended it.
    """
    unusable = draft.window.unusable
    run = _frozen(run, draft.window, {*draft.whole, *unusable}, {**draft.waits, **unusable})
    for table, why in unusable.items():
        run.work.report(f"WAITS: {table}: {why}")
        table_is_done(run.ports.replica_files, run.policy, table)
    return run


@_of_draft
def write_events(run: WindowStage, draft: WindowDraft) -> WindowStage:
    """Write the events, with the files that they do not name.

    Of what neither the log nor a directory tells any more the table has to come whole: it is asked for, and frozen.
    """
    ports, policy = run.ports, run.policy
    found = draft.window.write_events()
    untold, root = found.untold, ports.source_files.root
    waits = {
        table: f"since event {one.event_id} {why_it_waits(policy, table, one.partition, one.location, root)}"
        for table, one in found.away.items()
    }
    for table, why in waits.items():
        run.work.report(f"WAITS: {table}: {why}")
    run = _frozen(run, draft.window, waits, waits) if waits else run
    for table, event_id in untold.items():
        request_table(ports.replica_files, policy, table, f"event {event_id} changed more than it says", event_id)
    if not untold:
        return run
    # What a rename links to one of these is one with it: the request is for both.
    whole = request_whole_tables(ports, policy, run.state, draft.window.event_range.rows)
    return _frozen(run, run.draft.window if run.draft else draft.window, whole)


def _frozen(
    run: WindowStage, window: WindowWriter, whole: Collection[str], why: Mapping[str, str] | None = None
) -> WindowStage:
    frozen = freeze_requested(run.ports, run.work, [table for table in whole if table not in window.passed_over], why)
    return run.drafted(window=replace(window, passed_over=window.passed_over | frozen))


@_of_draft
def list_window_files(run: WindowStage, draft: WindowDraft) -> WindowStage:
    """List the files that the events need copied, and find the changes of columns that partitions followed."""
    return run.drafted(window=draft.window.with_files())


@_of_draft
def remove_old_windows(run: WindowStage, draft: WindowDraft) -> WindowStage:
    """Remove windows and saved events that are applied, but the newest windows, and attempts that were cut off."""
    files, policy = run.ports.dump_files, run.policy
    windows = dumps_of(files, policy, DumpKind.INCREMENTAL)
    applied = [layout for layout in windows if layout.bounds[1] <= run.position]
    for layout in applied[:-_KEPT_WINDOWS] + attempts_of(files, policy):
        if layout.name != draft.window.attempt.name:
            discard_dump(files, layout.directory)
    drop_saved_events(files, policy, run.position)
    return run


@_of_draft
def publish_window(run: WindowStage, draft: WindowDraft) -> WindowStage:
    """Describe the window, and give it its name: from now on it is fixed.

    Raises TryAgain when the replica is not any more where the window begins: what it would resync has come.
    """
    policy, window = run.policy, draft.window
    if (now := state_now(run.ports, policy).position.event_id) != run.position:
        raise TryAgain(
            f"another run of policy {policy.name} has applied events while this one cut its window",
            found=f"the replica is at event {now}",
            expected=f"event {run.position}, after which the window begins",
            next_step=RETRIES,
        )
    all_of = draft.database
    database, functions = (all_of.database, all_of.functions) if all_of else (_database(run), ())
    dump = window.publish(window.manifest(database, everything=draft.everything, functions=functions))
    begin, end = dump.layout.bounds
    run.work.report(f"window ({begin}, {end}]: {dump.manifest.events} events in scope, {window.files} files")
    return replace(run, dump=dump)


def _passes_much(run: WindowStage, event_range: EventRange, skipped: Collection[int]) -> bool:
    """True for events that are worth a window though none is applied: many of them, one that a person has skipped,
    or some behind a position that the log would outgrow.

    A position that stays where it is falls out of the log, though none of its events was lost. Where our clock is
    behind the log's, the log's counts.
    """
    passed = event_range.end.event_id - event_range.begin.event_id
    since = max(run.clock(), event_range.end.time) - event_range.begin.time
    if any(event_range.begin.event_id < event_id <= event_range.end.event_id for event_id in skipped):
        return True
    return passed >= _SILENT_EVENTS or (passed > 0 and since >= _SILENT_SECONDS)


def _database(run: WindowStage) -> Database:
    ports, policy = run.ports, run.policy
    database = ports.source.database(policy.source.database) or ports.replica.database(policy.replica.database)
    if database is None:
        raise Missing(
            f"database {policy.source} is gone, and its replica too",
            found="neither database",
            expected="at least the replica",
            next_step=f"start the DAG {policy.name}.bootstrap, or remove the policy file if nobody needs it",
        )
    return database
