"""What spark-submit needs on the machine that calls it."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from twinhive.core.model.errors import ActNow
from twinhive.core.model.text import Again

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# A copy job is short, and Java's part in it small: less compiling, less log.
QUIET_AND_QUICK = {
    "spark.log.level": "WARN",
    "spark.ui.showConsoleProgress": "false",
    # Its page listens on all addresses of the worker, without a password, and can end the job.
    "spark.ui.enabled": "false",
    _JAVA_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}

ALWAYS = {
    # A second task that copies the same files at the same time would only double the traffic.
    "spark.speculation": "false",
}


def quiet_and_quick(java_options: str) -> dict[str, str]:
    """Return `QUIET_AND_QUICK` with more options of the driver's Java."""
    return {**QUIET_AND_QUICK, _JAVA_OPTIONS: f"{QUIET_AND_QUICK[_JAVA_OPTIONS]} {java_options}".strip()}


def spark_environment() -> dict[str, str]:
    """Return absolute paths: a worker's PATH holds neither its virtual environment nor Java.

    SPARK_HOME is the machine's setting, else the installed pyspark. Raises ActNow without Java or Spark.
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
            found="neither SPARK_HOME nor the package",
            expected="SPARK_HOME, or the Python package pyspark",
            next_step="set SPARK_HOME, or pip install -r requirements.txt; then " + Again(),
        )
    return str(Path(spec.origin).parent)


def _java_home() -> str:
    java = shutil.which("java")
    if java is None:
        raise ActNow(
            "there is no Java on this worker",
            found="neither JAVA_HOME nor java on PATH",
            expected="JAVA_HOME, or java on PATH (Java 17 or newer)",
            next_step="set JAVA_HOME, then " + Again(),
        )
    return str(Path(java).resolve().parent.parent)
