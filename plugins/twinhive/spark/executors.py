"""Let Spark's executors run our Python code, with Hadoop's client in it, or find out why they cannot."""

import importlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path

from pyspark import SparkContext, SparkFiles

from twinhive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.adapters.jvm import machine as jvm
from twinhive.model.endpoints import FileSystemEndpoint
from twinhive.model.errors import ActNow
from twinhive.spark.endings import causes
from twinhive.transfer.staged.job import Unusable


def read_local(path: str) -> str:
    """Return a file of the driver's machine. Raises Unusable."""
    try:
        return Path(path.removeprefix("file://")).read_text(encoding="utf-8")
    except OSError as error:
        raise Unusable(f"the settings cannot be read: {error}") from error


def open_files(side: FileSystemEndpoint) -> HadoopFiles:
    """Return a file system of the settings; nothing is called yet."""
    return HadoopFiles(side.root, side.properties, side.user)


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
