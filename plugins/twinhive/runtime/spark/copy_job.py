"""Copy on Spark's executors what the settings say: the files of a list, or the plan of a tree."""

from pathlib import Path
from typing import assert_never

from pyspark import SparkContext

from twinhive.runtime.spark.copy_settings import CopySettings, ListedCopy, TreeCopy
from twinhive.runtime.spark.executors import probe, submitted, use_native_package
from twinhive.runtime.spark.staged_job import copy_listed
from twinhive.runtime.spark.tree_job import copy_tree


def run(path: Path) -> int:
    """Return the exit code. Raises Unusable, TryAgain, ActNow."""
    settings = CopySettings.parse(submitted(path))
    with SparkContext(appName=settings.what.label) as spark:
        spark.setJobDescription(f"can the executors copy? ({settings.what.label})")
        use_native_package()
        probe(spark)
        match settings.what:
            case ListedCopy() as listed:
                return copy_listed(spark, settings, listed)
            case TreeCopy() as tree:
                return copy_tree(spark, settings, tree, path)
            case unknown:
                assert_never(unknown)
