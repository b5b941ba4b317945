"""Run DAGs in this process, over two clusters in memory: which tasks are executed, and which are passed over."""

from typing import Any

import pytest

from tests.dags.airflow_home import parse_dags
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.names import TableName
from twinhive.replication.bootstrap.gate import Gate, GateOpen
from twinhive.replication.replica.pending_files import pending_names
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES

IDLE = {"window": "success", "copy": "skipped", "apply": "skipped"}
WITHOUT_SPARK = {"window": "success", "copy": "skipped", "apply": "success"}
LOADED = {"round": "success", "copy": "skipped", "gate": "success", "load": "success", "next_round": "skipped"}
EXTERNAL = {"base_directory": "hdfs://west/external"}
NOTHING_TO_COPY = {"check_base": "success", "list_external": "success", "sync": "skipped"}
COPIED = {**NOTHING_TO_COPY, "sync": "success"}
ANOTHER_ROUND = {"round": "success", "copy": "skipped", "gate": "success", "load": "skipped", "next_round": "success"}


@pytest.fixture
def dags(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The DAGs of a policy that allows no event to be left over for the time after the load."""
    return dags_of(policies, monkeypatch, {"include": False}, rest_events=0, settle_seconds=0)


def dags_of(
    policies: PolicyFiles,
    monkeypatch: pytest.MonkeyPatch,
    external_tables: dict[str, Any],
    notifications: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Write the policy and return its DAGs by phase; nothing in them waits for another try."""
    monkeypatch.setitem(RETRIES, "retries", 0)
    policies.add("sales", options=options, external_tables=external_tables, notifications=notifications or {})
    # A DAG that is run parses its file once more.
    monkeypatch.setenv("TWINHIVE_CONFIG", str(policies.directory))
    return {dag_id.removeprefix("sales."): dag for dag_id, dag in parse_dags(policies.directory).items()}


def run(dag: Any, ends: str = "success") -> dict[str, str]:
    """Run a DAG and return the states of its tasks."""
    result = dag.test()
    assert result.state == ends
    return {instance.task_id: str(instance.state) for instance in result.get_task_instances()}


def test_before_there_is_a_replica_a_run_executes_one_task(world: World, dags: dict[str, Any]) -> None:
    assert run(dags["incremental"]) == IDLE


def test_an_event_is_applied_by_two_tasks_and_then_there_is_nothing_to_do(
    world: World, dags: dict[str, Any], policies: PolicyFiles
) -> None:
    run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    users = SourceWriter(world.source, world.source_files, "sales")
    users.insert("plain", None, [b"more"])
    assert run(dags["incremental"]) == WITHOUT_SPARK
    assert_twin(world)
    assert run(dags["incremental"]) == IDLE


def test_a_consolidate_loads_what_a_bootstrap_has_copied(
    world: World, dags: dict[str, Any], policies: PolicyFiles
) -> None:
    run_phase(BOOTSTRAP, policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    assert run(dags["consolidate"]) == LOADED
    assert_twin(world)
    # Once more, as after a clear: published already.
    assert run(dags["consolidate"]) == LOADED


def test_a_source_that_goes_on_gets_another_round_by_a_run_of_its_own(
    world: World, dags: dict[str, Any], policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_phase(BOOTSTRAP, policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    users = SourceWriter(world.source, world.source_files, "sales")
    look = Gate.run

    def look_late(gate: Gate, ports: Any) -> GateOpen:
        users.create_table("made_meanwhile")
        return look(gate, ports)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Gate, "run", look_late)
        assert run(dags["consolidate"]) == ANOTHER_ROUND
    assert world.replica.database("sales") is None
    assert run(dags["consolidate"]) == LOADED
    assert_twin(world)


def test_what_cannot_be_copied_is_not_applied(
    world: World, policies: PolicyFiles, dags: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    policies.add("sales", options={"spark_above_files": 0}, external_tables={"include": False})
    run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    before = world.replica.database("sales").parameters["repl.last.id"]
    SourceWriter(world.source, world.source_files, "sales").insert("plain", None, [b"more"])
    # A window that needs Spark, whose connection nobody knows.
    states = run(dags["incremental"], ends="failed")
    assert states == {"window": "success", "copy": "failed", "apply": "upstream_failed"}
    assert world.replica.database("sales").parameters["repl.last.id"] == before
    assert "Airflow gave no connection west_spark" in caplog.text
    assert "correct the id in clusters.yaml" in caplog.text
    # An unknown connection would be submitted to YARN without a word.
    assert "spark-submit" not in caplog.text and "yarn" not in caplog.text


def test_external_tables_are_published_by_the_event_lane_when_the_data_lane_has_brought_their_data(
    world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    dags = dags_of(policies, monkeypatch, EXTERNAL)
    policy = policies.wiring("sales").policy
    world.source_files.put("hdfs://east/outside/part-0", b"rows")
    # Nothing follows yet.
    assert run(dags["external"]) == NOTHING_TO_COPY
    run_phase(BOOTSTRAP, policy, world.ports(), {"run": "b"}, print)
    assert run(dags["consolidate"]) == LOADED
    assert pending_names(world.replica_files, policy) == ("outside",)

    assert run(dags["external"]) == COPIED
    assert run(dags["incremental"]) == IDLE
    assert pending_names(world.replica_files, policy) == ()
    table = world.replica.table(TableName("sales", "outside"))
    assert table.location == "hdfs://west/external/outside"
    assert world.replica_files.read(f"{table.location}/part-0") == b"rows"


def test_a_large_copy_asks_for_spark_and_a_failure_leaves_the_table_waiting(
    world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    dags = dags_of(policies, monkeypatch, EXTERNAL, spark_above_files=0)
    policy = policies.wiring("sales").policy
    world.source_files.put("hdfs://east/outside/part-0", b"rows")
    run_phase(BOOTSTRAP, policy, world.ports(), {"run": "b"}, print)
    states = run(dags["external"], ends="failed")
    assert states == {**COPIED, "sync": "failed"}
    assert "Airflow gave no connection west_spark" in caplog.text
    assert world.replica_files.status("hdfs://west/external/outside") is None
