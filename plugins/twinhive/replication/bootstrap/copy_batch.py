"""Copy the files of one batch into staging: as a Spark job, or here in this process."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from twinhive.core.model.errors import Missing
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.next_steps import bootstrap, resync
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Again, Clear, Text
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.batch_records import listed_batch
from twinhive.replication.dump.dump_layout import BASE_KINDS, DumpKind, kind_of, result_path
from twinhive.replication.dump.dump_remainder import files_needed_after
from twinhive.replication.dump.dump_store import Dump, dump_of_key, while_it_stands
from twinhive.replication.dump.json_files import write_json
from twinhive.replication.dump.shards import unpack_lines
from twinhive.replication.notification_log.moved_files import followed
from twinhive.replication.replica.replica_state import already_at, state_now
from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind
from twinhive.transfer.staged.batch_result import failed_copy, result_record
from twinhive.transfer.staged.copy_attempts import Tries
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.staged.list_splits import DEALT_AT_ONCE
from twinhive.transfer.staged.ownership import ownership_of
from twinhive.transfer.staged.staged_files import CopyItem, remaining

_EXAMPLES = 5


@dataclass(frozen=True)
class Copied:
    """What was copied in this try and what was staged already."""

    copied_files: int = 0
    copied_bytes: int = 0
    skipped_files: int = 0


_MEND = "mend what is said above, then " + Again("this task with all tasks after it")


@dataclass(frozen=True)
class CopyBatch:
    """Copy one batch."""

    work: Work

    def job(self, ports: ReadPorts) -> CopyJob | None:
        """Return the job to run, or None when there is nothing to copy. Raises Missing without a list."""
        policy, batch = self.work.policy, self.work.batch
        state = state_now(ports, policy)
        dump = self._needed(ports, state)
        if dump is None:
            return None
        kind = dump.manifest.kind
        listed = listed_batch(ports.dump_files, dump.layout, batch)
        label = next(entry.label for entry in dump.manifest.batches if entry.name == batch)
        if listed is None:
            raise Missing(
                f"the files of {label} are not listed",
                found=f"no summary of batch {batch} in the dump",
                expected="the summary that list_files writes at its end",
                next_step=Clear("the task list_files of this batch with all tasks after it"),
            )
        if not listed.files:
            self.work.report(f"{label}: no files to copy")
            return None
        return CopyJob(
            listing=dump.layout.files(batch),
            staging=policy.staging,
            result=result_path(policy.staging, dump.key, batch),
            label=label,
            files=listed.files,
            bytes=listed.bytes,
            # No round comes after the dump of a statement: what is gone is looked for by its checksum, or lost.
            superseded_ok=kind is not DumpKind.INCREMENTAL and not dump.manifest.statement.scope,
            after_event=_after_event(dump, state),
            batch_weight=dump.manifest.batch_weight,
        )

    def _needed(self, ports: ReadPorts, state: ReplicaState) -> Dump | None:
        """Return the dump, None where the replica has all of it: a policy's own may be gone then."""
        policy, already = self.work.policy, already_at(state, self.work.dump)
        dump = None if already and not policy.dump_directory else dump_of_key(ports.dump_files, policy, self.work.dump)
        if already is None or (dump and files_needed_after(state, dump.manifest) < state.position.event_id):
            return dump
        self.work.report(already)
        return None

    @property
    def mend(self) -> Text:
        """What a person can do about files that cannot be copied, where a job elsewhere has said which they are."""
        return _MEND + "; " + _of_lost_files(self.work.policy, self.work.dump, None)

    def run(self, ports: WritePorts) -> Copied:
        """Copy in this process, without Spark. Raises TryAgain or ActNow naming the first failures, or DumpReplaced."""
        with while_it_stands(ports.dump_files, self.work.policy, self.work.dump):
            job = self.job(ports)
            return Copied() if job is None else self.copy(ports, job)

    def copy(self, ports: WritePorts, job: CopyJob) -> Copied:
        """Carry a job out in this process. Raises as `run` does."""
        policy = self.work.policy
        started = time.monotonic()
        listed = map(CopyItem.from_line, unpack_lines(ports.dump_files.read(job.listing)))
        waiting = remaining(listed, job.after_event)
        looks: bool | None = None
        outcome = CopyOutcome()
        while items := list(islice(waiting, DEALT_AT_ONCE)):
            if looks is None and any(not item.is_event_content for item in items):
                looks = not _tries(ports, job).is_first()
            outcome = CopyOutcome.merged([outcome, self._copy_some(ports, job, items, looks=bool(looks))]).thinned()
        seconds = time.monotonic() - started
        record = result_record(outcome, dump=self.work.dump, batch=self.work.batch, seconds=seconds)
        write_json(ports.replica_files, job.result, record)
        if outcome.failures and not may_quarantine(outcome.failures, policy):
            raise failed_copy(job.label, outcome, _mended_by(policy, self.work.dump, outcome.failures))
        self.work.report(
            f"{job.label}: {outcome.copied_files} files copied, {outcome.skipped_files} were staged before"
        )
        return Copied(outcome.copied_files, outcome.copied_bytes, outcome.skipped_files)

    def _copy_some(self, ports: WritePorts, job: CopyJob, items: Sequence[CopyItem], *, looks: bool) -> CopyOutcome:
        """Copy files; what a rename has carried away since they were planned is followed."""
        outcome = self._copy(ports, job, items, looks=looks)
        lost = _lost(items, outcome)
        while lost:
            moved = followed(ports.source, self.work.policy, lost)
            outcome = CopyOutcome.merged([_without(outcome, lost), self._copy(ports, job, moved, looks=True)])
            # Whoever renames again while we look is followed again.
            lost = [item for item in _lost(moved, outcome) if item not in lost]
        return outcome

    def _copy(self, ports: WritePorts, job: CopyJob, items: Sequence[CopyItem], *, looks: bool) -> CopyOutcome:
        return copy_items(
            items,
            ports.source_files,
            ports.replica_files,
            job.staging,
            self.work.policy.options.copy_threads,
            self.work.report,
            superseded_ok=job.superseded_ok,
            looks=looks,
            bytes_per_second=self.work.policy.options.bytes_per_second,
            ownership=ownership_of(self.work.policy.options, ports.trees.source, ports.trees.replica),
        )


def _after_event(dump: Dump, state: ReplicaState) -> int:
    # A window without events brings whole tables only, of the very event that the replica is at.
    if dump.manifest.kind is not DumpKind.INCREMENTAL or dump.layout.is_eventless:
        return 0
    return files_needed_after(state, dump.manifest)


def _tries(ports: WritePorts, job: CopyJob) -> Tries:
    return Tries(ports.replica_files, job.staging, ports.replica_files, job.result)


def _lost(items: Sequence[CopyItem], outcome: CopyOutcome) -> list[CopyItem]:
    """Return the items whose files were nowhere; a rename that came after they were planned may explain it."""
    lost = {(failure.path, failure.event_id) for failure in outcome.failures if failure.kind is FailureKind.LOST}
    return [item for item in items if (item.path, item.event_id) in lost]


def _without(outcome: CopyOutcome, lost: Sequence[CopyItem]) -> CopyOutcome:
    gone = {(item.path, item.event_id) for item in lost}
    return replace(
        outcome,
        files=outcome.files - len(lost),
        bytes=outcome.bytes - sum(item.length for item in lost),
        failures=tuple(failure for failure in outcome.failures if (failure.path, failure.event_id) not in gone),
    )


def may_quarantine(failures: Sequence[CopyFailure], policy: Policy) -> bool:
    """True when all that failed are files that are lost for good, and the policy freezes their tables for it."""
    lost = all(failure.kind is FailureKind.LOST for failure in failures)
    return lost and policy.options.on_object_error == "quarantine"


def _mended_by(policy: Policy, dump: str, failures: Sequence[CopyFailure]) -> Text:
    lost = dict.fromkeys(one.table.partition(".")[2] for one in failures if one.kind is FailureKind.LOST)
    return _of_lost_files(policy, dump, *lost) if lost else _MEND


def _of_lost_files(policy: Policy, dump: str, table: str | None, *others: str) -> Text:
    """Say what a person can do; a lost file of an event never comes back, its table does, where events are applied.

    table   the first one that has such a file, None for one that is not known
    """
    if kind_of(dump) in BASE_KINDS:
        return "a lost file comes back only with a new dump: " + bootstrap(policy.name)
    same = f" (the same for {', '.join(others[:_EXAMPLES])})" if others else ""
    return f"a lost file comes back only with its whole table{same}: " + resync(policy.name, table)
