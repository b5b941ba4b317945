"""What is little is copied in the process, and Spark is not even looked for; what is more goes to Spark."""

import pytest

from tests.unit.transfer.tree.trees import Trees
from twinhive.model.endpoints import FileSystemEndpoint
from twinhive.model.errors import ActNow
from twinhive.model.policy import Options
from twinhive.spark.by_size import LargeBySpark
from twinhive.spark.cluster import SparkCluster
from twinhive.spark.submitting import IN_A_TERMINAL


def no_spark() -> SparkCluster:
    raise ActNow("Spark was asked for")


def by_size(most_files: int, most_bytes: int) -> LargeBySpark:
    east, west = (FileSystemEndpoint(f"hdfs://{name}", {}, None) for name in ("east", "west"))
    options = Options(spark_above_files=most_files, spark_above_bytes=most_bytes)
    return LargeBySpark(east, west, options.is_small, no_spark, IN_A_TERMINAL)


@pytest.mark.parametrize(("most_files", "most_bytes"), [(2, 10), (500, 2**30)])
def test_what_is_little_is_copied_in_the_process_without_looking_for_spark(most_files: int, most_bytes: int) -> None:
    trees = Trees(a=b"12345", b=b"67890")
    said: list[str] = []
    trees.sync(execute=by_size(most_files, most_bytes).execution(trees.source, trees.target, said.append))
    trees.assert_twin()
    assert said == []


@pytest.mark.parametrize(("most_files", "most_bytes"), [(1, 10), (2, 9), (0, 0)])
def test_what_is_more_goes_to_spark_and_the_log_says_so(most_files: int, most_bytes: int) -> None:
    trees = Trees(a=b"12345", b=b"67890")
    said: list[str] = []
    with pytest.raises(ActNow, match="Spark was asked for"):
        trees.sync(execute=by_size(most_files, most_bytes).execution(trees.source, trees.target, said.append))
    assert trees.at_target() == {}
    assert said == ["hdfs://west/copies/d: 2 files, 10 bytes are copied by Spark"]


def test_what_is_equal_already_needs_no_spark_however_much_it_is() -> None:
    trees = Trees(a=b"12345", b=b"67890")
    trees.sync()
    trees.sync(execute=by_size(0, 0).execution(trees.source, trees.target, print))
    trees.assert_twin()
