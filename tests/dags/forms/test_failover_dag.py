"""`<policy>.failover`, over two clusters in memory: what each task proves, and what it says when it is cleared."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import DAG
from airflow.sdk.exceptions import DagRunTriggerException, DownstreamTasksSkipped

from tests.dags.task_context import a_context
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import REPLICA_ADDRESS, World, a_world
from tests.unit.operations.failover.test_readiness import READY
from twinhive.core.model.marks import PHASE
from twinhive.operations.failover import proof
from twinhive.operations.failover.failover import Failover
from twinhive.runtime.pipeline.runner import run_bootstrap, run_whole
from twinhive.runtime.pipeline.switches import FAILOVER
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.switch_dag import switch_dag
from twinhive.surfaces.airflow.monitor.task_failures import MayPass, PersonMustAct
from twinhive.surfaces.airflow.tasks.switch_task import SAID

PROOFS = ("fence", "catch_up", "prove_quiet", "verify")


class Run:
    """One run of the DAG: what its tasks have pushed, and who runs them."""

    def __init__(self, dag: DAG, **form: Any) -> None:
        self.dag, self.form = dag, {"dry_run": False, **form}
        self.pushed: dict[tuple[str, str], Any] = {}

    def do(self, task_id: str) -> Any:
        """Run one task; return what it returns."""
        task = self.dag.get_task(task_id)
        context = a_context(self.dag, task_id, **self.form)
        context["params"] |= self.form
        context |= {"task": task}
        context["ti"] = SimpleNamespace(
            task_id=task_id,
            try_number=1,
            map_index=-1,
            xcom_push=lambda key, value: self.pushed.__setitem__((task_id, key), value),
            xcom_pull=lambda task_ids, key="return_value": self.pushed.get((task_ids, key)),
        )
        if task_id == "catch_up":
            return task.poke(context)
        found = task.execute(context)
        self.pushed[task_id, "return_value"] = json.loads(json.dumps(found))
        return found

    def all_but_approve(self) -> None:
        """Run the tasks one after the other, as after an approval."""
        for task_id in ("prepare", *PROOFS, "promote"):
            assert self.do(task_id) is not False


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = a_world()
    world.replica.configurations[REPLICA_ADDRESS] |= READY
    for cluster in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "extra": {"uri": f"hdfs://{cluster}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_HDFS", json.dumps(hdfs))
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: world.ports())
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return world


@pytest.fixture
def users(world: World) -> SourceWriter:
    return SourceWriter(world.source, world.source_files, "sales")


@pytest.fixture
def dag(policies: PolicyFiles, world: World) -> DAG:
    """The DAG of a policy whose replica follows."""
    policies.add("sales", external_tables={"include": False})
    made = switch_dag(load_configuration(policies.directory).policy("sales"), policies.directory, FAILOVER)
    run_bootstrap(policy_of(made), world.ports(), {"run": "b"}, lambda line: None)
    return made


def policy_of(dag: DAG) -> Any:
    config = Path(dag.get_task("prepare").stage.config)
    return Wiring.of(load_configuration(config), "sales", resolve_from_airflow).policy


def follow(dag: DAG, world: World) -> None:
    run_whole("incremental", policy_of(dag), world.ports(), {"run": "i"}, lambda line: None)


def phase(world: World) -> str:
    return str(world.replica.database("sales").parameters[PHASE])


def test_its_tasks_stand_in_a_row_and_a_person_approves(dag: DAG) -> None:
    row = ["prepare", "approve", "fence", "catch_up", "prove_quiet", "verify", "promote"]
    assert [task.task_id for task in dag.topological_sort()] == row
    approve = dag.get_task("approve")
    assert isinstance(approve, ApprovalOperator)
    assert (approve.defaults, approve.fail_on_reject) == (None, False)
    assert approve.response_timeout is not None
    assert approve.ignore_downstream_trigger_rules
    assert not dag.is_paused_upon_creation
    assert dag.params["dry_run"] is True


def test_external_data_is_copied_once_more_behind_the_fence(policies: PolicyFiles, world: World) -> None:
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    made = switch_dag(load_configuration(policies.directory).policy("sales"), policies.directory, FAILOVER)
    row = ["prepare", "approve", "fence", "start_external", "catch_up", "prove_quiet", "verify", "promote"]
    assert [task.task_id for task in made.topological_sort()] == row
    run_bootstrap(policy_of(made), world.ports(), {"run": "b"}, lambda line: None)
    with pytest.raises(DagRunTriggerException) as started:
        Run(made).do("start_external")
    assert (started.value.trigger_dag_id, started.value.dag_run_id) == ("sales.external", "for-failover-manual__1")
    assert started.value.reset_dag_run
    assert Run(made, mode="unplanned").do("start_external") is None
    unplanned = Run(made, mode="unplanned", reason="east is gone")
    unplanned.do("prepare")
    unplanned.do("promote")
    assert Run(made).do("start_external") is None


@pytest.mark.parametrize("mode", ["planned", "unplanned"])
def test_by_default_it_says_what_it_would_do_and_passes_the_rest_over(dag: DAG, world: World, mode: str) -> None:
    run = Run(dag, dry_run=True, mode=mode)
    with pytest.raises(DownstreamTasksSkipped) as skipped:
        run.do("prepare")
    assert set(skipped.value.tasks) == {"approve", *PROOFS, "promote"}
    assert phase(world) == "following"


def test_a_look_sees_what_came_while_it_waited(
    dag: DAG, world: World, users: SourceWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    users.insert("plain", None, [b"last"])
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            follow(dag, world)

    monkeypatch.setattr("time.sleep", wait)
    assert Run(dag).do("catch_up") is True
    assert len(waits) == 3


def test_a_slot_is_given_back_and_taken_again_late_enough_for_airflow(dag: DAG, users: SourceWriter) -> None:
    """What waits must not keep all slots from what it waits for; Airflow notices an end up to five seconds late."""
    users.insert("plain", None, [b"last"])
    sensor = dag.get_task("catch_up")
    assert Run(dag).do("catch_up") is False
    assert (sensor.mode, sensor.poke_interval) == ("reschedule", 15.0)


@pytest.mark.parametrize(("minutes", "most"), [(None, 15), (1.0, 15), (0.1, 1), (0.01, 0)])
def test_looks_end_well_before_the_task_is_ended_for_its_time(
    dag: DAG, users: SourceWriter, monkeypatch: pytest.MonkeyPatch, minutes: float | None, most: int
) -> None:
    users.insert("plain", None, [b"last"])
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    if minutes is not None:
        monkeypatch.setattr(dag.get_task("catch_up"), "execution_timeout", timedelta(minutes=minutes))
    assert Run(dag).do("catch_up") is False
    assert waits == [2.0] * most


def test_slow_looks_end_in_time_too(dag: DAG, users: SourceWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    users.insert("plain", None, [b"last"])
    now, looks = [0.0], []

    def missing(self: Failover, *given: object) -> str:
        looks.append(given)
        now[0] += 12.0
        return "much"

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(Failover, "is_behind", missing)
    assert Run(dag).do("catch_up") is False
    assert len(looks) == 3


def test_a_planned_failover_task_by_task(dag: DAG, world: World, users: SourceWriter) -> None:
    users.insert("plain", None, [b"last"])
    run = Run(dag)
    run.do("prepare")
    assert "would open" in run.pushed["prepare", "said"]
    run.do("fence")
    assert run.do("catch_up") is False
    with pytest.raises(MayPass, match="not at the source's newest event yet"):
        run.do("prove_quiet")
    follow(dag, world)
    assert run.do("catch_up") is True
    run.do("prove_quiet")
    run.do("verify")
    assert phase(world) == "following"
    run.do("promote")
    assert phase(world) == "promoted"


def test_each_task_can_be_cleared_once_it_has_taken_over(dag: DAG, world: World) -> None:
    run = Run(dag)
    run.all_but_approve()
    before = dict(world.replica.database("sales").parameters)
    for task_id in ("promote", "verify", "prove_quiet", "catch_up", "prepare", "promote"):
        assert run.do(task_id) is not False
    Run(dag, mode="unplanned", reason="again").all_but_approve()
    assert dict(world.replica.database("sales").parameters) == before


def test_what_is_written_after_it_was_quiet_is_refused(dag: DAG, world: World, users: SourceWriter) -> None:
    run = Run(dag)
    for task_id in ("prepare", *PROOFS):
        run.do(task_id)
    users.insert("plain", None, [b"late"])
    with pytest.raises(PersonMustAct, match="is still written"):
        run.do("promote")
    follow(dag, world)
    with pytest.raises(PersonMustAct, match="is still written"):
        run.do("promote")
    assert phase(world) == "following"
    for task_id in (*PROOFS, "promote"):
        run.do(task_id)
    assert phase(world) == "promoted"


def test_what_was_compared_long_ago_counts_no_more(dag: DAG, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(dag)
    for task_id in ("prepare", *PROOFS):
        run.do(task_id)
    for task_id in ("prove_quiet", "verify"):
        run.pushed[task_id, "return_value"]["began_ms"] -= int(1000 * proof.OLD_SECONDS)
    with pytest.raises(PersonMustAct, match=r"is too old(.|\n)*clear the task prove_quiet with all tasks after it"):
        run.do("promote")
    assert phase(world) == "following"


def test_a_comparison_of_before_is_none_of_what_was_proved_quiet_since(
    dag: DAG, world: World, users: SourceWriter
) -> None:
    run = Run(dag)
    for task_id in ("prepare", *PROOFS):
        run.do(task_id)
    users.insert("plain", None, [b"told"])
    world.source_files.put(f"{users.location('plain')}/silent", b"told by no event")
    with pytest.raises(PersonMustAct, match="is still written"):
        run.do("promote")
    follow(dag, world)
    run.do("prove_quiet")
    with pytest.raises(
        PersonMustAct, match=r"at another moment(.|\n)*clear the task prove_quiet with all tasks after it"
    ):
        run.do("promote")
    with pytest.raises(MayPass, match="is not proved equal"):
        run.do("verify")
    assert phase(world) == "following"


def test_a_fence_that_is_begun_anew_takes_all_proofs_with_it(dag: DAG, world: World) -> None:
    run = Run(dag)
    for task_id in ("prepare", *PROOFS):
        run.do(task_id)
    run.do("fence")
    with pytest.raises(PersonMustAct, match="was begun anew"):
        run.do("promote")
    for task_id in ("prove_quiet", "verify", "promote"):
        run.do(task_id)
    assert phase(world) == "promoted"


@pytest.mark.parametrize("gone", ["prove_quiet", "verify"])
def test_it_does_not_take_over_without_what_the_tasks_before_have_proved(dag: DAG, world: World, gone: str) -> None:
    run = Run(dag)
    for task_id in ("prepare", *PROOFS):
        run.do(task_id)
    del run.pushed[gone, "return_value"]
    with pytest.raises(PersonMustAct, match=f"the task {gone} has left nothing to go on from"):
        run.do("promote")
    assert phase(world) == "following"


def test_a_replica_that_is_not_ready_is_refused_before_anybody_is_asked(dag: DAG, world: World) -> None:
    world.replica.configurations[REPLICA_ADDRESS]["metastore.repl.cm.enabled"] = "false"
    with pytest.raises(PersonMustAct, match="keeps no dropped files"):
        Run(dag).do("prepare")


def test_an_unplanned_failover_asks_nothing_of_a_source_that_is_gone(
    dag: DAG, world: World, users: SourceWriter
) -> None:
    users.insert("plain", None, [b"lost"])
    world.source.down = world.source_files.down = True
    run = Run(dag, mode="unplanned", reason="east is gone")
    run.do("prepare")
    assert "lost: all that east/sales has logged" in run.pushed["prepare", "said"]
    for task_id in (*PROOFS, "promote"):
        run.do(task_id)
    assert phase(world) == "promoted"


def test_an_unplanned_failover_wants_a_reason(dag: DAG, world: World) -> None:
    for reason in (None, "", "  "):
        with pytest.raises(PersonMustAct, match="reason is missing"):
            Run(dag, mode="unplanned", reason=reason).do("prepare")
    assert phase(world) == "following"


def test_a_replica_that_has_moved_since_it_was_approved_is_refused(dag: DAG, world: World, users: SourceWriter) -> None:
    run = Run(dag, mode="unplanned", reason="east is gone")
    run.do("prepare")
    users.insert("plain", None, [b"more"])
    follow(dag, world)
    with pytest.raises(PersonMustAct, match="at the event that was named"):
        run.do("promote")
    run.do("prepare")
    run.do("promote")
    assert phase(world) == "promoted"


def test_what_is_approved_stands_in_the_question(dag: DAG) -> None:
    approve = dag.get_task("approve")
    assert "xcom_pull(task_ids='prepare', key='said')" in str(approve.body)
    assert SAID == "said"
    assert "{{ params.mode }}" in approve.subject
