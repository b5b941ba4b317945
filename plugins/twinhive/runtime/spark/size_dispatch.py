"""Carry out small plans in this process, which ends before Spark would have begun, and large ones by Spark."""

from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.ports import TreeReader, TreeWriter
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.submitting import SparkCopy, by_spark
from twinhive.transfer.engine.copy_engine import IsEnding, end_if
from twinhive.transfer.engine.progress import CopyProgress
from twinhive.transfer.tree.executing import ExecutePlan, TreeCopyJob, in_this_process
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tree_outcome import ExecOutcome


@dataclass(frozen=True)
class LargeBySpark:
    """Both file systems, and from which size on which Spark copies between them.

    is_small   tells by files and bytes whether a plan is small
    cluster     finds the Spark; not asked before a plan is large
    next_steps  what a person does where these copies run
    """

    source: FileSystemEndpoint
    target: FileSystemEndpoint
    is_small: Callable[[int, int], bool]
    cluster: Callable[[], SparkCluster]
    next_steps: NextSteps

    def execution(
        self,
        source: TreeReader,
        target: TreeWriter,
        say: Callable[[str], None],
        is_ending: IsEnding,
    ) -> ExecutePlan:
        """Return what carries out plans; `say` hears which way they went, and how far Spark is."""
        here = in_this_process(source, target, lambda files, length: CopyProgress(files, length, say), is_ending)

        def execute(job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
            def may_go_on() -> None:
                end_if(is_ending)
                confirm()

            end_if(is_ending)
            work = plan.totals.on_files
            if self.is_small(work.files, work.bytes):
                return here(job, plan, confirm)
            say(f"{job.places.base}: {work.files:,} files, {work.bytes:,} bytes are copied by Spark")
            copy = SparkCopy(self.cluster(), self.source, self.target, f"copy to {job.places.base}")
            return by_spark(copy, target, say, self.next_steps)(job, plan, may_go_on)

        return execute
