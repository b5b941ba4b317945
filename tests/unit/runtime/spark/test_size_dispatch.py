"""What is little is copied in the process, and Spark is not even looked for; what is more goes to Spark."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.unit.transfer.tree.trees import Trees
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import ActNow, Unreachable
from twinhive.core.model.policy import Options
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.size_dispatch import LargeBySpark
from twinhive.runtime.spark.submitting import IN_A_TERMINAL
from twinhive.transfer.tree.executing import ExecutePlan, TreeCopyJob
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.tree_outcome import ExecOutcome


def no_spark() -> SparkCluster:
    raise ActNow("Spark was asked for")


def by_size(most_files: int, most_bytes: int) -> LargeBySpark:
    east, west = (FileSystemEndpoint(f"hdfs://{name}", {}, None) for name in ("east", "west"))
    options = Options(spark_above_files=most_files, spark_above_bytes=most_bytes)
    return LargeBySpark(east, west, options.is_small, no_spark, IN_A_TERMINAL)


def never() -> bool:
    return False


@pytest.mark.parametrize(("most_files", "most_bytes"), [(2, 10), (500, 2**30)])
def test_what_is_little_is_copied_in_the_process_without_looking_for_spark(most_files: int, most_bytes: int) -> None:
    trees = Trees(a=b"12345", b=b"67890")
    said: list[str] = []
    trees.sync(execute=by_size(most_files, most_bytes).execution(trees.source, trees.target, said.append, never))
    trees.assert_twin()
    assert said == []


@pytest.mark.parametrize(("most_files", "most_bytes"), [(1, 10), (2, 9), (0, 0)])
def test_what_is_more_goes_to_spark_and_the_log_says_so(most_files: int, most_bytes: int) -> None:
    trees = Trees(a=b"12345", b=b"67890")
    said: list[str] = []
    with pytest.raises(ActNow, match="Spark was asked for"):
        trees.sync(execute=by_size(most_files, most_bytes).execution(trees.source, trees.target, said.append, never))
    assert trees.at_target() == {}
    assert said == ["hdfs://west/copies/d: 2 files, 10 bytes are copied by Spark"]


def test_what_is_equal_already_needs_no_spark_however_much_it_is() -> None:
    trees = Trees(a=b"12345", b=b"67890")
    trees.sync()
    trees.sync(execute=by_size(0, 0).execution(trees.source, trees.target, print, never))
    trees.assert_twin()


def test_after_an_interruption_no_spark_is_begun_and_one_that_runs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    trees, asked = Trees(a=b"12345", b=b"67890"), []
    confirmed: list[bool] = []
    ending = threading.Event()

    def by_spark(*given: object) -> ExecutePlan:
        def execute(job: TreeCopyJob, plan: Plan, confirm: Callable[[], None]) -> ExecOutcome:
            asked.append(job)
            confirm()
            confirmed.append(True)
            ending.set()
            confirm()
            raise AssertionError("the job goes on")

        return execute

    monkeypatch.setattr("twinhive.runtime.spark.size_dispatch.by_spark", by_spark)
    large = replace(by_size(0, 0), cluster=lambda: SparkCluster("local[1]", 1, {}))
    for _ in range(2):
        with pytest.raises(Unreachable, match="not copied to its end"):
            trees.sync(execute=large.execution(trees.source, trees.target, print, ending.is_set))
    assert (len(asked), confirmed) == (1, [True])
