"""Write partitions: all rows below the table where nobody looks, few files, then shown, at most a thousand a call.

The steps are those of Hive's dynamic partitions and of seed 003, with the small files prevented rather than archived.
Killed anywhere, the same job goes on: what has its final name was whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.files import FileStatus, base_name, join, parent
from twinhive.core.model.human_readable import Say
from twinhive.core.model.names import partition_name
from twinhive.core.ports import FileWriter
from twinhive.core.ports.table_writers import TableWriter
from twinhive.publishing.partition_writes.frame_schema import fitted
from twinhive.publishing.partition_writes.frames import Frame
from twinhive.publishing.partition_writes.job_directory import JobDirectory, WrittenPartition
from twinhive.publishing.partition_writes.partition_commit import Showing, Shown
from twinhive.publishing.partition_writes.small_files import WrittenPartitions, to_be_merged
from twinhive.publishing.partition_writes.write_request import BLOCKS_A_FILE, PartitionWrite
from twinhive.publishing.partition_writes.write_target import WriteTarget
from twinhive.publishing.sets.marking_sets import MarkSet

_BLOCK = 128 * 2**20


@dataclass(frozen=True)
class PartitionsWritten:
    """What a job has done: its partitions, their files and bytes; how many files were merged into fewer."""

    shown: Shown
    partitions: int
    files: int
    length: int
    merged: int
    set_done: str | None = None
    """The set that the job has marked, as `twinhive sets list` shows it; others may have unmarked it since."""
    already: bool = False
    """Whether an earlier try had done all of it."""


@dataclass(frozen=True)
class PartitionWriter:
    """Writes one frame. `report` takes lines for people; `by` is who a mark names."""

    request: PartitionWrite
    metastore: TableWriter
    files: FileWriter
    report: Say
    by: str | None = None

    def write(self, frame: Frame) -> PartitionsWritten:
        """Write the frame and show its partitions. Raises ActNow, TryAgain; then the same job may be repeated."""
        table = self.metastore.table(self.request.table)
        if table is None:
            raise ActNow(
                f"partitions of {self.request.table} cannot be written",
                found="no such table",
                expected="a table that is there: a write makes partitions, no tables",
                next_step="create it, or correct the name",
            )
        target = WriteTarget.of(table)
        columns = fitted(frame.columns(), target)
        wanted = self._wanted_set()
        job = JobDirectory.of(self.files, target, self.request)
        showing = Showing(target, self.request.mode, self.metastore, self.files, job)
        if job.is_done:
            self.report(f"{self.request.table}: job {self.request.job} was written before")
            self._mark(wanted, job)
            return self._sums(job.plan() or [], Shown(), 0, wanted, already=True)
        merged = 0
        if (plan := job.plan()) is None:
            if not job.is_there(job.data):
                attempt = job.attempt()
                frame.write(attempt, target, columns, BLOCKS_A_FILE * _BLOCK)
                job.settle(attempt, job.data)
            merged = self._plan(frame, target, job)
            plan = job.plan() or []
        self.report(f"{self.request.table}: {len(plan):,} partitions are written, in {_files(plan):,} files")
        showing.refuse_those_there(plan)
        shown = showing.show(plan)
        self._mark(wanted, job)
        job.finish(plan)
        self.report(
            f"{self.request.table}: {shown.new:,} new partitions, {shown.replaced:,} replaced, "
            f"{shown.appended:,} appended to"
        )
        return self._sums(plan, shown, merged, wanted)

    def _wanted_set(self) -> str | None:
        """Return the set to be marked as it is kept; what is in the way of it is said before anything is written."""
        order = self._order(self.request.job)
        return order.plan(self.metastore).mark.spec if order else None

    def _mark(self, wanted: str | None, job: JobDirectory) -> None:
        """Mark the set, behind the events of its data in the log. Raises TryAgain; then the job goes on with it."""
        order = self._order(job.name)
        if order is None or wanted is None or job.has_marked(wanted):
            return
        mark = order.run(self.metastore).mark
        job.keep_marked(wanted)
        self.report(f"{self.request.table}: set {mark.spec} is done, with {mark.partitions or 0:,} partitions")

    def _order(self, job: str) -> MarkSet | None:
        """Return what marks the set: its token is the job, so whoever repeats the job marks it once."""
        request = self.request
        return MarkSet(request.table, request.set_done, job, self.by) if request.set_done is not None else None

    @staticmethod
    def _sums(
        plan: Sequence[WrittenPartition], shown: Shown, merged: int, marked: str | None, *, already: bool = False
    ) -> PartitionsWritten:
        length = sum(one.length for one in plan)
        return PartitionsWritten(shown, len(plan), _files(plan), length, merged, marked, already)

    def _plan(self, frame: Frame, target: WriteTarget, job: JobDirectory) -> int:
        """Settle what is to be shown, with small files merged; return how many were."""
        written = job.written(job.data)
        small = self._merged_files(frame, target, job, written)
        merged = job.written(job.merged) if small else {}
        for values, files in written.items():
            if values in merged:
                self._keep_large(parent(merged[values][0].path), files, small)
        merged = job.written(job.merged) if small else {}
        job.keep_plan(
            WrittenPartition(
                values,
                parent(files[0].path),
                tuple(sorted((base_name(file.path), file.length) for file in files)),
            )
            for values, files in (written | merged).items()
        )
        return len(small)

    def _merged_files(
        self, frame: Frame, target: WriteTarget, job: JobDirectory, written: WrittenPartitions
    ) -> frozenset[str]:
        """Return the small files that `merged` stands for, which is made if they are worth it; none where they are not.

        What was merged before a kill is not judged again, by another rule perhaps: large files may have moved by now.
        """
        rule = self.request.small_files
        small = to_be_merged(written, rule) if rule else {}
        if not job.is_there(job.merged):
            if not small:
                return frozenset()
            self._merge(frame, target, job, small)
        known = job.merged_files()
        return frozenset(_paths(small)) if known is None else known

    def _merge(self, frame: Frame, target: WriteTarget, job: JobDirectory, small: WrittenPartitions) -> None:
        paths = _paths(small)
        self.report(f"{self.request.table}: {len(paths):,} small files of {len(small):,} partitions are written again")
        attempt = job.attempt()
        frame.rewrite(job.data, paths, attempt, target, BLOCKS_A_FILE * _BLOCK)
        before = frame.rows(job.data, paths, target)
        again = _paths(job.written(attempt))
        after = frame.rows(attempt, again, target)
        if before != after:
            both = before.keys() | after.keys()
            first, *more = sorted(values for values in both if before.get(values) != after.get(values))
            raise TryAgain(
                f"small files of {self.request.table} were not merged: the rows differ",
                found=f"{partition_name(target.key_names, first)}: {after.get(first, 0):,} rows"
                + (f"; {len(more):,} more partitions differ" if more else ""),
                expected=f"{before.get(first, 0):,} rows, as before",
                next_step="repeat the job, with small_files=None if it happens again; what was written is kept",
            )
        job.keep_merged_files(attempt, paths)
        job.settle(attempt, job.merged)

    def _keep_large(self, merged: str, files: Sequence[FileStatus], small: frozenset[str]) -> None:
        """Move the files of a merged partition that were large enough beside those that were made of the others."""
        for file in files:
            if file.path not in small:
                self.files.rename(file.path, join(merged, base_name(file.path)))


def _paths(written: WrittenPartitions) -> list[str]:
    return [file.path for files in written.values() for file in files]


def _files(plan: Sequence[WrittenPartition]) -> int:
    return sum(len(one.files) for one in plan)
