"""Turn what steps return into rows of the journal and into metrics."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import singledispatchmethod
from typing import Any

from twinhive.core.model.files import Usage
from twinhive.core.ports import WritePorts
from twinhive.federation.placement.list_copies import CopiesListed
from twinhive.federation.placement.publish_copies import CopiesPublished
from twinhive.operations.journal.records import BatchRun, Outcome, RecordedTable, WindowRun
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring.inventory import InventoryEntry, read_tables
from twinhive.operations.monitoring.lag import measure
from twinhive.operations.monitoring.monitored_policy import Follower
from twinhive.operations.monitoring.run_facts import BatchCopied, copies_of, facts_of, synced_tables, touched_tables
from twinhive.replication.bootstrap.consolidation_round import Folded
from twinhive.replication.bootstrap.copy_batch import Copied
from twinhive.replication.bootstrap.gate import GateOpen
from twinhive.replication.bootstrap.list_objects import ObjectsListed
from twinhive.replication.bootstrap.load import Loaded
from twinhive.replication.bootstrap.preflight import Checked
from twinhive.replication.external_tables.check_base import BaseChecked
from twinhive.replication.external_tables.list_external import ExternalListed
from twinhive.replication.external_tables.sync_external import ExternalSynced
from twinhive.replication.incremental.apply_stage import WindowApplied
from twinhive.replication.incremental.window_stage import WindowCut
from twinhive.replication.notification_log.list_files import FilesListed
from twinhive.replication.scan.scan import Scanned
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.runtime.pipeline.phases import phases_before
from twinhive.runtime.wiring.lag_wiring import limits_of
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.monitor import metrics
from twinhive.surfaces.airflow.monitor.recorded_copies import seen_copies
from twinhive.surfaces.airflow.monitor.recorded_lags import record_lags
from twinhive.surfaces.airflow.monitor.recorded_proofs import proof_of, readiness_lines
from twinhive.surfaces.airflow.monitor.recorded_sets import record_sets
from twinhive.transfer.staged.job import CopyJob

_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class TaskPlace:
    """Which try of which task it is, when it began, and the batch that it works on ('' keys are absent).

    `copies` is true for a stage that moves files of tables."""

    policy: str
    phase: str
    stage: str
    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    try_number: int
    batch: Mapping[str, str]
    began: float
    is_last_try: bool = False
    copies: bool = False


def copied_batch(
    place: TaskPlace, task: Mapping[str, str], outcome: Outcome, copied: BatchCopied | None = None
) -> BatchRun:
    """Return what the journal keeps of the copy of one batch: `task` says which, `copied` what it has moved."""
    return BatchRun(
        policy=place.policy,
        dump=task["dump"],
        batch=task["name"],
        label=task["label"],
        dag_id=place.dag_id,
        run_id=place.run_id,
        task_id=place.task_id,
        map_index=place.map_index,
        ended=time.time(),
        seconds=copied.seconds if copied else time.time() - place.began,
        files=copied.files if copied else 0,
        bytes=copied.bytes if copied else 0,
        outcome=outcome,
    )


@dataclass(frozen=True)
class Recorder:
    """Record the success of one task. An idle task writes nothing, unless it makes up for a failure."""

    place: TaskPlace
    journal: Journal
    wiring: Wiring
    ports: WritePorts
    sizes: Mapping[str, Usage]

    @singledispatchmethod
    def note(self, result: Any) -> None:
        """Record a step's result."""
        raise TypeError(f"{type(result).__name__}: nobody has said what is recorded of it")

    @note.register
    def _(self, result: Checked | FilesListed | BaseChecked | Copied | None) -> None:
        """Of these there is nothing to say: what follows in their run says it."""

    @note.register
    def _(self, found: Verified) -> None:
        if found.already is None:
            ready = readiness_lines(self.ports, self.wiring.policy)
            self.journal.replica_verified(proof_of(self.place.policy, found, ready))

    @note.register
    def _(self, listed: ObjectsListed) -> None:
        if not listed.already:
            self._begin(listed.dump)

    @note.register
    def _(self, folded: Folded) -> None:
        if folded.already:
            return
        for phase in phases_before(self.place.phase):
            self.journal.end_windows(self.place.policy, phase)
        self._begin(folded.dump, folded.events)
        self._copied_here(folded)

    @note.register
    def _(self, gate: GateOpen) -> None:
        if gate.another_round:
            self.journal.end_windows(self.place.policy, self.place.phase)

    @note.register
    def _(self, loaded: Loaded) -> None:
        for phase in (*phases_before(self.place.phase), self.place.phase):
            self.journal.end_windows(self.place.policy, phase)
            self.journal.resolve_all(f"{self.place.policy}.{phase}")
        if not loaded.already:
            self._all_tables()
            self._lag()

    @note.register
    def _(self, cut: WindowCut) -> None:
        if cut.idle and cut.end:
            # At the end of the log whatever failed before is made up for.
            self.journal.resolve_all(self.place.dag_id)
        elif not cut.idle:
            self._begin(cut.dump)
            self._copied_here(cut)
        self._sets()

    @note.register
    def _(self, applied: WindowApplied) -> None:
        self.journal.end_windows(self.place.policy, self.place.phase)
        self.journal.resolve_all(self.place.dag_id)
        metrics.applied(self.place.policy, self.place.phase, applied.events)
        if not applied.already:
            self._some_tables(applied.event_id)
            self._lag()
        self._sets()

    @note.register
    def _(self, listed: ExternalListed) -> None:
        if not listed.idle:
            window = self._window(listed.dump, batches=len(listed.batches))
            self.journal.record_window(window)
            self.journal.tables_sized(self.place.policy, listed.sizes)
            self.journal.resolve_older_copies(self.place.dag_id, self.place.run_id)

    @note.register
    def _(self, synced: ExternalSynced) -> None:
        if synced.idle:
            return
        task = self.place.batch
        seconds = time.time() - self.place.began
        self._batch(BatchCopied(task["name"], task["label"], synced.files, synced.bytes, seconds), task["dump"])
        tables = synced_tables(self.ports, self.wiring.policy, task["dump"], task["name"])
        self.journal.tables_synced(self.place.policy, tables, time.time())
        self.journal.end_copied_windows(self.place.policy, self.place.phase)

    @note.register
    def _(self, job: CopyJob) -> None:
        task = self.place.batch
        for copied in copies_of(self.ports, self.wiring.policy, task["dump"], {task["name"]: job.label}):
            self._batch(copied, task["dump"])

    @note.register
    def _(self, scanned: Scanned) -> None:
        if not scanned.already:
            self._all_tables()

    @note.register
    def _(self, listed: CopiesListed) -> None:
        if listed.idle:
            # Every copy is there and fresh: whatever failed before is made up for.
            self.journal.resolve_all(self.place.dag_id)
        else:
            self.journal.resolve_older_copies(self.place.dag_id, self.place.run_id)
        if listed.idle and not listed.tables:
            self.journal.copies_unchanged(self.place.policy, time.time())
        else:
            self._copies()

    @note.register
    def _(self, published: CopiesPublished) -> None:
        self.journal.resolve_all(self.place.dag_id)
        self._copies()

    def _sets(self) -> None:
        """Write what sets the replica shows, if this run has changed it."""
        record_sets(self.journal, self.ports, self.wiring.policy, self.place.run_id)

    def _copies(self) -> None:
        self.journal.copies_seen(self.place.policy, list(seen_copies(self.ports, self.wiring.policy, time.time())))

    def _begin(self, dump: str, events: int | None = None) -> None:
        facts = facts_of(self.ports, self.wiring.policy, dump)
        window = self._window(
            dump,
            begin_event=facts.begin,
            end_event=facts.end,
            events=facts.events if events is None else events,
            batches=len(facts.batches),
        )
        self.journal.record_window(window)
        self.journal.resolve_older_copies(self.place.dag_id, self.place.run_id)

    def _window(self, dump: str, **more: Any) -> WindowRun:
        place = self.place
        return WindowRun(place.policy, place.phase, dump, place.dag_id, place.run_id, place.began, **more)

    def _copied_here(self, planned: Folded | WindowCut) -> None:
        """Record what the task has copied itself: all batches, when it leaves none to others."""
        if planned.batches:
            return
        labels = facts_of(self.ports, self.wiring.policy, planned.dump).batches
        for copied in copies_of(self.ports, self.wiring.policy, planned.dump, labels):
            self._batch(copied, planned.dump)

    def _batch(self, copied: BatchCopied, dump: str) -> None:
        task = {"dump": dump, "name": copied.name, "label": copied.label}
        self.journal.record_batch(copied_batch(self.place, task, Outcome.DONE, copied))
        metrics.copied(self.place.policy, self.place.phase, copied.files, copied.bytes)

    def _all_tables(self) -> None:
        entries = read_tables(self.ports, self.wiring.policy, self.sizes)
        self.journal.replace_tables(self.place.policy, self._table_states(entries))

    def _some_tables(self, event_id: int) -> None:
        names = touched_tables(self.ports, self.wiring.policy, event_id)
        entries = read_tables(self.ports, self.wiring.policy, only=names)
        gone = names - {entry.table for entry in entries}
        self.journal.update_tables(self.place.policy, list(self._table_states(entries)), gone)

    def _table_states(self, entries: list[InventoryEntry]) -> Iterator[RecordedTable]:
        now = time.time()
        return (RecordedTable(self.place.policy, **asdict(entry), at=now) for entry in entries)

    def _lag(self) -> None:
        follower = Follower(self.wiring.policy, self.ports, limits_of(self.wiring.settings))
        record_lags(self.journal, measure([follower], time.time(), _PATIENCE_SECONDS))
