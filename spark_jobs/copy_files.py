"""Copy the files of one batch: submitted by spark-submit, one result file at the end.

Exit codes: 0 everything is staged; 3 something failed that may succeed later; 4 a person must act
(a source file changed or is gone, a server refused); 5 the settings or the executors cannot be used.
"""

import argparse
import gzip
import heapq
import importlib
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkContext, SparkFiles

import twinhive
from twinhive.adapters import jvm
from twinhive.adapters.hadoop_fs import HadoopFiles
from twinhive.copying.engine import CopyOutcome, copy_items
from twinhive.copying.progress import readable
from twinhive.copying.staged import CopyItem
from twinhive.domain.errors import ActNow, TryAgain, TwinhiveError
from twinhive.domain.files import authority

DONE, TRY_AGAIN, ACT_NOW, UNUSABLE = 0, 3, 4, 5
LISTED_FAILURES = 100
PRINTED_FAILURES = 5
# Opening, creating and closing a small file takes about as long as copying so many bytes.
BYTES_PER_FILE = 1_000_000


class Unusable(Exception):
    """Settings or executors that no repetition makes usable."""


@dataclass(frozen=True)
class Settings:
    """Hold what the submitter wrote: three file systems, and how to copy."""

    source: Mapping[str, Any]
    target: Mapping[str, Any]
    dump: Mapping[str, Any]
    dump_name: str
    batch: str
    version: str
    label: str
    threads: int = 8
    tasks: int = 2

    @classmethod
    def parse(cls, text: str) -> "Settings":
        """Read the JSON text; raises Unusable."""
        try:
            settings = cls(**json.loads(text))
            for side in (settings.source, settings.target, settings.dump):
                open_files(side)
        except (ValueError, TypeError, KeyError) as error:
            raise Unusable(f"the settings cannot be used: {type(error).__name__}: {error}") from error
        if settings.version != twinhive.__version__:
            raise Unusable(f"the submitter is twinhive {settings.version}, this job {twinhive.__version__}")
        return settings

    def files_of(self, uri: str) -> HadoopFiles:
        """Return the file system that a URI belongs to."""
        for side in (self.dump, self.target, self.source):
            files = open_files(side)
            if authority(uri) == files.root:
                return files
        raise Unusable(f"{uri} is on none of the file systems of the settings")


def open_files(side: Mapping[str, Any]) -> HadoopFiles:
    """Return a file system of the settings; nothing is called yet."""
    return HadoopFiles(side["root"], side["properties"], side["user"])


def main(arguments: Sequence[str]) -> int:
    """Run the job and return its exit code."""
    try:
        given = parse_arguments(arguments)
        return run(given)
    except Unusable as error:
        print(f"copy_files cannot run: {error}", file=sys.stderr)
        return UNUSABLE
    except TwinhiveError as error:
        print(f"copy_files failed: {error}", file=sys.stderr)
        return TRY_AGAIN if isinstance(error, TryAgain) else ACT_NOW


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; raises Unusable."""
    parser = argparse.ArgumentParser("copy_files", description=__doc__.partition("\n")[0])
    parser.add_argument("--listing", required=True, help="URI of the batch's gzipped JSON lines")
    parser.add_argument("--staging", required=True, help="URI of the policy's staging directory")
    parser.add_argument("--result", required=True, help="URI of the result file to write")
    parser.add_argument("--settings", required=True, help="path or URI of the settings in JSON")
    try:
        return parser.parse_args(arguments)
    except SystemExit as error:
        if error.code == 0:
            raise
        raise Unusable("see the usage above") from error


def run(given: argparse.Namespace) -> int:
    """Copy one batch with Spark's executors and write the result."""
    started = time.monotonic()
    is_remote = "://" in given.settings and not given.settings.startswith("file://")
    settings = None if is_remote else Settings.parse(read_local(given.settings))
    with SparkContext(appName=settings.label if settings else "copy_files") as spark:
        if settings is None:
            settings = Settings.parse("".join(spark.wholeTextFiles(given.settings).values().collect()))
        use_native_package()
        items = read_items(settings.files_of(given.listing), given.listing)
        spark.setJobDescription(settings.label)
        probe(spark)
        outcome = copy_on_executors(spark, settings, given.staging, items)
        result = as_result(settings, outcome, time.monotonic() - started)
        settings.files_of(given.result).write(given.result, json.dumps(result, indent=1).encode())
    print(summary(outcome, result["seconds"]), file=sys.stderr)
    return exit_code(outcome)


def read_local(path: str) -> str:
    """Return a file of the driver's machine; raises Unusable."""
    try:
        return Path(path.removeprefix("file://")).read_text()
    except OSError as error:
        raise Unusable(f"the settings cannot be read: {error}") from error


def read_items(files: HadoopFiles, listing: str) -> list[CopyItem]:
    """Read the batch, largest file first."""
    try:
        lines = gzip.decompress(files.read(listing)).decode().splitlines()
        items = [CopyItem.from_line(line) for line in lines if line]
    except (ValueError, TypeError, KeyError, EOFError, gzip.BadGzipFile) as error:
        raise Unusable(f"{listing} is not a listing: {type(error).__name__}: {error}") from error
    return sorted(items, key=lambda item: -item.length)


def deal(items: Iterable[CopyItem], hands: int) -> list[list[CopyItem]]:
    """Give each item to whoever has least to do so far."""
    dealt: list[list[CopyItem]] = [[] for _ in range(max(1, hands))]
    loads = [(0, number) for number in range(len(dealt))]
    for item in items:
        load, number = loads[0]
        dealt[number].append(item)
        heapq.heapreplace(loads, (load + item.length + BYTES_PER_FILE, number))
    return [hand for hand in dealt if hand]


def probe(spark: SparkContext) -> None:
    """Find out on one executor whether the copy can run there; raises Unusable."""
    driver = sys.version_info[:2]
    try:
        [complaint] = spark.parallelize([driver], 1).map(complaint_of_executor).collect()
    except Exception as error:
        raise Unusable(f"the executors cannot run our Python code: {causes(error)}") from error
    if complaint:
        raise Unusable(complaint)


def complaint_of_executor(driver: tuple[int, int]) -> str | None:
    """Say what is wrong with this executor, None when nothing is."""
    if sys.version_info[:2] != driver:
        own = ".".join(map(str, sys.version_info[:2]))
        return f"the executors run Python {own} ({sys.executable}), the driver {'.'.join(map(str, driver))}"
    use_native_package()
    try:
        jvm.start()
    except ActNow as error:
        return f"an executor ({sys.executable}) cannot use Hadoop: {error}"
    return None


def use_native_package() -> None:
    """Let jpype be imported from `--archives <zip>#native` where Python does not have it."""
    try:
        import jpype  # noqa: F401
    except ImportError:
        # Spark unpacks archives below this directory, on the driver as well.
        sys.path.append(SparkFiles.get("native"))
        # jpype would import it when the process ends, after Spark has deleted the directory.
        with suppress(ImportError):
            importlib.import_module("jpype.config")


def copy_on_executors(spark: SparkContext, settings: Settings, staging: str, items: list[CopyItem]) -> CopyOutcome:
    """Copy all items, each task a hand of them."""
    hands = deal(items, settings.tasks)
    if not hands:
        return CopyOutcome()

    def copy(hands: Iterable[list[CopyItem]]) -> Iterator[CopyOutcome]:
        use_native_package()
        with closing(open_files(settings.source)) as source, closing(open_files(settings.target)) as target:
            for hand in hands:
                yield copy_items(hand, source, target, staging, settings.threads, say)

    try:
        return CopyOutcome.merged(spark.parallelize(hands, len(hands)).mapPartitions(copy).collect())
    except Exception as error:
        raise TryAgain(f"the Spark job of {settings.label} failed: {causes(error)}") from error


def say(line: str) -> None:
    """Write a line of progress to the executor's log."""
    print(line, file=sys.stderr, flush=True)


def as_result(settings: Settings, outcome: CopyOutcome, seconds: float) -> dict[str, Any]:
    """Return the content of the result file."""
    failures = outcome.failures[:LISTED_FAILURES]
    return {
        "batch": settings.batch,
        "dump": settings.dump_name,
        "version": twinhive.__version__,
        **asdict(outcome),
        "seconds": round(seconds, 1),
        "failure_count": len(outcome.failures),
        "failures": [asdict(failure) for failure in failures],
    }


def summary(outcome: CopyOutcome, seconds: float) -> str:
    """Return the last lines of the log."""
    lines = [
        f"copy_files: {outcome.copied_files:,} of {outcome.files:,} files copied ({readable(outcome.copied_bytes)}), "
        f"{outcome.skipped_files:,} were staged before, {outcome.unverified:,} compared by length only, "
        f"{len(outcome.failures):,} failed, {seconds:.0f} s"
    ]
    lines += [f"  {failure.kind}: {failure.path}: {failure.reason}" for failure in outcome.failures[:PRINTED_FAILURES]]
    return "\n".join(lines)


def exit_code(outcome: CopyOutcome) -> int:
    """Return what the failures mean for whoever waits: a person's turn is before a repetition's."""
    if not outcome.failures:
        return DONE
    return TRY_AGAIN if all(failure.kind.may_retry for failure in outcome.failures) else ACT_NOW


def causes(error: Exception) -> str:
    """Return the innermost messages of a Spark error, which is mostly Java's trace."""
    found = re.findall(r"^(?:Caused by: )?([\w.$]+(?:Error|Exception): .+)$", str(error), re.MULTILINE)
    return "; ".join(dict.fromkeys(found[-2:])) or str(error).partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
