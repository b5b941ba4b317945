"""Large copies of a REPL LOAD by Spark, as the tasks of a policy's DAGs do; small ones in this process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.human_readable import readable
from twinhive.core.model.policy import Options
from twinhive.core.ports import ReadPorts, TreeReader, TreeWriter, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.copy_batch import Copied, CopyBatch
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import ListedCopy
from twinhive.runtime.spark.job_outcome import NextSteps, NotAllCopied
from twinhive.runtime.spark.jobs import copy_by_spark
from twinhive.runtime.spark.size_dispatch import LargeBySpark
from twinhive.transfer.engine.copy_engine import IsEnding
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.tree.executing import ExecutePlan

SparkOf = Callable[[str, Options], SparkCluster]
"""Finds the Spark of the cluster that loads, by its name and the options of the load. Raises InvalidSettings."""

NEXT_STEPS = NextSteps(
    act_now="mend what is said above, then run the statement again",
    unusable="mend the Spark that copies (its connection, or the executors' Python and Java), or run the statement "
    "without Spark",
    try_again="run the statement again; what is copied is not copied again",
)


class CopyStep(Protocol):
    """What copies one listed batch."""

    def job(self, ports: ReadPorts) -> CopyJob | None:
        """Return the job, None when there is nothing to copy."""

    def copy(self, ports: WritePorts, job: CopyJob) -> Copied:
        """Carry it out in this process."""


@dataclass(frozen=True)
class CopiesBySpark:
    """The file systems of one load, and its Spark, which is not looked for before there is much to copy.

    Large means above `spark_above_files` and `spark_above_bytes`, of a batch and of an external directory.
    """

    source: FileSystemEndpoint
    target: FileSystemEndpoint
    dumps: FileSystemEndpoint
    options: Options
    cluster: Callable[[], SparkCluster]
    next_steps: NextSteps = NEXT_STEPS

    def batch(self, work: Work, ports: WritePorts, step_of: "Callable[[Work], CopyStep]" = CopyBatch) -> None:
        """Copy a batch of a dump, or of another list. Raises TryAgain or ActNow."""
        step = step_of(work)
        job = step.job(ports)
        if job is None:
            return
        if self.options.is_small(job.files, job.bytes):
            step.copy(ports, job)
            return
        work.report(f"{job.label}: {job.files:,} files with {readable(job.bytes)} are copied by Spark")
        cluster = self.cluster()
        try:
            self._submit(job, work, cluster)
        except NotAllCopied as error:
            work.report("what Spark could not copy is looked at once more: " + error.what)
            # Files that users have moved since the dump are followed here, where the source's log can be read.
            step.copy(ports, job)

    def execution(
        self, source: TreeReader, target: TreeWriter, say: Callable[[str], None], is_ending: IsEnding
    ) -> ExecutePlan:
        """Return what carries out the plans of external tables' directories."""
        options = self.options
        by_size = LargeBySpark(
            source=self.source,
            target=self.target,
            is_small=options.is_small,
            cluster=self.cluster,
            next_steps=self.next_steps,
        )
        return by_size.execution(source, target, say, is_ending)

    def _submit(self, job: CopyJob, work: Work, cluster: SparkCluster) -> None:
        what = ListedCopy(job, self.dumps, work.dump, work.batch)
        copy_by_spark(what, self.source, self.target, self.options, cluster, self.next_steps, work.report)
