"""The parts of the stage `window` around the planning of a window: what begins, takes up and ends it.

A window is fixed once it is written: a rerun works with the same events, files and batches, whatever
the source has done since.
"""

from dataclasses import replace

from twinhive.core.model.marks import Phase
from twinhive.core.model.next_steps import command
from twinhive.core.model.text import render
from twinhive.core.step.deferred_work import left_after_last_try
from twinhive.replication.bootstrap.small_copies import left_for_spark
from twinhive.replication.dump.dump_ownership import discard_dump
from twinhive.replication.dump.dump_store import newest_dump, newest_dump_begun, planned_in_this_run, window_at
from twinhive.replication.dump.staging_cleanup import NOT_CLEANED, clean_staging
from twinhive.replication.external_tables.publish_pending import publish_between_windows
from twinhive.replication.incremental.kept_windows import keep_window
from twinhive.replication.incremental.scope_check import refuse_another_scope
from twinhive.replication.incremental.tables_to_resync import refuse_another_base, remove_fulfilled
from twinhive.replication.incremental.window_requests import reason_to_plan_again
from twinhive.replication.incremental.window_stage import WindowCut, WindowStage
from twinhive.replication.notification_log.event_stream import saved_events_end, saved_events_path
from twinhive.replication.notification_log.skipped_events import skips_of_others
from twinhive.replication.operator_requests.request_files import is_paused, remove_passed_skips, with_way_on
from twinhive.replication.replica.replica_state import state_now


def stop_when_paused(run: WindowStage) -> WindowStage:
    """End the run of a policy that a person has paused."""
    reason = is_paused(run.ports.replica_files, run.policy)
    if reason is None:
        return run
    paused = "paused: " + with_way_on(run.policy, reason)
    run.work.report(paused)
    return replace(run, result=WindowCut(already=render(paused)))


def save_events_while_loading(run: WindowStage) -> WindowStage:
    """While the replica is being loaded, save what the log holds in scope from expiring, beside the dump; then end.

    Raises UnreadableDump where a load has begun of one that this version does not read: no events are saved then.
    """
    ports, policy, report = run.ports, run.policy, run.work.report
    state = state_now(ports, policy)
    if state.phase is Phase.FOLLOWING:
        return replace(run, following=state)
    # Where a load has begun, a dump of another version is there too: its events expire if nobody saves them.
    find = newest_dump_begun if state.phase is Phase.LOADING else newest_dump
    dump = find(ports.dump_files, policy)
    if dump is None:
        nothing = f"no replica yet, and no dump: start the DAG {policy.name}.bootstrap"
        report(nothing)
        return replace(run, result=WindowCut(already=nothing))
    end, events = saved_events_end(ports.dump_files, policy, dump.manifest.end), 0
    for event_range in run.stream.event_ranges_after(end):
        ports.dump_files.write(saved_events_path(policy, event_range), event_range.pack())
        end, events = event_range.end, events + len(event_range.rows)
    saved = f"the replica is being loaded: {events} events saved, up to event {end.event_id}"
    report(saved)
    return replace(run, result=WindowCut(already=saved))


def remove_answered_requests(run: WindowStage) -> WindowStage:
    """Remove what people have asked for and the replica shows. Raises ActNow for another base directory or scope."""
    refuse_another_scope(run.policy, run.state)
    refuse_another_base(run.policy, run.state)
    remove_passed_skips(run.ports.replica_files, run.policy, run.position)
    for event_id in skips_of_others(run.ports, run.policy):
        run.work.report(
            f"event {event_id} is not passed over: it is not the one that was asked for (a source that was restored "
            "from a backup gives the numbers again); if it is to be passed over too: "
            + command("twinhive", "skip-event", run.policy.name, str(event_id), "--reason", "...")
        )
    remove_fulfilled(run.ports, run.policy, run.state)
    return run


def take_up_window(run: WindowStage) -> WindowStage:
    """Go on with the window that was begun, unless it has to be planned again for what was asked for since."""
    ports, policy, report = run.ports, run.policy, run.work.report
    dump = window_at(ports.dump_files, policy, run.position)
    if dump is None:
        return run
    if reason := reason_to_plan_again(ports, policy, dump):
        discard_dump(ports.dump_files, dump.layout.directory)
        report(f"window {dump.key} is planned again: {reason}")
        return run
    report(f"window {dump.key} is taken up again at event {run.position}")
    return replace(run, dump=dump)


def publish_waiting_tables(run: WindowStage) -> WindowStage:
    """Publish external tables whose data has come, under the lease, where no window is applied that would do it."""
    if run.dump is None:
        publish_between_windows(run.work, run.ports, run.ports.source.log_id())
    return run


def clean_up_between_windows(run: WindowStage) -> WindowStage:
    """Remove from staging what is not needed any more, where no window is applied that would do it; then end."""
    if run.dump is not None:
        return run
    with left_after_last_try(run.work, NOT_CLEANED):
        clean_staging(run.ports.replica_files, run.policy, run.position)
    run.work.report(f"nothing to do: the replica is at event {run.position}")
    nothing = f"the replica is at event {run.position}, and nothing in its scope came after it"
    return replace(run, result=WindowCut(begin=run.position, end=run.position, already=nothing))


def keep_for_salvage(run: WindowStage) -> WindowStage:
    """Keep the window where the replica is: what is copied of it can be applied without its source."""
    assert run.dump is not None, "without a window the run has ended"
    with planned_in_this_run(run.ports.dump_files, run.policy, run.dump.key):
        keep_window(run.ports, run.policy, run.dump)
    return run


def copy_small_batches(run: WindowStage) -> WindowStage:
    """Copy a small window here, without Spark; return what the stages after this one work on."""
    assert run.dump is not None, "without a window the run has ended"
    manifest = run.dump.manifest
    waiting = left_for_spark(run.work, run.ports, run.dump, manifest.batches)
    cut = WindowCut(
        run.dump.key,
        waiting,
        idle=False,
        events=manifest.events,
        begin=manifest.begin.event_id,
        end=manifest.end.event_id,
    )
    return replace(run, result=cut)
