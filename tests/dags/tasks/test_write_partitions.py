"""Write partitions as a task: what it submits, and what it refuses before Spark is started."""

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors

from tests.support.fake_spark_jobs import KeptJob, keeping
from tests.support.hive.metastore_objects import a_table
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.names import TableName
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.runtime.spark.write_settings import WriteJobSettings
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.operators import write_partitions_operator
from twinhive.surfaces.airflow.operators.write_partitions_operator import WritePartitionsOperator

DAYS = TableName("sales", "days")


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[KeptJob]:
    jobs: list[KeptJob] = []
    monkeypatch.setattr(write_partitions_operator, "Job", keeping(jobs, WriteJobSettings.parse))
    for name in ("metastore", "hdfs", "spark"):
        host = {"metastore": "thrift://m1:9083", "hdfs": "hdfs://anna@n1:8020", "spark": "spark://local"}[name]
        monkeypatch.setenv(f"AIRFLOW_CONN_EAST_{name.upper()}", host)
    return jobs


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """The cluster's metastore; jobs that are only kept mark nothing in it."""
    found = a_world()
    found.source.create_table(a_table("sales", "days", keys=("day", "region", "p")))
    monkeypatch.setattr(write_partitions_operator, "cluster_metastore", lambda *_: found.source)
    return found


def a_context(max_tries: int = 3) -> dict[str, Any]:
    ti = SimpleNamespace(max_tries=max_tries, task=SimpleNamespace(retries=3))
    return {"task": SimpleNamespace(outlets=[]), "outlet_events": OutletEventAccessors(), "ti": ti}


def an_operator(policies: PolicyFiles, **given: Any) -> WritePartitionsOperator:
    said = {"cluster": "east", "table": "sales.days", "sql": "SELECT 1", "job": "run 1", **given}
    return WritePartitionsOperator(task_id="write", config=str(policies.directory), **said)


def test_the_job_gets_the_clusters_servers_and_its_user(policies: PolicyFiles, submitted: list[KeptJob]) -> None:
    an_operator(policies, mode="overwrite", small_files={"at_least": 9}).execute(a_context())
    [one] = submitted
    settings = one.settings
    assert (settings.metastore, settings.user, settings.mode) == ("thrift://m1:9083", "anna", "overwrite")
    assert settings.small_files is not None
    assert settings.small_files.at_least == 9
    application, cluster, label, _, user = one.job
    assert (application, label, user) == ("write_partitions", "write partitions of sales.days", "anna")
    assert cluster.conf["spark.hadoop.fs.defaultFS"] == "hdfs://n1:8020"


def test_a_run_is_a_job_by_default_and_small_files_may_stay(policies: PolicyFiles, submitted: list[KeptJob]) -> None:
    operator = WritePartitionsOperator(task_id="write", cluster="east", table="sales.days", sql="SELECT 1")
    assert "run_id" in operator.job
    assert {"sql", "job", "inputs", "table", "cluster", "set_done"} == set(operator.template_fields)
    an_operator(policies, small_files=None).execute(a_context())
    assert submitted[0].settings.small_files is None
    assert submitted[0].settings.set_done is None


@pytest.mark.parametrize(("max_tries", "clearing"), [(3, 0), (4, 1), (9, 6)])
def test_a_clearing_by_a_person_is_told_and_a_retry_is_none(
    policies: PolicyFiles, submitted: list[KeptJob], max_tries: int, clearing: int
) -> None:
    """With three retries: never cleared, cleared after the first try, cleared after the sixth."""
    an_operator(policies).execute(a_context(max_tries))
    assert (submitted[0].settings.job, submitted[0].settings.clearing) == ("run 1", clearing)


@pytest.mark.parametrize(
    ("given", "text"),
    [({"day": "2011-02-28", "region": "a/b"}, "day=2011-02-28/region=a%2Fb"), ("p=1", "p=1"), ("*", "*")],
)
def test_the_set_to_be_marked_goes_with_the_job(
    policies: PolicyFiles, submitted: list[KeptJob], world: World, given: Any, text: str
) -> None:
    context = a_context()
    MarkSet(DAYS, text, "run 1").run(world.source)
    an_operator(policies, set_done=given).execute(context)
    assert submitted[0].settings.set_done == text
    [asset] = context["task"].outlets
    assert asset.uri == "twinhive-set://east/sales/days"
    assert context["outlet_events"][asset].partition_keys == {text}


@pytest.mark.parametrize("other", [None, "p=2", "*"], ids=["none", "another", "a broader one"])
def test_a_set_that_was_unmarked_before_the_task_was_cleared_is_not_announced(
    policies: PolicyFiles, submitted: list[KeptJob], world: World, other: str | None
) -> None:
    MarkSet(DAYS, "p=1", "run 1").run(world.source)
    UnmarkSet(DAYS, "p=1").run(world.source)
    if other is not None:
        MarkSet(DAYS, other, "run 2").run(world.source)
    context = a_context()
    an_operator(policies, set_done="p=1").execute(context)
    assert (len(submitted), context["task"].outlets) == (1, [])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"cluster": "north"}, "there is no such cluster"),
        ({"table": "days"}, "cannot be understood"),
        ({"mode": "replace"}, "cannot be understood"),
        ({"job": " "}, "needs the name of its job"),
        ({"small_files": {"at_least": 0}}, "the rule of small files cannot be used"),
    ],
)
def test_what_cannot_be_meant_is_said_before_spark_is_started(
    policies: PolicyFiles, submitted: list[KeptJob], given: dict[str, Any], says: str
) -> None:
    with pytest.raises(PersonMustAct, match=says):
        an_operator(policies, **given).execute(a_context())
    assert submitted == []
