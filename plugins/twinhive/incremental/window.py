"""Cut the next window of events, or take up the one that was begun; while loading, only save events.

A window is fixed once it is written: a rerun works with the same events, files and batches, whatever
the source has done since.
"""

import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from twinhive.apply.compaction import segments
from twinhive.bootstrap.small_copies import left_for_spark
from twinhive.dump.claiming import discard_dump
from twinhive.dump.cleaning import clean_staging
from twinhive.dump.event_range import EventRange
from twinhive.dump.layout import DumpKind, DumpLayout
from twinhive.dump.manifest import DumpManifest
from twinhive.dump.store import (
    Dump,
    attempts_of,
    begin_attempt,
    being_written,
    dumps_of,
    newest_dump,
    publish_dump,
    window_at,
)
from twinhive.dump.unnamed_store import write_unnamed
from twinhive.events.decoder import decode_event
from twinhive.external.publish_pending import publish_between_windows
from twinhive.incremental.bounded_window import beside_copies
from twinhive.incremental.requests import freeze_requested, reason_to_plan_again
from twinhive.incremental.snapshots import write_snapshots
from twinhive.incremental.whole_tables import refuse_another_base, remove_fulfilled, request_whole_tables
from twinhive.incremental.window_files import event_items, write_event_batches
from twinhive.log.cascade_memory import followed_in_window
from twinhive.log.event_stream import EventStream, drop_saved_events, saved_events_end, saved_events_path, window_after
from twinhive.log.moved_partitions import places_on_replica
from twinhive.log.told_events import told_events
from twinhive.log.unnamed_files import find_unnamed
from twinhive.model.batches import Batch
from twinhive.model.changes.kinds import Event
from twinhive.model.errors import Missing
from twinhive.model.marks import Phase, ReplicaState
from twinhive.model.policy import WINDOW_END, Policy
from twinhive.ports import ReadPorts, WritePorts
from twinhive.replica.replica_state import read_state
from twinhive.requests.request_files import is_paused, remove_passed_skips, request_table, with_way_on
from twinhive.step.base import Work

# So many events outside the scope are passed over, or so long, before it is worth a task to say so on the replica.
_SILENT_EVENTS = 500
_SILENT_SECONDS = 3600
_KEPT_WINDOWS = 2


@dataclass(frozen=True)
class WindowCut:
    """What an incremental run works on: the window's dump and the batches that Spark copies.

    `idle` says that there is nothing to apply.
    """

    dump: str = ""
    batches: tuple[Batch, ...] = ()
    idle: bool = True
    events: int = 0
    begin: int = 0
    end: int = 0
    already: str | None = None


@dataclass(frozen=True)
class Window:
    """Cut, resume or save events."""

    work: Work
    clock: Callable[[], float] = time.time

    def run(self, ports: WritePorts) -> WindowCut:
        """Return what is to be copied and applied. A small window is copied here, without Spark."""
        policy = self.work.policy
        state = self.following(ports)
        if state is None:
            return WindowCut()
        dump = self.begun_or_cut(ports, state)
        if dump is None:
            publish_between_windows(self.work, ports, ports.source.log_id())
            clean_staging(ports.replica_files, policy, state.position.event_id)
            self.work.report(f"nothing to do: the replica is at event {state.position.event_id}")
            return WindowCut(begin=state.position.event_id, end=state.position.event_id)
        return self._cut_of(ports, dump)

    def following(self, ports: WritePorts) -> ReplicaState | None:
        """Return the state of a replica that takes events now, None for a paused one, and one that is being loaded.

        For the latter, events are saved from expiring.
        """
        policy = self.work.policy
        if reason := is_paused(ports.replica_files, policy):
            self.work.report("paused: " + with_way_on(policy, reason))
            return None
        state = read_state(ports.replica, policy, ports.source.log_id())
        if state.phase is not Phase.FOLLOWING:
            self._save_events(ports)
            return None
        return state

    def begun_or_cut(self, ports: WritePorts, state: ReplicaState) -> Dump | None:
        """Return the window after the replica's position, None when there is nothing to apply."""
        policy = self.work.policy
        refuse_another_base(policy, state)
        remove_passed_skips(ports.replica_files, policy, state.position.event_id)
        remove_fulfilled(ports, policy, state)
        return self._begun(ports, state) or self._cut(ports, state)

    def _begun(self, ports: WritePorts, state: ReplicaState) -> Dump | None:
        """Return the window that was begun, None when there is none, or one that is to be planned again."""
        policy, report = self.work.policy, self.work.report
        dump = window_at(ports.dump_files, policy, state.position.event_id)
        if dump is None:
            return None
        if reason := reason_to_plan_again(ports, policy, dump):
            discard_dump(ports.dump_files, dump.layout.directory)
            report(f"window {dump.key} is planned again: {reason}")
            return None
        report(f"window {dump.key} is taken up again at event {state.position.event_id}")
        return dump

    def _cut_of(self, ports: WritePorts, dump: Dump) -> WindowCut:
        waiting = left_for_spark(self.work, ports, dump, dump.manifest.batches)
        manifest = dump.manifest
        return WindowCut(
            dump.key,
            waiting,
            idle=False,
            events=manifest.events,
            begin=manifest.begin.event_id,
            end=manifest.end.event_id,
        )

    def _save_events(self, ports: WritePorts) -> None:
        """Copy what the log holds in scope beside the dump that is being loaded."""
        policy = self.work.policy
        dump = newest_dump(ports.dump_files, policy)
        if dump is None:
            self.work.report(f"no replica yet, and no dump: start the DAG {policy.name}.bootstrap")
            return
        end, events = saved_events_end(ports.dump_files, policy, dump.manifest.end), 0
        for event_range in EventStream.of(ports, policy).event_ranges_after(end):
            ports.dump_files.write(saved_events_path(policy, event_range), event_range.pack())
            end, events = event_range.end, events + len(event_range.rows)
        self.work.report(f"the replica is being loaded: {events} events saved, up to event {end.event_id}")

    def _cut(self, ports: WritePorts, state: ReplicaState) -> Dump | None:
        policy, log_id = self.work.policy, ports.source.log_id()
        stream = EventStream.of(ports, policy)
        found = window_after(ports, beside_copies(ports, policy), state.position, stream.skipped)
        event_range = found.event_range
        wanted = request_whole_tables(ports, policy, state, event_range.rows)
        if not event_range.rows and not wanted and not self._passes_much(event_range, stream.skipped):
            return None
        token = uuid.uuid4().hex
        attempt = begin_attempt(ports.dump_files, policy, token)
        taken: tuple[str, ...] = ()
        snapshots: tuple[Batch, ...] = ()
        with being_written(ports.dump_files, attempt):
            # What comes after a window that was not cut is read with the tables: a source need not rest for that.
            if wanted and not found.is_cut:
                event_range, snapshots, taken = write_snapshots(stream, attempt, event_range, wanted)
                event_range = replace(
                    event_range, rows=tuple(r for r in event_range.rows if r.event_id not in stream.skipped)
                )
                # What has come meanwhile may say of other tables that they have to come whole.
                wanted = request_whole_tables(ports, policy, state, event_range.rows)
            frozen = freeze_requested(ports, self.work, [table for table in wanted if table not in taken])
            aside = self._write_events(ports, state, attempt, event_range, {*taken, *frozen})
            events = list(told_events(ports.dump_files, attempt))
            items = list(event_items(ports, policy, _shown(policy, events), aside, event_range.end))
            batches = write_event_batches(ports, policy, attempt, items, event_range.end)
            manifest = self._manifest(ports, token, log_id, event_range, (*batches, *snapshots))
            cascades = followed_in_window(ports, stream, event_range, events, log_id)
            manifest = replace(manifest, cascades=cascades, snapshots=taken)
            begin, end = event_range.begin.event_id, event_range.end.event_id
            self._remove_old(ports, state.position.event_id, attempt)
        dump = publish_dump(
            ports.dump_files, attempt, DumpLayout.of(policy.dumps, DumpKind.INCREMENTAL, begin, end), manifest
        )
        self.work.report(f"window ({begin}, {end}]: {len(events)} events in scope, {len(items)} files")
        return dump

    def _write_events(
        self, ports: WritePorts, state: ReplicaState, attempt: DumpLayout, event_range: EventRange, aside: set[str]
    ) -> frozenset[str]:
        """Write the events, with files that they do not name; return the tables that are not applied.

        What neither the log nor a directory tells any more has to come whole.
        """
        policy, files, stream = self.work.policy, ports.dump_files, EventStream.of(ports, self.work.policy)
        events = [decode_event(row) for row in event_range.rows]
        found = find_unnamed(stream, events, event_range.end, places_on_replica(ports.replica, policy), aside)
        files.write(attempt.events, event_range.pack())
        write_unnamed(files, attempt, found.unnamed)
        for table, event_id in found.untold.items():
            request_table(ports.replica_files, policy, table, f"event {event_id} changed more than it says", event_id)
        # What a rename links to one of these is one with it: the request is for both.
        wanted = request_whole_tables(ports, policy, state, event_range.rows) if found.untold else ()
        frozen = freeze_requested(ports, self.work, [table for table in wanted if table not in aside]) if wanted else ()
        return frozenset({*aside, *frozen})

    def _passes_much(self, event_range: EventRange, skipped: Collection[int]) -> bool:
        """True for events that are worth a window though none is applied: many of them, one that a person has skipped,
        or some behind a position that the log would outgrow.

        A position that stays where it is falls out of the log, though none of its events was lost. Where our clock is
        behind the log's, the log's counts.
        """
        passed = event_range.end.event_id - event_range.begin.event_id
        since = max(self.clock(), event_range.end.time) - event_range.begin.time
        if any(event_range.begin.event_id < event_id <= event_range.end.event_id for event_id in skipped):
            return True
        return passed >= _SILENT_EVENTS or (passed > 0 and since >= _SILENT_SECONDS)

    def _manifest(
        self, ports: ReadPorts, token: str, log_id: str, event_range: EventRange, batches: tuple[Batch, ...]
    ) -> DumpManifest:
        policy = self.work.policy
        database = ports.source.database(policy.source.database) or ports.replica.database(policy.replica.database)
        if database is None:
            raise Missing(
                f"database {policy.source} is gone, and its replica too",
                found="neither database",
                expected="at least the replica",
                next_step=f"start the DAG {policy.name}.bootstrap, or remove the policy file if nobody needs it",
            )
        return DumpManifest.of_window(policy, log_id, token, database, event_range, batches)

    def _remove_old(self, ports: WritePorts, position: int, keep: DumpLayout) -> None:
        """Remove windows that are applied, but the newest, and attempts that were cut off."""
        policy = self.work.policy
        applied = [
            layout
            for layout in dumps_of(ports.dump_files, policy, DumpKind.INCREMENTAL)
            if layout.bounds[1] <= position
        ]
        for layout in applied[:-_KEPT_WINDOWS] + attempts_of(ports.dump_files, policy):
            if layout.name != keep.name:
                discard_dump(ports.dump_files, layout.directory)
        drop_saved_events(ports.dump_files, policy, position)


def _shown(policy: Policy, events: list[Event]) -> list[Event]:
    """Return the events whose effect readers will see: files of those that later ones cancel are not copied."""
    if policy.options.consistency != WINDOW_END:
        return events
    return [event for left, _ in segments(events) for event in left]
