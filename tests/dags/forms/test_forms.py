"""The trigger forms: what they offer, what they refuse, and the runs that only say what they would do."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.api_fastapi.core_api.datamodels.dag_run import TriggerDAGRunPostBody
from airflow.sdk._shared.secrets_masker import DEFAULT_SENSITIVE_FIELDS
from airflow.serialization.serialized_objects import DagSerialization

from tests.dags.airflow_home import parse_dags, use_own_airflow
from tests.dags.policies.test_in_process import WITHOUT_SPARK, dags, run
from tests.dags.task_context import a_context
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.runtime.pipeline.phases import PHASES
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.tasks.dry_run import DRY_RUN, PLAN

__all__ = ["dags"]

FIRST_SIGHT = 6
PEOPLE_START = ("bootstrap", "consolidate")


@pytest.fixture
def parsed(policies: PolicyFiles) -> dict[str, Any]:
    """The DAGs of one policy, by phase."""
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    found = parse_dags(policies.directory).items()
    return {dag_id.removeprefix("sales."): dag for dag_id, dag in found if dag_id.startswith("sales.")}


def fields_of(dag: Any) -> dict[str, Any]:
    return {name: dag.params.get_param(name) for name in dag.params}


def test_every_field_says_what_it_is_and_what_it_takes(parsed: dict[str, Any]) -> None:
    for dag in parsed.values():
        for name, field in fields_of(dag).items():
            said = field.schema
            assert {"type", "title"} <= said.keys(), (dag.dag_id, name)
            assert field.description, (dag.dag_id, name)


def test_what_nobody_touches_is_safe(parsed: dict[str, Any]) -> None:
    for phase in PHASES:
        dag = parsed[phase]
        assert [name for name in dag.params if dag.params[name] is True] == []
    assert parsed["operate"].params["operation"] == "status"
    assert parsed["operate"].params[DRY_RUN] is True
    assert parsed["give_up"].params["operation"] is None
    assert parsed["give_up"].params[DRY_RUN] is True


def test_the_form_is_short_at_first_sight_and_tuning_is_folded_away(parsed: dict[str, Any]) -> None:
    for dag in parsed.values():
        fields = fields_of(dag)
        assert sum("section" not in field.schema for field in fields.values()) <= FIRST_SIGHT
        assert "copy_threads" not in fields or fields["copy_threads"].schema["section"] == "Tuning"


def test_no_field_has_a_name_whose_value_airflow_would_hide(parsed: dict[str, Any]) -> None:
    names = {name for dag in parsed.values() for name in dag.params}
    assert [name for name in names if any(word in name.lower() for word in DEFAULT_SENSITIVE_FIELDS)] == []


@pytest.mark.parametrize(
    ("phase", "task", "form", "said"),
    [
        ("bootstrap", "preflight", {"copy_threads": 0}, "copy_threads"),
        ("bootstrap", "preflight", {"copy_threads": "8"}, "copy_threads"),
        ("consolidate", "next_round", {"copy_threads": 65}, "copy_threads"),
        ("incremental", "window", {"dry_run": "yes"}, "dry_run"),
        ("scan", "scan", {"deep": None}, "deep"),
        ("verify", "verify", {"deep": None}, "deep"),
        ("operate", "operate", {"operation": "destroy"}, "operation"),
        ("operate", "operate", {"operation": "forget"}, "operation"),
        ("give_up", "give_up", {"event_id": 0}, "event_id"),
    ],
)
def test_a_wrong_value_that_came_past_the_form_is_refused_by_the_task(
    parsed: dict[str, Any], phase: str, task: str, form: dict[str, Any], said: str
) -> None:
    dag = parsed[phase]
    with pytest.raises(PersonMustAct, match=f"holds a value for {said} that cannot be used"):
        dag.task_dict[task].execute(a_context(dag, task, **form))


def everything(world: World) -> tuple[Any, ...]:
    """Return all that a run could change."""
    databases = [metastore.database("sales") for metastore in (world.source, world.replica)]
    files = {
        files.root: {path: files.read(path) for path in files.paths()}
        for files in (world.source_files, world.replica_files)
    }
    return databases, files, world.source.current_event_id(), world.replica.current_event_id()


@pytest.mark.parametrize("phase", [*PHASES])
def test_a_dry_run_says_its_plan_skips_the_rest_ends_green_and_changes_nothing(
    world: World, dags: dict[str, Any], policies: PolicyFiles, phase: str
) -> None:
    run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    users = SourceWriter(world.source, world.source_files, "sales")
    users.insert("plain", None, [b"more"])
    before = everything(world)
    result = dags[phase].test(run_conf={"dry_run": True})
    instances = result.get_task_instances()
    first = PHASES[phase][0].name
    assert result.state == "success"
    assert {one.task_id: str(one.state) for one in instances if one.task_id == first} == {first: "success"}
    assert {str(one.state) for one in instances if one.task_id != first} <= {"skipped"}
    [of_first] = [one for one in instances if one.task_id == first]
    plan = of_first.xcom_pull(task_ids=first, key=PLAN)
    assert plan["verdict"].startswith("a real run would ")
    assert everything(world) == before


def test_after_a_dry_run_a_real_one_does_what_was_said(
    world: World, dags: dict[str, Any], policies: PolicyFiles
) -> None:
    run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    SourceWriter(world.source, world.source_files, "sales").insert("plain", None, [b"more"])
    dags["incremental"].test(run_conf={"dry_run": True})
    # A run within this process leaves its values in the DAG; in Airflow, each task has a process of its own.
    again = parse_dags(policies.directory)["sales.incremental"]
    assert run(again) == WITHOUT_SPARK
    assert_twin(world)


def test_a_plan_that_would_be_refused_ends_green_and_says_so(world: World, dags: dict[str, Any]) -> None:
    result = dags["consolidate"].test(run_conf={"dry_run": True})
    assert result.state == "success"
    [first] = [one for one in result.get_task_instances() if one.task_id == "round"]
    assert first.xcom_pull(task_ids="round", key=PLAN)["refused"] is True


@pytest.mark.parametrize("phase", PEOPLE_START)
def test_a_second_click_gives_the_same_run_id_and_a_later_trigger_another(parsed: dict[str, Any], phase: str) -> None:
    use_own_airflow()
    stored = DagSerialization.from_dict(json.loads(json.dumps(DagSerialization.to_dict(parsed[phase]))))
    moment = datetime(2030, 5, 17, 12, 0, 41, 250_000, tzinfo=UTC)

    def id_after(seconds: float) -> str:
        body = TriggerDAGRunPostBody(logical_date=None, run_after=moment + timedelta(seconds=seconds))
        return str(body.validate_context(stored)["run_id"])

    assert id_after(0) == id_after(0.4) == "manual__2030-05-17T12:00:40+00:00"
    assert id_after(10) != id_after(0)
    assert not stored.timetable.can_be_scheduled
