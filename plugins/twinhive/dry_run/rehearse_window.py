"""Rehearse one run of the event lane: cut a window that is only pretended, and say what its events would change."""

from collections import defaultdict

from twinhive.apply.lane import why_not_replicated
from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.rehearsing import Rehearsing
from twinhive.dump.shards import unpack_lines
from twinhive.dump.store import Dump
from twinhive.external.publish_pending import ready_tables
from twinhive.incremental.beside_whole import beside_whole
from twinhive.incremental.window import Window
from twinhive.log.told_events import told_events
from twinhive.model.changes.effects import effects_of
from twinhive.model.changes.facts import tables_of
from twinhive.model.changes.kinds import Event
from twinhive.model.frozen import frozen_tables
from twinhive.model.marks import ReplicaState
from twinhive.requests.wishes import skipped_events
from twinhive.transfer.staged.staged import CopyItem, remaining

Changes = dict[tuple[str, str], list[str]]
"""Names of what is changed, by verb and kind of object."""

_FROZEN = ("hold back", "events of quarantined tables")
_PASSED = ("pass over", "events")


def rehearse_incremental(rehearsing: Rehearsing) -> PhasePlan:
    """Cut the next window, or take up the one that was begun; while the replica is loaded, see what would be saved."""
    ports = rehearsing.ports
    window = Window(rehearsing.work(policy=rehearsing.copying_nothing))
    state = window.following(ports)
    if state is None:
        return rehearsing.plan(nothing=rehearsing.said[-1])
    ready = PlanSection.of("publish", "external tables whose data has come", ready_tables(ports, rehearsing.policy))
    dump = window.begun_or_cut(ports, state)
    if dump is None:
        at = f"the replica is at event {state.position.event_id}, and nothing in its scope came after it"
        return rehearsing.plan(nothing=None if ready.count else at, sections=[ready])
    return _of_window(rehearsing, dump, state, ready)


def _of_window(rehearsing: Rehearsing, dump: Dump, state: ReplicaState, ready: PlanSection) -> PhasePlan:
    events = [event for event in _events(rehearsing, dump) if event.event_id > state.position.event_id]
    changes = _changes(rehearsing, dump, events)
    copied = _copied(rehearsing, dump, state.position.event_id)
    whole = PlanSection.of("replace", "tables as a whole", dump.manifest.snapshots)
    touched = (name for event in events for name in tables_of(event.change))
    tables = rehearsing.policy.followed(touched) | set(dump.manifest.snapshots)
    partitions = sum(len(names) for (_, what), names in changes.items() if what == "partitions")
    return rehearsing.plan(
        tables=len(tables),
        partitions=partitions,
        files=copied.files,
        bytes=copied.bytes,
        events=len(events),
        sections=[copied, *(PlanSection.of(*key, names) for key, names in changes.items()), whole, ready],
    )


def _events(rehearsing: Rehearsing, dump: Dump) -> list[Event]:
    return list(told_events(rehearsing.ports.dump_files, dump.layout))


def _copied(rehearsing: Rehearsing, dump: Dump, position: int) -> PlanSection:
    """Count the files of events after the position; of one that is only in the change manager no length is known."""
    files = rehearsing.ports.dump_files
    waiting: list[CopyItem] = []
    for batch in dump.manifest.batches:
        items = map(CopyItem.from_line, unpack_lines(files.read(dump.layout.files(batch.name))))
        waiting += remaining(items, position)
    names = dict.fromkeys(item.table for item in waiting)
    length = sum(item.length for item in waiting)
    return PlanSection.of("copy", "files of tables", names, files=len(waiting), length=length)


def _changes(rehearsing: Rehearsing, dump: Dump, events: list[Event]) -> Changes:
    policy, ports = rehearsing.policy, rehearsing.ports
    database = ports.replica.database(policy.replica.database)
    frozen = frozen_tables(database.parameters if database else {}).keys() - set(dump.manifest.snapshots)
    skipped = skipped_events(ports.replica_files, policy)
    changes: Changes = defaultdict(list)
    for event in filter(None, (beside_whole(policy, event, dump.manifest.snapshots) for event in events)):
        if reason := why_not_replicated(policy, event, skipped):
            changes[_PASSED].append(reason)
        elif frozen & policy.followed(tables_of(event.change)):
            changes[_FROZEN].append(str(event))
        else:
            for verb, what, name in effects_of(policy, event):
                changes[verb, what].append(name)
    return changes
