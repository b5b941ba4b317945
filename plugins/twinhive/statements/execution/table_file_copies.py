"""Copy the files of an EXPORT or an IMPORT: few in this process, many by Spark where the statement names one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.files import join
from twinhive.core.model.human_readable import readable
from twinhive.core.model.policy import Options
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.shards import pack_lines
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import ListedCopy
from twinhive.runtime.spark.job_outcome import NotAllCopied
from twinhive.runtime.spark.jobs import copy_by_spark
from twinhive.statements.execution.spark_copies import NEXT_STEPS
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.job import CopyJob
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

    def copy(self, items: Sequence[CopyItem], staging: str, label: str) -> CopyOutcome:
        """Copy items into staging; what is there already is not copied again."""
        length = sum(item.length for item in items)
        if self.spark is not None and not self.options.is_small(len(items), length):
            self.say(f"{label}: {len(items):,} files with {readable(length)} are copied by Spark")
            try:
                self._submit(items, staging, label, self.spark())
            except NotAllCopied as error:
                self.say(f"what Spark could not copy is tried here: {error.words.what}")
            else:
                return CopyOutcome(files=len(items), bytes=length, copied_files=len(items), copied_bytes=length)
        options = self.options
        return copy_items(
            items,
            self.source,
            self.target,
            staging,
            options.copy_threads,
            self.say,
            bytes_per_second=options.bytes_per_second,
        )

    def _submit(self, items: Sequence[CopyItem], staging: str, label: str, cluster: SparkCluster) -> None:
        listing, (source, target) = join(staging, "files.jsonl.gz"), self.endpoints
        self.target.write(listing, pack_lines(item.to_line() for item in items))
        length = sum(item.length for item in items)
        job = CopyJob(listing, staging, join(staging, "result.json"), label, len(items), length)
        what = ListedCopy(job, target, dump_name="", batch="")
        copy_by_spark(what, source, target, self.options, cluster, NEXT_STEPS, self.say)
