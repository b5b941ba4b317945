"""Let Spark's executors run our Python code, with Hadoop's client in it, or find out why they cannot."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pyspark import SparkContext, SparkFiles

from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.core.model.exit_codes import Unusable
from twinhive.hive.adapters.jvm import java_vm as jvm
from twinhive.runtime.spark.job_outcome import causes
from twinhive.runtime.spark.submitter_lock import end_with_the_submitter

P = TypeVar("P")
R = TypeVar("R")


def submitted(settings: Path) -> str:
    """Return the settings that a submitter has written, and end this process with it. Raises Unusable."""
    try:
        text = settings.read_text(encoding="utf-8")
    except OSError as error:
        raise Unusable(f"the settings cannot be read: {error}") from error
    end_with_the_submitter(settings)
    return text


def on_an_executor(spark: SparkContext, part: P, carry_out: Callable[[P], R | TwinhiveError], what: str) -> R:
    """Let an executor carry out a part of a copy, as a Spark job of one task; `what` says that it failed.

    Raises TryAgain, and the error of ours that was returned: Spark would tell of one that was raised as of Java's.
    """
    try:
        [result] = spark.parallelize([part], 1).map(carry_out).collect()
    except Exception as error:
        raise TryAgain(
            what, found=causes(str(error)), expected="an executor that carries it out", next_step="run again"
        ) from error
    if isinstance(result, TwinhiveError):
        raise result
    return result


def probe(spark: SparkContext) -> None:
    """Find out on one executor whether the copy can run there. Raises Unusable."""
    driver = sys.version_info[:2]
    try:
        [complaint] = spark.parallelize([driver], 1).map(complaint_of_executor).collect()
    except Exception as error:
        raise Unusable(f"the executors cannot run our Python code: {causes(str(error))}") from error
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
    if importlib.util.find_spec("jpype") is None:
        # Spark unpacks archives below this directory, on the driver as well.
        sys.path.append(SparkFiles.get("native"))
        # jpype would import it when the process ends, after Spark has deleted the directory.
        with suppress(ImportError):
            importlib.import_module("jpype.config")
