"""Copy the files of one batch: submitted by spark-submit, one result file at the end.

Exit codes are those of `twinhive.transfer.staged.failure_kind.ExitCode`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pyspark import SparkContext, TaskContext

from twinhive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.model.errors import TryAgain, TwinhiveError
from twinhive.model.files import authority
from twinhive.spark.endings import causes, ended
from twinhive.spark.executors import open_files, probe, read_local, use_native_package
from twinhive.spark.lifeline import end_with_the_submitter
from twinhive.spark.pulse import MOVES, Listener, Pulse, listening
from twinhive.transfer.staged.engine import copy_items
from twinhive.transfer.staged.failure_kind import ExitCode, FailureKind, exit_code
from twinhive.transfer.staged.first_try import Tries
from twinhive.transfer.staged.hands import Hand, cut_listing
from twinhive.transfer.staged.job import JobSettings, Unusable
from twinhive.transfer.staged.outcome import CopyOutcome
from twinhive.transfer.staged.result import result_record, result_text
from twinhive.transfer.staged.workers import in_parallel


def main(arguments: Sequence[str]) -> int:
    """Run the job and return its exit code."""
    return ended("copy_files", lambda: run(parse_arguments(arguments)))


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line. Raises Unusable."""
    parser = argparse.ArgumentParser("copy_files", description=__doc__.partition("\n")[0])
    parser.add_argument("--listing", required=True, help="URI of the batch's gzipped JSON lines")
    parser.add_argument("--staging", required=True, help="URI of the policy's staging directory")
    parser.add_argument("--result", required=True, help="URI of the result file to write")
    parser.add_argument("--settings", required=True, help="path or URI of the settings in JSON")
    parser.add_argument(
        "--with-submitter", action="store_true", help="end when nobody holds the lock of the settings' file any more"
    )
    try:
        return parser.parse_args(arguments)
    except SystemExit as error:
        if error.code == 0:
            raise
        raise Unusable("see the usage above") from error


def run(given: argparse.Namespace) -> int:
    """Copy one batch with Spark's executors and write the result."""
    started = time.monotonic()
    if given.with_submitter:
        end_with_the_submitter(Path(given.settings))
    is_remote = "://" in given.settings and not given.settings.startswith("file://")
    settings = None if is_remote else JobSettings.parse(read_local(given.settings))
    with SparkContext(appName=settings.label if settings else "copy_files") as spark:
        if settings is None:
            settings = JobSettings.parse("".join(spark.wholeTextFiles(given.settings).values().collect()))
        use_native_package()
        listing = files_of(settings, given.listing).read(given.listing)
        hands = cut_listing(listing, given.listing, settings.after_event, settings.tasks)
        spark.setJobDescription(settings.label)
        probe(spark)
        staged, results = files_of(settings, given.staging), files_of(settings, given.result)
        first_try = Tries(staged, given.staging, results, given.result).is_first()
        with heard_of(results, given.result, settings.label) as pulse:
            outcome = copy_on_executors(spark, settings, given.staging, hands, pulse, first_try=first_try)
        seconds = time.monotonic() - started
        record = result_record(outcome, dump=settings.dump_name, batch=settings.batch, seconds=seconds)
        files_of(settings, given.result).write(given.result, json.dumps(record, indent=1).encode())
    print(result_text(outcome, seconds), file=sys.stderr)
    all_lost = all(failure.kind is FailureKind.LOST for failure in outcome.failures)
    return ExitCode.DONE if settings.lost_ok and all_lost else exit_code(outcome.kinds, lists_again=False)


def files_of(settings: JobSettings, uri: str) -> HadoopFiles:
    """Return the file system that a URI belongs to. Raises Unusable."""
    for side in (settings.dump, settings.target, settings.source):
        files = open_files(side)
        if authority(uri) == files.root:
            return files
    raise Unusable(f"{uri} is on none of the file systems of the settings")


@contextmanager
def heard_of(results: HadoopFiles, result: str, label: str) -> Iterator[str]:
    """Say inside that the copy goes on, whenever executors touch the file that is yielded."""
    path = f"{result}.moves"
    with suppress(TwinhiveError):
        results.write(path, b"")
    with listening(Listener(results, lambda: [path]), lambda: tell(f"{label}: files are being copied")):
        yield path
    with suppress(TwinhiveError):
        results.delete_file(path)


def copy_on_executors(
    spark: SparkContext, settings: JobSettings, staging: str, hands: list[Hand], pulse: str, *, first_try: bool = False
) -> CopyOutcome:
    """Copy all hands, as many at a time as there are tasks: a hand is one Spark job of one task."""

    def copy(hands: Iterable[Hand]) -> Iterator[CopyOutcome]:
        use_native_package()
        looks = not first_try or is_repeated()
        with closing(open_files(settings.source)) as source, closing(open_files(settings.target)) as target:
            touch = Pulse(target, pulse)

            def moved(line: str) -> None:
                say(line)
                touch()

            for hand in hands:
                yield copy_items(
                    hand.items(),
                    source,
                    target,
                    staging,
                    settings.threads,
                    moved,
                    superseded_ok=settings.superseded_ok,
                    looks=looks,
                    bytes_per_second=settings.bytes_per_second,
                ).thinned()

    def work(numbered: Iterator[tuple[int, Hand]]) -> CopyOutcome:
        outcome = CopyOutcome()
        for number, hand in numbered:
            spark.setJobDescription(f"{settings.label}: {number:,} of {len(hands):,}, {hand.files:,} files")
            copied = spark.parallelize([hand], 1).mapPartitions(copy).collect()
            outcome = CopyOutcome.merged([outcome, *copied]).thinned()
            tell(f"{settings.label}: {number:,} of {len(hands):,} hands are copied, {hand.files:,} files")
        return outcome

    if not hands:
        return CopyOutcome()
    try:
        at_once = min(settings.tasks, len(hands))
        return CopyOutcome.merged(in_parallel(enumerate(hands, 1), at_once, work, "hand")).thinned()
    except Exception as error:
        raise TryAgain(f"the Spark job of {settings.label} failed: {causes(str(error))}") from error


def is_repeated() -> bool:
    """True in a task that Spark has begun before, on an executor that was lost, say."""
    task = TaskContext.get()
    return task is None or task.attemptNumber() > 0


def tell(line: str) -> None:
    """Write a line to the submitter, who takes it for a sign that the copy goes on."""
    print(f"{MOVES}{line}", file=sys.stderr, flush=True)


def say(line: str) -> None:
    """Write a line of progress to the executor's log."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Two Java machines are attached to this process; what they do when Python ends must not change the code.
    os._exit(code)
