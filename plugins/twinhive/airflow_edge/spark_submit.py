"""Say what spark-submit needs on this worker, and what its exit code means."""

import importlib.util
import os
import re
import shutil
import sys
from itertools import takewhile
from pathlib import Path

from twinhive.copying.result import ExitCode
from twinhive.domain.errors import ActNow, TryAgain, TwinhiveError

_EXIT_CODE = re.compile(r"Error code is: (\d+)")


def spark_environment() -> dict[str, str]:
    """Return absolute paths: a worker's PATH holds neither its virtual environment nor Java.

    SPARK_HOME is the worker's setting, else the installed pyspark. Raises ActNow without Java.
    """
    environment = {
        "SPARK_HOME": os.environ.get("SPARK_HOME") or _installed_spark(),
        "JAVA_HOME": os.environ.get("JAVA_HOME") or _java_home(),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    if "PYSPARK_PYTHON" not in os.environ:
        environment["PYSPARK_PYTHON"] = sys.executable
    return environment


def _installed_spark() -> str:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ActNow(
            "there is no Spark on this worker",
            expected="SPARK_HOME, or the Python package pyspark",
            next_step="set SPARK_HOME for the worker, or pip install -r requirements.txt; then clear this task",
        )
    return str(Path(spec.origin).parent)


def _java_home() -> str:
    java = shutil.which("java")
    if java is None:
        raise ActNow(
            "there is no Java on this worker",
            expected="JAVA_HOME, or java on PATH (Java 17 or newer)",
            next_step="set JAVA_HOME for the worker, then clear this task",
        )
    return str(Path(java).resolve().parent.parent)


def explain_spark_failure(error: Exception, label: str) -> TwinhiveError:
    """Read the exit code of spark_jobs/copy_files.py from the hook's message, its only carrier."""
    said = _last_words(str(error)) or "the last lines of copy_files above say it"
    match = _EXIT_CODE.search(str(error))
    code = int(match[1]) if match else None
    if code == ExitCode.ACT_NOW:
        return ActNow(
            f"{label}: some files cannot be copied",
            found=said,
            next_step="mend what is said above, then clear this task with all tasks after it; a lost file never comes "
            "back: bring its table over again with twinhive resync",
        )
    if code == ExitCode.UNUSABLE:
        return ActNow(
            f"{label}: Spark cannot run the copy job",
            found=said,
            next_step="mend the Spark connection or the executors' Python and Java, then clear this task",
        )
    return TryAgain(
        f"{label}: the Spark job did not finish",
        found=_last_words(str(error)) or (str(error).partition("\n")[0] if code is None else f"exit code {code}"),
        next_step="the task retries by itself; what is staged is not copied again",
    )


def _last_words(output: str) -> str:
    """Return what the job itself said last, out of spark-submit's output: `copy_files...` and its list of files."""
    lines = output.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("copy_files")]
    if not starts:
        return ""
    first, *rest = lines[starts[-1] :]
    named = list(takewhile(lambda line: line.startswith("  "), rest))
    return "; ".join([first, *(line.strip() for line in named)])
