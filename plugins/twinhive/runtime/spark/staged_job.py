"""Copy the files of one list into staging on Spark's executors; one result file at the end."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from pyspark import SparkContext, TaskContext

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.exit_codes import ExitCode, Unusable
from twinhive.core.model.files import authority
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.hive.adapters.file_clients import FileClient, open_files
from twinhive.runtime.spark.copy_settings import CopySettings, ListedCopy
from twinhive.runtime.spark.executor_progress import MOVES, Listener, Pulse, listening
from twinhive.runtime.spark.executors import on_an_executor, use_native_package
from twinhive.transfer.engine.failure_kind import FailureKind, exit_code
from twinhive.transfer.staged.batch_result import result_record, result_text
from twinhive.transfer.staged.copy_attempts import Tries
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.list_splits import Hand, cut_listing
from twinhive.transfer.staged.ownership import Ownership


def copy_listed(spark: SparkContext, settings: CopySettings, listed: ListedCopy) -> int:
    """Copy all files, write the result, return the exit code. Raises Unusable, TryAgain."""
    started, job = time.monotonic(), listed.job
    listing = files_of(settings, listed, job.listing).read(job.listing)
    hands = cut_listing(listing, job.listing, job.after_event, settings.tasks)
    staged, results = files_of(settings, listed, job.staging), files_of(settings, listed, job.result)
    first_try = Tries(staged, job.staging, results, job.result).is_first()
    with heard_of(results, job.result, job.label) as pulse:
        outcome = copy_on_executors(spark, settings, listed, hands, pulse, first_try=first_try)
    seconds = time.monotonic() - started
    record = result_record(outcome, dump=listed.dump_name, batch=listed.batch, seconds=seconds)
    results.write(job.result, json.dumps(record, indent=1).encode())
    print(result_text(outcome, seconds), file=sys.stderr)
    all_lost = all(failure.kind is FailureKind.LOST for failure in outcome.failures)
    return ExitCode.DONE if listed.lost_ok and all_lost else exit_code(outcome.kinds, lists_again=False)


def files_of(settings: CopySettings, listed: ListedCopy, uri: str) -> FileClient:
    """Return the file system that a URI belongs to. Raises Unusable."""
    for side in (listed.dump, settings.target, settings.source):
        files = open_files(side)
        if authority(uri) == files.root:
            return files
    raise Unusable(f"{uri} is on none of the file systems of the settings")


@contextmanager
def heard_of(results: FileClient, result: str, label: str) -> Iterator[str]:
    """Say inside that the copy goes on, whenever executors touch the file that is yielded."""
    path = f"{result}.moves"
    with suppress(TwinhiveError):
        results.write(path, b"")
    with listening(Listener(results, lambda: [path]), lambda: tell(f"{label}: files are being copied")):
        yield path
    with suppress(TwinhiveError):
        results.delete_file(path)


def copy_on_executors(
    spark: SparkContext, settings: CopySettings, listed: ListedCopy, hands: list[Hand], pulse: str, *, first_try: bool
) -> CopyOutcome:
    """Copy all hands, as many at a time as there are tasks."""

    def copy(hand: Hand) -> CopyOutcome:
        use_native_package()
        with closing(open_files(settings.source)) as source, closing(open_files(settings.target)) as target:
            touch = Pulse(target, pulse)

            def moved(line: str) -> None:
                print(line, file=sys.stderr, flush=True)  # into the executor's log
                touch()

            return copy_items(
                hand.items(),
                source,
                target,
                listed.job.staging,
                settings.threads,
                moved,
                superseded_ok=listed.job.superseded_ok,
                looks=not first_try or is_repeated(),
                bytes_per_second=settings.bytes_per_second,
                ownership=Ownership(source, target) if listed.permissions == "source" else None,
            ).thinned()

    def work(numbered: Iterator[tuple[int, Hand]]) -> CopyOutcome:
        outcome = CopyOutcome()
        for number, hand in numbered:
            spark.setJobDescription(f"{listed.label}: {number:,} of {len(hands):,}, {hand.files:,} files")
            copied = on_an_executor(spark, hand, copy, f"the Spark job of {listed.label} failed")
            outcome = CopyOutcome.merged([outcome, copied]).thinned()
            tell(f"{listed.label}: {number:,} of {len(hands):,} hands are copied, {hand.files:,} files")
        return outcome

    return CopyOutcome.merged(in_parallel([*enumerate(hands, 1)], settings.tasks, work, "hand")).thinned()


def is_repeated() -> bool:
    """True in a task that Spark has begun before, on an executor that was lost, say."""
    task = TaskContext.get()
    return task is None or task.attemptNumber() > 0


def tell(line: str) -> None:
    """Write a line to the submitter, who takes it for a sign that the copy goes on."""
    print(f"{MOVES}{line}", file=sys.stderr, flush=True)
