"""`<policy>.operate`: a form that changes nothing by default, over two clusters in memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import DagSerialization

from tests.dags.task_context import a_context
from tests.fake_world import World, a_world
from tests.policies import PolicyFiles
from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.failures import PersonMustAct
from twinhive.airflow_edge.operate_dag import operate_dag
from twinhive.settings import load_configuration
from twinhive.steps.operations import KINDS
from twinhive.steps.phase_run import run_bootstrap
from twinhive.steps.replica_status import read_status
from twinhive.wiring import Wiring


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = a_world()
    for cluster in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "extra": {"uri": f"hdfs://{cluster}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_HDFS", json.dumps(hdfs))
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: world.ports())
    return world


@pytest.fixture
def dag(policies: PolicyFiles, world: World) -> DAG:
    """The DAG of a policy whose replica is published."""
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    entry = load_configuration(policies.directory).policy("sales")
    made = operate_dag(entry, policies.directory)
    run_bootstrap(policy_of(made), world.ports(), {"run": "b"}, lambda line: None)
    return made


def policy_of(dag: DAG) -> Any:
    task = dag.task_dict["operate"]
    return Wiring.of(load_configuration(Path(task.config)), task.policy, resolve_from_airflow).policy


def operate(dag: DAG, **form: Any) -> list[str]:
    """Trigger with a form; what is not given has its default."""
    context = a_context(dag, "operate", **form)
    context["params"] |= form
    return dag.task_dict["operate"].execute(context)


def test_the_dag_runs_when_it_is_triggered_and_needs_no_unpausing(dag: DAG) -> None:
    assert dag.dag_id == "sales.operate"
    assert dag.schedule is None
    assert not dag.is_paused_upon_creation
    assert dag.max_active_runs == 1
    assert "sales" in dag.tags


def test_a_thoughtless_trigger_shows_the_status_and_changes_nothing(dag: DAG, world: World) -> None:
    before = dict(world.replica.database("sales").parameters), world.replica_files.paths()
    assert "phase: following" in operate(dag)
    assert (dict(world.replica.database("sales").parameters), world.replica_files.paths()) == before


@pytest.mark.parametrize("name", ["resync", "unlock", "pause", "unpause", "forget"])
def test_every_operation_is_rehearsed_by_default(dag: DAG, world: World, name: str) -> None:
    before = dict(world.replica.database("sales").parameters), world.replica_files.paths()
    fields = {"resync": {"table": "plain"}, "pause": {"reason": "why"}}.get(name, {})
    assert operate(dag, operation=name, **fields)
    assert (dict(world.replica.database("sales").parameters), world.replica_files.paths()) == before


def test_with_dry_run_off_it_is_done(dag: DAG, world: World) -> None:
    operate(dag, operation="resync", table="plain", dry_run=False)
    assert read_status(world.ports(), policy_of(dag)).requested == ("plain",)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"operation": "resync"}, "table: cannot be used"),
        ({"operation": "forget", "table": "plain"}, "table: cannot be used for the operation forget"),
        ({"operation": "skip-event", "event_id": 10**9, "reason": "why"}, "event_id: there is no event"),
        ({"operation": "resync", "table": "nowhere"}, "table: there is no table nowhere"),
        ({"operation": "resync", "tabel": "plain"}, "unknown keys"),
    ],
)
def test_what_is_wrong_names_the_field(dag: DAG, form: dict[str, Any], said: str) -> None:
    with pytest.raises(PersonMustAct, match=said):
        operate(dag, **form)


def test_the_form_offers_every_operation_and_each_field(dag: DAG) -> None:
    assert dag.params["operation"] == "status"
    assert dag.params.get_param("operation").schema["enum"] == list(KINDS)
    assert dag.params["dry_run"] is True
    for kind in KINDS.values():
        assert set(kind.needs) <= set(dag.params)
        assert f"`{kind.name}`" in dag.doc_md


def test_it_survives_being_stored(dag: DAG) -> None:
    stored = json.loads(json.dumps(DagSerialization.to_dict(dag)))
    assert set(DagSerialization.from_dict(stored).task_dict) == {"operate"}


def test_a_broken_policy_gives_a_dag_that_says_so(policies: PolicyFiles) -> None:
    policies.write("policies/broken.yaml", "policy: broken\nsource: 1\n")
    dag = operate_dag(load_configuration(policies.directory).policy("broken"), policies.directory)
    assert "invalid" in dag.tags
    with pytest.raises(PersonMustAct, match=r"broken\.yaml"):
        operate(dag)
