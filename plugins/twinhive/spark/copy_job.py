"""Copy on Spark's executors what the settings say: the files of a list, or the plan of a tree."""

from pathlib import Path
from typing import Any

from pyspark import SparkContext

from twinhive.spark.executors import probe, submitted, use_native_package
from twinhive.spark.staged_job import copy_listed
from twinhive.spark.tree_job import copy_tree
from twinhive.spark.tree_settings import TreeJobSettings
from twinhive.transfer.staged.job import JobSettings, parsed


def run(path: Path) -> int:
    """Return the exit code. Raises Unusable, TryAgain, ActNow."""
    settings = parsed(submitted(path), _of_either)
    with SparkContext(appName=settings.label) as spark:
        spark.setJobDescription(f"can the executors copy? ({settings.label})")
        use_native_package()
        probe(spark)
        if isinstance(settings, TreeJobSettings):
            return copy_tree(spark, settings, path)
        return copy_listed(spark, settings)


def _of_either(fields: dict[str, Any]) -> TreeJobSettings | JobSettings:
    return TreeJobSettings.of(fields) if "batches" in fields else JobSettings.of(fields)
