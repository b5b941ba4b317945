"""The task that submits a Spark copy: what it hands over, and what ends with it."""

import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from tests.dags.airflow_home import CHECKOUT
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.policy import Options
from twinhive.runtime.spark.executor_progress import MOVES
from twinhive.surfaces.airflow.tasks.copy_task import CopyOperator
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.transfer.staged.job import CopyJob


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What Spark would be started with, and whether the file of its settings is held meanwhile."""
    seen: dict[str, Any] = {}

    def execute(self: Any, context: Any) -> None:
        settings = Path(self.application_args[-1])
        seen.update(conf=self.conf, settings=json.loads(settings.read_text()))
        seen["file"] = settings.open("rb")
        seen["held"] = not _free(seen["file"])

    monkeypatch.setattr(SparkSubmitOperator, "execute", execute)
    monkeypatch.setenv("AIRFLOW_CONN_WEST_SPARK", "spark://m1:7077")
    yield seen
    seen["file"].close()


def _free(file: Any) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def submit(size: tuple[int, int] = (3, 100), **conf: str) -> None:
    """Submit a batch of policy sales, of so many files and bytes."""
    endpoint = FileSystemEndpoint("hdfs://west", {}, None)
    policy = SimpleNamespace(name="sales", options=Options())
    job_tracker = SimpleNamespace(connection="west_spark")
    wiring: Any = SimpleNamespace(
        policy=policy,
        replica=SimpleNamespace(job_tracker=job_tracker),
        source_endpoint=endpoint,
        replica_endpoint=endpoint,
        dump_endpoint=endpoint,
    )
    stage = StageOf("config", "sales", "bootstrap", "copy")
    application = str(CHECKOUT / "spark_jobs" / "copy_files.py")
    task = CopyOperator(task_id="copy", stage=stage, application=application, conn_id="west_spark", conf=conf)
    task.batch = {"dump": "d", "name": "b1"}
    job = CopyJob(
        "hdfs://west/l", "hdfs://west/s", "hdfs://west/r", "some tables", *size, superseded_ok=True, batch_weight=2**36
    )
    task._submit(job, "mend it", wiring, {"params": {"copy_threads": 4}})


def test_spark_ends_with_the_task_that_submitted_it(submitted: dict[str, Any]) -> None:
    submit()
    assert submitted["held"], "a killed task would leave its job running"
    assert _free(submitted["file"]), "the job would never end"


@pytest.mark.parametrize(("said", "is_on"), [({}, "false"), ({"spark.ui.enabled": "true"}, "true")])
def test_a_copy_opens_no_page_of_spark_unless_the_policy_wants_one(
    submitted: dict[str, Any], said: dict[str, str], is_on: str
) -> None:
    submit(**said)
    assert submitted["conf"]["spark.ui.enabled"] == is_on


def test_a_batch_that_could_not_be_cut_gets_more_tasks(submitted: dict[str, Any]) -> None:
    submit()
    assert submitted["settings"]["tasks"] == 2
    submitted["file"].close()
    submit((1_000_000, 2**40))
    assert submitted["settings"]["tasks"] == 8


def test_what_the_job_says_of_its_progress_is_heard_and_nothing_that_spark_says_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_WEST_SPARK", "spark://m1:7077")
    stage = StageOf("config", "sales", "bootstrap", "copy")
    task = CopyOperator(task_id="copy", stage=stage, application="copy_files.py", conn_id="west_spark")
    heard: list[str] = []
    task._moves = lambda: heard.append("moves")
    lines = ["WARN TaskSchedulerImpl: Initial job has not accepted any resources\n", f"{MOVES}some tables\n"]
    task._get_hook()._process_spark_submit_log(iter(lines))
    assert heard == ["moves"]
