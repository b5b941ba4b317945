"""Copy the files of one batch of objects into staging: as a Spark job, or here in this process."""

import time
from dataclasses import dataclass

from twinhive.core.model.text import Again, Text
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_lists import files_path, open_list, result_path
from twinhive.replication.bootstrap.copy_batch import Copied
from twinhive.replication.dump.json_files import write_json
from twinhive.replication.dump.shards import unpack_lines
from twinhive.transfer.staged.batch_result import failed_copy, result_record
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.staged.staged_files import CopyItem


@dataclass(frozen=True)
class CopyObjects:
    """Copy one batch; a file that is gone or changed is no failure: its object is not published, and listed again."""

    work: Work

    @property
    def mend(self) -> Text:
        """What a person can do about files that cannot be copied."""
        return "mend what is said above, then " + Again("this task with all tasks after it")

    def job(self, ports: ReadPorts) -> CopyJob | None:
        """Return the job to run, None when there is nothing to copy. Raises ActNow for a list that is gone."""
        policy, name, batch = self.work.policy, self.work.dump, self.work.batch
        listed = open_list(ports.replica_files, policy, name).batch(batch)
        if not listed.files:
            self.work.report(f"{listed.label}: no files to copy")
            return None
        return CopyJob(
            listing=files_path(policy, name, batch),
            staging=policy.staging,
            result=result_path(policy, name, batch),
            label=listed.label,
            files=listed.files,
            bytes=listed.bytes,
            superseded_ok=True,
            batch_weight=policy.options.batch_bytes,
        )

    def run(self, ports: WritePorts) -> Copied:
        """Copy in this process. Raises TryAgain or ActNow naming the first failures."""
        job = self.job(ports)
        return Copied() if job is None else self.copy(ports, job)

    def copy(self, ports: WritePorts, job: CopyJob) -> Copied:
        """Carry a job out in this process. Raises as `run` does."""
        policy, began = self.work.policy, time.monotonic()
        items = [CopyItem.from_line(line) for line in unpack_lines(ports.replica_files.read(job.listing))]
        outcome = copy_items(
            items,
            ports.source_files,
            ports.replica_files,
            job.staging,
            policy.options.copy_threads,
            self.work.report,
            superseded_ok=True,
            bytes_per_second=policy.options.bytes_per_second,
        )
        seconds = time.monotonic() - began
        record = result_record(outcome, dump=self.work.dump, batch=self.work.batch, seconds=seconds)
        write_json(ports.replica_files, job.result, record)
        if outcome.failures:
            raise failed_copy(job.label, outcome, self.mend)
        self.work.report(f"{job.label}: {outcome.copied_files} files copied, {outcome.skipped_files} were there before")
        return Copied(outcome.copied_files, outcome.copied_bytes, outcome.skipped_files)
