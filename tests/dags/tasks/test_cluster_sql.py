"""Run a statement where it fits: what is submitted where, what is refused, what is waited for."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import yaml
from airflow.sdk.exceptions import TaskDeferred

from tests.support.fake_spark_jobs import KeptJob, keeping
from tests.support.policies import PolicyFiles
from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.placement.test_copies import a_world
from twinhive.core.model.errors import TryAgain
from twinhive.runtime.spark.sql_settings import SqlJobSettings
from twinhive.runtime.wiring.routing_wiring import RoutingWiring
from twinhive.surfaces.airflow.monitor.task_failures import MayPass, PersonMustAct
from twinhive.surfaces.airflow.operators import cluster_sql_operator
from twinhive.surfaces.airflow.operators.cluster_sql_operator import ClusterSqlOperator

JOIN = "select * from plain join there on 1 = 1"
PLACEMENT = {"placement": "near", "database": "sales", "tables": {"include": [".*"]}, "cluster": "north"}


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[KeptJob]:
    jobs: list[KeptJob] = []
    monkeypatch.setattr(cluster_sql_operator, "Job", keeping(jobs, SqlJobSettings.parse))
    for name in ("east", "north"):
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_SPARK", f"spark://{name}:7077")
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", f"hdfs://anna@{name}")
    monkeypatch.setenv("AIRFLOW_CONN_EAST_METASTORE", "thrift://m1:9083")
    return jobs


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, policies: PolicyFiles) -> CopiesWorld:
    made = a_world()
    made.users.create_table("there")
    made.users.set_parameters("there", {"twinhive.cluster": "north"})
    monkeypatch.setattr(RoutingWiring, "metastore", made.metastore)
    monkeypatch.setattr(RoutingWiring, "_states", lambda _, places: made.look(places))
    a_cluster = {
        name: {
            "metastore": metastore,
            "file_system": {"connection": f"{name}_hdfs"},
            "job_tracker": {"connection": f"{name}_spark"},
        }
        for name, metastore in (("east", {"connection": "east_metastore"}), ("north", {"of": "east"}))
    }
    policies.write("clusters.yaml", {"clusters": a_cluster})
    return made


def an_operator(policies: PolicyFiles, sql: str, **given: Any) -> ClusterSqlOperator:
    said = {"database": "sales", "config": str(policies.directory), **given}
    return ClusterSqlOperator(task_id="query", sql=sql, **said)


def test_a_statement_is_submitted_to_the_cluster_where_it_fits(
    policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld
) -> None:
    world.settle()
    operator = an_operator(policies, f"{JOIN};")
    done = operator.execute({})
    [one] = submitted
    application, spark, label, _, user = one.job
    assert (application, spark.master, user, done["cluster"]) == ("run_sql", "spark://north:7077", "anna", "north")
    assert (one.settings.sql, one.settings.database) == (JOIN, "sales")
    assert spark.conf["spark.hadoop.hive.metastore.uris"] == "thrift://m1:9083"
    assert spark.conf["spark.hadoop.fs.defaultFS"] == "hdfs://north"
    for shown in (label, operator.ran_on):
        assert "north" in shown
        assert done["why"] in shown


def test_spark_asks_at_the_port_of_its_cluster_where_there_is_one(
    policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld
) -> None:
    world.settle()
    document = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    ports = ["thrift://gate1:9193", "thrift://gate2:9193"]
    document["clusters"]["north"]["gateway"] = {"port": 9193, "uris": ports}
    policies.write("clusters.yaml", document)
    an_operator(policies, JOIN).execute({})
    an_operator(policies, "select * from plain").execute({})
    asked = [one.job[1].conf["spark.hadoop.hive.metastore.uris"] for one in submitted]
    assert asked == ["thrift://gate1:9193,thrift://gate2:9193", "thrift://m1:9083"]


@pytest.mark.parametrize(
    ("sql", "cluster", "runs_on"),
    [
        ("select * from plain", None, "spark://east:7077"),
        ("select * from plain", "north", "spark://north:7077"),
        ("use cluster north; use sales; select * from plain", None, "spark://north:7077"),
        ("use cluster north; use cluster; select * from plain", None, "spark://east:7077"),
        ("insert into there select * from plain", "", "spark://north:7077"),
        ("create table made as select * from plain", None, "spark://east:7077"),
        ("create table made (a int) location 'hdfs://north/made'", "north", "spark://north:7077"),
        ("drop table if exists nowhere", "north", "spark://north:7077"),
    ],
)
def test_where_statements_run(
    policies: PolicyFiles,
    submitted: list[KeptJob],
    world: CopiesWorld,
    sql: str,
    cluster: str | None,
    runs_on: str,
) -> None:
    world.settle()
    an_operator(policies, sql, cluster=cluster).execute({})
    assert [one.job[1].master for one in submitted] == [runs_on]


def with_a_port(policies: PolicyFiles) -> None:
    document = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    document["clusters"]["north"]["gateway"] = {"port": 9193, "uris": ["thrift://gate:9193"]}
    policies.write("clusters.yaml", document)


def test_a_new_table_is_made_where_its_port_would_place_it(
    policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld
) -> None:
    sql = "create table made as select * from there"
    with pytest.raises(PersonMustAct, match=r"clusters\.north\.gateway\.uris in clusters\.yaml"):
        an_operator(policies, sql).execute({})
    with_a_port(policies)
    for root in (None, "hdfs://east/elsewhere", "hdfs://north/twinhive/copies/near"):
        if root is not None:
            set_root(world, root)
        with pytest.raises(PersonMustAct, match=r"ALTER DATABASE sales SET DBPROPERTIES \('twinhive\.root\.north'"):
            an_operator(policies, sql).execute({})
    assert submitted == []
    set_root(world, "hdfs://north/warehouse/sales")
    assert an_operator(policies, sql).execute({})["cluster"] == "north"
    assert [one.job[1].master for one in submitted] == ["spark://north:7077"]


def set_root(world: CopiesWorld, root: str) -> None:
    found = world.metastore.database("sales")
    assert found is not None
    parameters = {**found.parameters, "twinhive.root.north": root}
    world.metastore.alter_database(replace(found, parameters=parameters))


@pytest.mark.parametrize(
    ("sql", "given", "says"),
    [
        (JOIN, {}, "the statement can run on no cluster"),
        (JOIN, {"wait_for_copy": True}, "the statement can run on no cluster"),
        ("from plain insert into there select id insert into plain select id", {}, "write only tables of one cluster"),
        ("select * from plain", {"cluster": "west"}, "there is no cluster west"),
        ("use cluster west; select * from plain", {}, "there is no cluster west"),
        ("select 1; select 2", {}, "a task runs one statement"),
        (" -- nothing", {}, "a task runs one statement"),
        ("this is no sql at all", {}, "the statement cannot be routed"),
        ("select * from nowhere", {}, "there is no table sales.nowhere"),
        ("create table made as select * from there", {}, "would belong to north"),
        ("insert overwrite directory 'hdfs://east/x' select * from plain", {}, "the statement cannot be routed"),
    ],
)
def test_what_is_refused_is_refused_before_spark_is_started(
    policies: PolicyFiles,
    submitted: list[KeptJob],
    world: CopiesWorld,
    sql: str,
    given: Mapping[str, Any],
    says: str,
) -> None:
    with pytest.raises(PersonMustAct, match=says):
        an_operator(policies, sql, **given).execute({})
    assert submitted == []


def test_a_copy_that_a_placement_makes_is_waited_for(
    policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld
) -> None:
    (policies.directory / "placements").mkdir()
    policies.write("placements/near.yaml", PLACEMENT)
    with pytest.raises(PersonMustAct, match=r"trigger the DAG near\.copies"):
        an_operator(policies, JOIN).execute({})
    operator = an_operator(policies, JOIN, wait_for_copy=True)
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute({})
    with pytest.raises(TaskDeferred):
        operator.look_again({}, None, **deferred.value.kwargs or {})
    assert submitted == []
    world.settle()
    kept = deferred.value.kwargs or {}
    operator.user = "etl"
    assert operator.look_again({}, None, **kept)["cluster"] == "north"
    assert [one.job[-1] for one in submitted] == ["etl"]


def test_the_owner_of_copies_runs_statements_only_when_that_is_said(
    policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld
) -> None:
    world.settle()
    (policies.directory / "placements").mkdir()
    policies.write("placements/near.yaml", PLACEMENT)
    refused = r"(?s)on north has to say as whom.*anna, who owns the copies of placement near.*job_tracker\.user"
    with pytest.raises(PersonMustAct, match=refused):
        an_operator(policies, JOIN).execute({})
    assert submitted == []
    an_operator(policies, "select * from plain").execute({})  # on east, where no copies are
    an_operator(policies, JOIN, user="anna").execute({})
    document = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    document["clusters"]["north"]["job_tracker"]["user"] = "etl"
    policies.write("clusters.yaml", document)
    an_operator(policies, JOIN).execute({})
    assert [one.job[-1] for one in submitted] == ["anna", "anna", "etl"]


def test_the_waiting_ends(policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld) -> None:
    (policies.directory / "placements").mkdir()
    policies.write("placements/near.yaml", PLACEMENT)
    with pytest.raises(PersonMustAct, match="the statement can run on no cluster"):
        an_operator(policies, JOIN, wait_for_copy=True, copy_timeout=timedelta(0)).execute({})
    assert submitted == []


def test_a_server_that_does_not_answer_ends_the_task_or_is_waited_for(
    policies: PolicyFiles, submitted: list[KeptJob], world: CopiesWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Any:
        raise TryAgain("the metastore does not answer")

    monkeypatch.setattr(world.metastore, "table", away)
    with pytest.raises(MayPass):
        an_operator(policies, JOIN).execute({})
    with pytest.raises(TaskDeferred):
        an_operator(policies, JOIN, wait_for_copy=True).execute({})


def test_nothing_is_tried_again_unless_the_dag_asks_for_it() -> None:
    assert ClusterSqlOperator(task_id="query", sql="select 1").retries == 0
    assert ClusterSqlOperator(task_id="query", sql="select 1", retries=2).retries == 2
