"""Copy the files of an EXPORT or an IMPORT: few in this process, many by Spark where the statement names one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.files import join
from twinhive.core.model.human_readable import readable
from twinhive.core.model.policy import Options
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.shards import pack_lines, unpack_lines
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import ListedCopy
from twinhive.runtime.spark.job_outcome import NotAllCopied
from twinhive.runtime.spark.jobs import copy_by_spark
from twinhive.statements.execution.spark_copies import NEXT_STEPS
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.staged.list_splits import DEALT_AT_ONCE
from twinhive.transfer.staged.staged_files import CopyItem


@dataclass(frozen=True)
class TableFileCopies:
    """Two file systems, and the Spark that copies between them; None: all is copied in this process."""

    source: FileReader
    target: FileWriter
    endpoints: tuple[FileSystemEndpoint, FileSystemEndpoint]
    options: Options
    spark: Callable[[], SparkCluster] | None
    say: Callable[[str], None]

    def copy(self, items: Iterable[CopyItem], staging: str, label: str) -> CopyOutcome:
        """Copy items into staging; what is there already is not copied again. Some thousand are held at a time."""
        waiting = iter(items)
        first = list(islice(waiting, max(DEALT_AT_ONCE, self.options.spark_above_files + 1)))
        if self.spark is None or self.options.is_small(len(first), sum(item.length for item in first)):
            return self._copy_here(first, waiting, staging)
        listing = join(staging, "files.jsonl.gz")
        sums = CopyOutcome()

        def lines() -> Iterator[str]:
            nonlocal sums
            files = length = 0
            for item in chain(first, waiting):
                files, length = files + 1, length + item.length
                yield item.to_line()
            sums = CopyOutcome(files=files, bytes=length, copied_files=files, copied_bytes=length)

        self.target.write(listing, pack_lines(lines()))
        self.say(f"{label}: {sums.files:,} files with {readable(sums.bytes)} are copied by Spark")
        try:
            self._submit(listing, sums, staging, label, self.spark())
        except NotAllCopied as error:
            self.say(f"what Spark could not copy is tried here: {error.words.what}")
            listed = map(CopyItem.from_line, unpack_lines(self.target.read(listing)))
            return self._copy_here([], listed, staging)
        return sums

    def _copy_here(self, first: list[CopyItem], waiting: Iterator[CopyItem], staging: str) -> CopyOutcome:
        options, outcome = self.options, CopyOutcome()
        while some := first or list(islice(waiting, DEALT_AT_ONCE)):
            first = []
            copied = copy_items(
                some,
                self.source,
                self.target,
                staging,
                options.copy_threads,
                self.say,
                bytes_per_second=options.bytes_per_second,
            )
            outcome = CopyOutcome.merged([outcome, copied]).thinned()
        return outcome

    def _submit(self, listing: str, sums: CopyOutcome, staging: str, label: str, cluster: SparkCluster) -> None:
        source, target = self.endpoints
        job = CopyJob(listing, staging, join(staging, "result.json"), label, sums.files, sums.bytes)
        what = ListedCopy(job, target, dump_name="", batch="")
        copy_by_spark(what, source, target, self.options, cluster, NEXT_STEPS, self.say)
