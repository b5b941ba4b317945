"""`<policy>.operate` and `<policy>.give_up`: forms that change nothing by default, over two clusters in memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import DagSerialization

from tests.dags.task_context import a_context
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.marks import POLICY
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.operation_kinds import KINDS
from twinhive.replication.dump.json_files import read_json
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.operate_dag import FORMS, GIVE_UP, OPERATE, form_dag
from twinhive.surfaces.airflow.monitor.task_failures import MayPass, PersonMustAct


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
    made = form_dag(entry, policies.directory, FORMS[OPERATE])
    run_bootstrap(policy_of(made), world.ports(), {"run": "b"}, lambda line: None)
    return made


@pytest.fixture
def giving_up(dag: DAG, policies: PolicyFiles) -> DAG:
    """The other form of the same policy."""
    return form_dag(load_configuration(policies.directory).policy("sales"), policies.directory, FORMS[GIVE_UP])


def policy_of(dag: DAG) -> Any:
    [task] = dag.tasks
    return Wiring.of(load_configuration(Path(task.config)), task.policy, resolve_from_airflow).policy


def operate(dag: DAG, **form: Any) -> list[str]:
    """Trigger with a form; what is not given has its default."""
    [task] = dag.tasks
    context = a_context(dag, task.task_id, **form)
    context["params"] |= form
    lines: list[str] = task.execute(context)
    return lines


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


def test_a_failback_of_what_nobody_failed_over_is_refused(giving_up: DAG) -> None:
    with pytest.raises(PersonMustAct, match="has not taken over from west/sales"):
        operate(giving_up, operation="failback")


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"failback"}))
def test_every_operation_is_rehearsed_by_default(dag: DAG, giving_up: DAG, world: World, name: str) -> None:
    event = world.source.emit("ALTER_TABLE", database="sales", table="plain", message={"nonsense": 1}).event_id
    before = dict(world.replica.database("sales").parameters), world.replica_files.paths()
    values = {"table": "plain", "reason": "why", "event_id": event}
    fields = {field: values[field] for field in KINDS[name].needs}
    assert operate(giving_up if KINDS[name].gives_up else dag, operation=name, **fields)
    assert (dict(world.replica.database("sales").parameters), world.replica_files.paths()) == before


def test_with_dry_run_off_it_is_done(dag: DAG, world: World) -> None:
    operate(dag, operation="resync", table="plain", dry_run=False)
    assert read_status(world.ports(), policy_of(dag)).requested == ("plain",)


def test_a_form_does_nothing_of_the_other_one(dag: DAG, giving_up: DAG) -> None:
    assert set(dag.params.get_param("operation").schema["enum"]).isdisjoint(
        giving_up.params.get_param("operation").schema["enum"]
    )
    with pytest.raises(PersonMustAct, match="holds a value for operation that cannot be used"):
        operate(dag, operation="forget")
    with pytest.raises(PersonMustAct, match="operation: nothing chosen"):
        operate(giving_up)


@pytest.mark.parametrize("typed", [None, "", "sale", "SALES"])
def test_a_replica_is_not_given_up_before_the_name_of_its_policy_is_typed(
    giving_up: DAG, world: World, typed: str | None
) -> None:
    before = dict(world.replica.database("sales").parameters), world.replica_files.paths()
    with pytest.raises(PersonMustAct, match="cannot be undone, so it wants the policy's name"):
        operate(giving_up, operation="forget", dry_run=False, confirm=typed)
    assert (dict(world.replica.database("sales").parameters), world.replica_files.paths()) == before
    operate(giving_up, operation="forget", dry_run=False, confirm="sales")
    assert POLICY not in world.replica.database("sales").parameters


def test_a_mark_says_which_user_triggered_it(dag: DAG, world: World) -> None:
    [task] = dag.tasks
    context = a_context(dag, task.task_id, operation="pause", reason="tests", dry_run=False)
    context["dag_run"].triggering_user_name = "ann"
    task.execute(context)
    [mark] = [path for path in world.replica_files.paths() if path.endswith("paused.json")]
    assert (read_json(world.replica_files, mark) or {})["by"] == "ann"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"operation": "resync"}, "table: cannot be used"),
        ({"operation": "unpause", "table": "plain"}, "table: cannot be used for the operation unpause"),
        ({"operation": "resync", "table": "nowhere"}, "table: there is no table nowhere"),
        ({"operation": "resync", "tabel": "plain"}, "unknown keys"),
        ({"operation": "resync", "event_id": 3}, "unknown keys"),
    ],
)
def test_what_is_wrong_names_the_field(dag: DAG, form: dict[str, Any], said: str) -> None:
    with pytest.raises(PersonMustAct, match=said):
        operate(dag, **form)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"operation": "forget", "reason": "why"}, "reason: cannot be used for the operation forget"),
        ({"operation": "skip-event", "event_id": 10**9, "reason": "why"}, "event_id: there is no event"),
    ],
)
def test_what_is_wrong_with_giving_up_names_the_field(giving_up: DAG, form: dict[str, Any], said: str) -> None:
    with pytest.raises(PersonMustAct, match=said):
        operate(giving_up, **form)


def test_the_form_offers_every_operation_and_each_field(dag: DAG, giving_up: DAG) -> None:
    assert dag.params["operation"] == "status"
    for form in (dag, giving_up):
        assert form.params["dry_run"] is True
    for kind in KINDS.values():
        form = giving_up if kind.gives_up else dag
        assert kind.name in form.params.get_param("operation").schema["enum"]
        assert set(kind.needs) <= set(form.params)
        assert f"`{kind.name}`" in (form.doc_md or "")


def test_it_survives_being_stored(dag: DAG) -> None:
    stored = json.loads(json.dumps(DagSerialization.to_dict(dag)))
    assert set(DagSerialization.from_dict(stored).task_dict) == {"operate"}


def test_a_broken_policy_gives_a_dag_that_says_so(policies: PolicyFiles) -> None:
    policies.write("policies/broken.yaml", "policy: broken\nsource: 1\n")
    dag = form_dag(load_configuration(policies.directory).policy("broken"), policies.directory, FORMS[OPERATE])
    assert "invalid" in dag.tags
    with pytest.raises(PersonMustAct, match=r"broken\.yaml"):
        operate(dag)


def test_an_operation_that_fails_is_in_the_journal_until_one_succeeds(
    dag: DAG, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    world.source.down = True
    with pytest.raises(MayPass):
        operate(dag)
    [failure] = open_reader(url).failures("sales")
    assert (failure.dag_id, failure.task_id, failure.kind) == ("sales.operate", "operate", "Unreachable")
    world.source.down = False
    operate(dag)
    assert open_reader(url).failures("sales") == []
    # What is wrong with a form is between the form and whoever filled it in.
    with pytest.raises(PersonMustAct):
        operate(dag, operation="resync", dry_run=False)
    assert open_reader(url).failures("sales") == []
