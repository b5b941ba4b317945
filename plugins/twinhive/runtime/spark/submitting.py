"""Carry out plans by Spark: write the batches, submit the job, read what came of it."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.files import copying_weight, join
from twinhive.core.ports import FileWriter
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import CopySettings, TreeCopy
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.jobs import COPY_FILES, Job
from twinhive.transfer.tree.executing import ExecutePlan, TreeCopyJob
from twinhive.transfer.tree.outcome_document import from_document
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tree_batches import FileBatch, write_batches
from twinhive.transfer.tree.tree_outcome import ExecOutcome

_BATCHES_A_TASK = 3
# Smaller batches would cost more than they balance; with larger ones nobody would know how far the copy is.
_LEAST_WEIGHT, _MOST_WEIGHT = 100_000_000, 8_000_000_000
_MOST_FILES = 10_000
IN_A_TERMINAL = NextSteps(
    act_now="mend what is said above, then run again",
    unusable="mend --spark, --spark-conf, or the executors' Python and Java; then run again",
    try_again="run again; what is copied and verified is not copied again",
)


@dataclass(frozen=True)
class SparkCopy:
    """Both sides of one copy, and the Spark that carries it out; `title` says for people what is copied."""

    cluster: SparkCluster
    source: FileSystemEndpoint
    target: FileSystemEndpoint
    title: str


def by_spark(
    copy: SparkCopy, target: FileWriter, say: Callable[[str], None], next_steps: NextSteps = IN_A_TERMINAL
) -> ExecutePlan:
    """Return what carries out plans on Spark's executors, and passes on what the job says of its progress.

    `target` is the file system of `copy.target`. Raises TryAgain when the job does not come to its end, ActNow when it
    never would.
    """

    def execute(job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
        batches = deal(job, plan, copy.cluster.tasks, target)
        if not batches:
            return ExecOutcome()
        settings = settings_of(copy, job, batches)
        spark_job = Job(COPY_FILES, copy.cluster, settings.what.label, next_steps)
        result = spark_job.run(settings.to_json(), say, confirm)
        target.delete(job.places.plan)  # no executor is at work any more
        return _outcome(settings.what.label, result, next_steps)

    return execute


def settings_of(copy: SparkCopy, job: TreeCopyJob, batches: tuple[FileBatch, ...]) -> CopySettings:
    """Return what the job is told; the batches that run at the same time share the bandwidth."""
    options, tasks = job.options, copy.cluster.tasks
    rate = options.bytes_per_second and options.bytes_per_second / min(tasks, len(batches))
    what = TreeCopy(copy.title, job, batches)
    return CopySettings(copy.source, copy.target, what, options.threads, tasks, rate)


def deal(job: TreeCopyJob, plan: Plan, tasks: int, target: FileWriter) -> tuple[FileBatch, ...]:
    """Write the batches of a plan: about three for each task.

    They lie in a directory of their own below `Places.plan`, which every run removes before it changes anything: a task
    that was left over from an earlier run finds its batch no more.
    """
    directory = join(job.places.plan, uuid.uuid4().hex)
    work = plan.totals.on_files
    fair = copying_weight(work.files, work.bytes) // (tasks * _BATCHES_A_TASK)
    aim = min(max(fair, _LEAST_WEIGHT), _MOST_WEIGHT)
    lines = plan.copies()
    return tuple(write_batches(lines, target, directory, most_files=_MOST_FILES, aim_bytes=aim))


def _outcome(label: str, result: str, next_steps: NextSteps) -> ExecOutcome:
    try:
        return from_document(json.loads(result))
    except (ValueError, KeyError, TypeError) as error:
        raise TryAgain(
            f"{label}: the job has not said what came of it",
            found=f"{type(error).__name__}: {error}",
            expected="the result that it writes at its end",
            next_step=next_steps.try_again,
        ) from error
