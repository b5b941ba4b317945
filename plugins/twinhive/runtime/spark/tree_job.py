"""Carry out the batches of a plan on Spark's executors.

A batch is one Spark job of one task, and so many of them run at the same time as there are tasks. So Spark repeats a
batch whose executor is lost, which is harmless: actions may be repeated. And the driver knows how far the copy is:
accumulators of Python tasks would tell it no earlier, when a task ends.
"""

import json
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark import SparkContext

from twinhive.core.model.errors import Missing, TwinhiveError
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.human_readable import readable
from twinhive.core.ports import FileReader
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.hive.adapters.file_clients import open_files
from twinhive.runtime.spark.copy_settings import CopySettings, TreeCopy
from twinhive.runtime.spark.executor_progress import Listener, Pulse, listening
from twinhive.runtime.spark.executors import on_an_executor, use_native_package
from twinhive.runtime.spark.job_outcome import result_beside, teller
from twinhive.transfer.engine.progress import CopyProgress
from twinhive.transfer.tree.executing import Executor, TreeCopyJob
from twinhive.transfer.tree.outcome_document import to_document
from twinhive.transfer.tree.tree_batches import FileBatch, StillWanted, batch_is_gone, read_batch
from twinhive.transfer.tree.tree_outcome import ExecOutcome

say = teller("copy_files")


def copy_tree(spark: SparkContext, settings: CopySettings, tree: TreeCopy, path: Path) -> int:
    """Carry out all batches, and write down beside the settings what came of them; failed files are no failure of it.

    Returns the exit code. Raises TryAgain, ActNow.
    """
    outcome = copy_on_executors(spark, settings, tree)
    result_beside(path).write_text(json.dumps(to_document(outcome)), encoding="ascii")
    return ExitCode.DONE


def copy_on_executors(spark: SparkContext, settings: CopySettings, tree: TreeCopy) -> ExecOutcome:
    """Carry out the batches in their order, as many at a time as there are tasks."""
    progress = CopyProgress(tree.files, tree.length, say)
    under_way: dict[str, FileBatch] = {}
    group = f"copy_tree-{uuid.uuid4().hex[:8]}"
    label, told = tree.label, replace(settings, what=replace(tree, batches=()))  # each Spark job ships it again

    def work(numbered: Iterator[tuple[int, FileBatch]]) -> ExecOutcome:
        outcome = ExecOutcome()
        for number, batch in numbered:
            part = f"batch {number:,} of {len(tree.batches):,}, {batch.files:,} files, {readable(batch.length)}"
            spark.setJobGroup(group, f"{label} ({part})")
            under_way[batch.path] = batch
            what = f"batch {batch.path} could not be carried out"
            outcome.merge(on_an_executor(spark, batch.path, partial(carry_out, told, tree.job), what))
            del under_way[batch.path]
            progress.done(batch.length, batch.files)
        return outcome

    numbered = [*enumerate(tree.batches, 1)]
    with closing(open_files(settings.target)) as target:
        listener = Listener(target, under_way.copy)
        with listening(listener, lambda: say(f"{tree.title}: files are being copied")):
            return ExecOutcome.merged(in_parallel(numbered, settings.tasks, work, "batch"))


def carry_out(settings: CopySettings, job: TreeCopyJob, path: str) -> ExecOutcome | TwinhiveError:
    """Carry out one batch in the Python process of an executor.

    Our errors are returned: what may be repeated was repeated before, and Spark would tell them as Java's.
    """
    use_native_package()
    with closing(open_files(settings.source)) as source, closing(open_files(settings.target)) as target:
        try:
            lines = _lines(target, path)
            progress = CopyProgress(0, 0, Pulse(target, path))
            rate, wanted = settings.bytes_per_second, StillWanted(target, path)
            executor = Executor(job, source, target, settings.threads, progress, bytes_per_second=rate, confirm=wanted)
            return executor.run(lines)
        except TwinhiveError as error:
            return error


def _lines(target: FileReader, path: str) -> list[str]:
    try:
        return list(read_batch(target, path))
    except Missing as error:
        raise batch_is_gone(path) from error
