"""`<policy>.failback`, over two clusters in memory: what each task does, and what it says when it is cleared."""

import json
from pathlib import Path

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import DagRunTriggerException, DownstreamTasksSkipped

from tests.dags.forms.test_failover_dag import Run
from tests.dags.task_context import a_context
from tests.support.policies import PolicyFiles
from tests.unit.operations.failover.test_failback import Switched, kept
from twinhive.core.model.marks import PHASE, POLICY
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.old_primary import QuietOldPrimary
from twinhive.runtime.pipeline.runner import run_whole
from twinhive.runtime.pipeline.switches import FAILBACK
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.switch_dag import switch_dag
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct

BEGINNING = ["prepare", "approve", "prove_quiet", "divergence", "adopt", "start_incremental"]
ROW = [*BEGINNING, "follow", "verify", "switch_back"]


class Follows(Run):
    """A run whose sensor is asked once at a time."""

    def do(self, task_id: str) -> object:
        if task_id == "follow":
            self.pushed[task_id, "return_value"] = None
            return self.dag.get_task(task_id).poke(self._context(task_id))
        return super().do(task_id)

    def _context(self, task_id: str) -> dict[str, object]:
        return a_context(self.dag, task_id, **self.form)


@pytest.fixture
def switched(monkeypatch: pytest.MonkeyPatch) -> Switched:
    made = Switched(loses=True)
    for cluster in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "extra": {"uri": f"hdfs://{cluster}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_HDFS", json.dumps(hdfs))
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: made.ports())
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return made


@pytest.fixture
def dag(policies: PolicyFiles, switched: Switched) -> DAG:
    sides = {"source": "west", "replica": "east"}
    said = {side: {"cluster": cluster, "database": "sales"} for side, cluster in sides.items()}
    policies.write("policies/sales_back.yaml", {"policy": "sales_back", "external_tables": {"include": False}, **said})
    return switch_dag(load_configuration(policies.directory).policy("sales_back"), policies.directory, FAILBACK)


def state(switched: Switched) -> tuple[str | None, str | None]:
    parameters = switched.world.source.database("sales").parameters
    return parameters.get(POLICY), parameters.get(PHASE)


def go_on(dag: DAG, switched: Switched) -> None:
    policy = Wiring.of(
        load_configuration(Path(dag.get_task("prepare").stage.config)), "sales_back", resolve_from_airflow
    ).policy
    run_whole("incremental", policy, switched.ports(), {"run": "i"}, lambda line: None)


def test_a_dry_run_says_what_only_the_old_primary_has_and_changes_nothing(dag: DAG, switched: Switched) -> None:
    assert [task.task_id for task in dag.topological_sort()] == ROW
    run = Run(dag, dry_run=True, switch_back=False)
    before = state(switched)
    with pytest.raises(DownstreamTasksSkipped):
        run.do("prepare")
    assert "only east/sales has: plain: 1 files" in run.pushed["prepare", "said"]
    assert (state(switched), kept(switched)) == (before, {})


def test_the_old_primary_follows_and_each_task_can_be_cleared(dag: DAG, switched: Switched) -> None:
    run = Follows(dag, switch_back=False)
    switched.west.insert("plain", None, [b"west's rows"])
    for task in ("prepare", "prove_quiet", "divergence", "divergence", "adopt", "adopt"):
        run.do(task)
    assert state(switched) == ("sales_back", "following")
    assert kept(switched) == {("plain", ""): [b"never seen in west"]}
    assert run.do("follow") is False
    go_on(dag, switched)
    assert run.do("follow") is True
    with pytest.raises(DownstreamTasksSkipped) as skipped:
        run.do("verify")
    assert set(skipped.value.tasks) == {"switch_back"}
    for task in ("prepare", "prove_quiet", "divergence", "adopt"):
        run.do(task)
    assert run.do("follow") is True
    assert state(switched) == ("sales_back", "following")


def test_external_data_is_brought_back_by_a_run_of_its_own(policies: PolicyFiles) -> None:
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"}, failover={"reverse": {}})
    made = switch_dag(load_configuration(policies.directory).policy("sales_back"), policies.directory, FAILBACK)
    row = [*BEGINNING, "start_external", *ROW[len(BEGINNING) :]]
    assert [task.task_id for task in made.topological_sort()] == row


def test_both_directions_wait_for_as_long_as_the_policy_says(policies: PolicyFiles, switched: Switched) -> None:
    policies.add("sales", external_tables={"include": False}, failover={"reverse": {}, "quiet_seconds": 90})
    known = load_configuration(policies.directory)
    for name in ("sales", "sales_back"):
        waited: list[float] = []
        policy = Wiring.of(known, name, resolve_from_airflow).policy
        QuietOldPrimary(policy, wait=waited.append).run(switched.ports())
        assert waited == [90.0]


def test_the_run_that_brings_over_what_differs_is_started_at_once(dag: DAG, switched: Switched) -> None:
    run = Follows(dag, switch_back=False)
    for task in ("prepare", "prove_quiet", "divergence", "adopt"):
        run.do(task)
    for _ in range(2):
        with pytest.raises(DagRunTriggerException) as started:
            run.do("start_incremental")
        assert (started.value.trigger_dag_id, started.value.reset_dag_run) == ("sales_back.incremental", True)
    go_on(dag, switched)
    assert run.do("follow") is True


def test_an_old_primary_that_is_written_is_not_adopted(
    dag: DAG, switched: Switched, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Follows(dag, switch_back=False)
    run.do("prepare")
    monkeypatch.setattr("time.sleep", lambda seconds: switched.east.insert("plain", None, [b"x"]))
    with pytest.raises(PersonMustAct, match=r"(?s)old primary east/sales is still written.*INSERT.* of plain"):
        run.do("prove_quiet")
    assert state(switched)[0] is None


def test_cleared_after_the_switch_back_nothing_is_undone(dag: DAG, switched: Switched) -> None:
    run = Follows(dag, switch_back=True)
    for task in ("prepare", "prove_quiet", "divergence", "adopt"):
        run.do(task)
    run.do("follow")
    go_on(dag, switched)
    run.do("verify")
    wiring = Wiring.of(
        load_configuration(Path(dag.get_task("prepare").stage.config)), "sales_back", resolve_from_airflow
    )
    Failover(wiring.policy, {"run": "r"}, wait=lambda seconds: None).run(switched.ports())
    switched.east.insert("plain", None, [b"east again"])
    before = dict(switched.world.source.database("sales").parameters)
    for task in ("prepare", "prove_quiet", "divergence", "adopt"):
        with pytest.raises(PersonMustAct, match="east/sales is the primary"):
            run.do(task)
    assert dict(switched.world.source.database("sales").parameters) == before
