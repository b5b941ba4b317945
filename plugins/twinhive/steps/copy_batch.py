"""Copy the files of one batch into staging: as a Spark job, or here in this process."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from twinhive.copying.engine import CopyFailure, copy_items
from twinhive.copying.result import result_record
from twinhive.copying.staged import CopyItem
from twinhive.domain.errors import ActNow, Missing, TryAgain, TwinhiveError
from twinhive.dump.layout import result_path
from twinhive.dump.shards import unpack_lines
from twinhive.dump.store import current_dump, read_json, write_json
from twinhive.ports import ReadPorts, WritePorts
from twinhive.steps.base import Work
from twinhive.steps.list_files import check_dump
from twinhive.steps.replica_state import already_published, read_state

_EXAMPLES = 5


@dataclass(frozen=True)
class CopyJob:
    """What a copy works from and where it leaves its result; all are URIs."""

    listing: str
    staging: str
    result: str
    label: str
    files: int
    bytes: int


@dataclass(frozen=True)
class Copied:
    """What was copied in this try and what was staged already."""

    copied_files: int = 0
    copied_bytes: int = 0
    skipped_files: int = 0


@dataclass(frozen=True)
class CopyBatch:
    """Copy one batch."""

    work: Work

    def job(self, ports: ReadPorts) -> CopyJob | None:
        """Return the job to run, or None when there is nothing to copy. Raises Missing without a list."""
        policy, batch = self.work.policy, self.work.batch
        if already := already_published(read_state(ports.replica, policy, ports.source.log_id())):
            self.work.report(already)
            return None
        dump = current_dump(ports.dump_files, policy)
        check_dump(dump, self.work)
        summary = read_json(ports.dump_files, dump.layout.summary(batch))
        label = next(entry.label for entry in dump.manifest.batches if entry.name == batch)
        if summary is None:
            raise Missing(
                f"the files of {label} are not listed",
                next_step="clear the task list_files of this batch with all tasks after it",
            )
        if not summary["files"]:
            self.work.report(f"{label}: no files to copy")
            return None
        return CopyJob(
            listing=dump.layout.files(batch),
            staging=policy.staging,
            result=result_path(policy.staging, dump.key, batch),
            label=label,
            files=summary["files"],
            bytes=summary["bytes"],
        )

    def run(self, ports: WritePorts) -> Copied:
        """Copy in this process, without Spark. Raises TryAgain or ActNow naming the first failures."""
        job = self.job(ports)
        if job is None:
            return Copied()
        started = time.monotonic()
        outcome = copy_items(
            map(CopyItem.from_line, unpack_lines(ports.dump_files.read(job.listing))),
            ports.source_files,
            ports.replica_files,
            job.staging,
            self.work.policy.options.copy_threads,
            self.work.report,
        )
        seconds = time.monotonic() - started
        record = result_record(outcome, dump=self.work.dump, batch=self.work.batch, seconds=seconds)
        write_json(ports.replica_files, job.result, record)
        if outcome.failures:
            raise failed_copy(job.label, outcome.failures)
        self.work.report(
            f"{job.label}: {outcome.copied_files} files copied, {outcome.skipped_files} were staged before"
        )
        return Copied(outcome.copied_files, outcome.copied_bytes, outcome.skipped_files)


def failed_copy(label: str, failures: Sequence[CopyFailure]) -> TwinhiveError:
    """Make one error of the failures of a batch; a person's turn comes before a repetition's."""
    retry = all(failure.kind.may_retry for failure in failures)
    examples = "; ".join(f"{failure.path}: {failure.reason}" for failure in failures[:_EXAMPLES])
    family = TryAgain if retry else ActNow
    return family(
        f"{label}: {len(failures)} files were not copied",
        found=examples,
        next_step="the task retries by itself"
        if retry
        else "if the source changed, clear the task list_objects with all tasks after it; "
        "otherwise mend what is said above and clear this task",
    )
