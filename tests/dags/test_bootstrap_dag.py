"""Parse the DAG file as Airflow does, and look at `<policy>.bootstrap`."""

import json
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import DagSerialization

from tests.dags.airflow_home import CHECKOUT, parse_dags
from tests.policies import PolicyFiles
from twinhive.steps.phases import BOOTSTRAP

TASKS = ("preflight", "list_objects", "tables.list_files", "tables.copy", "gate", "load")


@pytest.fixture
def dag(policies: PolicyFiles) -> DAG:
    """The DAG of one policy with options of its own."""
    policies.add("sales", options={"copy_threads": 3, "parallel_copies": 2, "spark_conf": {"spark.cores.max": "4"}})
    [found] = parse_dags(policies.directory).values()
    return found


def test_the_configuration_of_the_checkout_gives_a_dag_for_every_policy_file() -> None:
    files = sorted((CHECKOUT / "dags" / "policies").glob("*.yaml"))
    dags = parse_dags(CHECKOUT / "dags")
    assert sorted(dags) == [f"{file.stem}.bootstrap" for file in files]
    assert not any("invalid" in dag.tags for dag in dags.values())


def test_a_policy_becomes_one_dag_that_waits_for_its_operator(dag: DAG) -> None:
    assert dag.dag_id == "sales.bootstrap"
    assert dag.max_active_runs == 1
    assert dag.is_paused_upon_creation
    assert dag.schedule is None and not dag.catchup
    assert dag.tags == {"twinhive", "sales"}
    assert dag.description == "bootstrap: east/sales to west/sales"
    assert "sales.yaml" in dag.doc_md


def test_the_tasks_are_the_stages_of_the_phase(dag: DAG) -> None:
    assert tuple(task.task_id for task in dag.topological_sort()) == TASKS
    assert [task.task_id.rpartition(".")[2] for task in dag.topological_sort()] == [stage.name for stage in BOOTSTRAP]


def test_every_task_waits_for_the_one_before(dag: DAG) -> None:
    assert {task.task_id: task.upstream_task_ids for task in dag.tasks} == {
        "preflight": set(),
        "list_objects": {"preflight"},
        "tables.list_files": {"list_objects"},
        "tables.copy": {"tables.list_files", "list_objects"},
        "gate": {"tables.copy"},
        "load": {"gate"},
    }


def test_a_phase_with_nothing_to_copy_goes_on_and_a_failure_stops_it(dag: DAG) -> None:
    rules = {task.task_id: task.trigger_rule.value for task in dag.tasks}
    assert rules == {
        "preflight": "all_success",
        "list_objects": "none_failed",
        "tables.list_files": "all_success",
        "tables.copy": "all_success",
        "gate": "none_failed",
        "load": "none_failed",
    }


def test_each_batch_of_tables_passes_its_own_tasks_and_is_named_by_its_tables(dag: DAG) -> None:
    mapped = {task.task_id for task in dag.tasks if list(task.iter_mapped_task_groups())}
    assert mapped == {"tables.list_files", "tables.copy"}
    templates = {task.task_id: task.map_index_template for task in dag.tasks}
    assert {name for name, template in templates.items() if template == "{{ task.batch['label'] }}"} == mapped
    assert all("batch" in dag.task_dict[name].template_fields for name in mapped)


def test_all_tasks_are_retried_more_and_more_slowly(dag: DAG) -> None:
    for task in dag.tasks:
        assert task.retries == 3
        assert task.retry_exponential_backoff
        assert task.retry_delay.total_seconds() == 15


def test_a_cleared_copy_forgets_its_old_spark_job(dag: DAG) -> None:
    assert dag.task_dict["tables.copy"].durable is False


def test_the_copy_uses_the_connection_and_the_options_of_the_policy(dag: DAG) -> None:
    copy = dag.task_dict["tables.copy"]
    assert copy._conn_id == "west_spark"
    assert copy.application == str(CHECKOUT / "spark_jobs" / "copy_files.py")
    assert copy.conf == {"spark.cores.max": "4"}
    assert copy.max_active_tis_per_dagrun == 2


def test_the_trigger_form_offers_the_threads_of_the_policy_within_limits(dag: DAG) -> None:
    [(name, param)] = dag.params.items()
    assert (name, param.value) == ("copy_threads", 3)
    schema = param.schema
    assert (schema["type"], schema["minimum"], schema["maximum"]) == ("integer", 1, 64)


def test_a_dag_survives_being_stored_and_read_back(dag: DAG) -> None:
    stored = json.loads(json.dumps(DagSerialization.to_dict(dag)))
    read = DagSerialization.from_dict(stored)
    assert set(read.task_dict) == set(TASKS)
    for task in dag.tasks:
        same = read.task_dict[task.task_id]
        assert (same.upstream_task_ids, same.retries) == (task.upstream_task_ids, task.retries)
        assert same.trigger_rule == task.trigger_rule
    assert (read.max_active_runs, read.is_paused_upon_creation) == (1, True)
    assert "tables" in read.task_group.children


def test_parsing_twice_gives_the_same_dag_so_that_no_version_is_made_for_nothing(policies: PolicyFiles) -> None:
    policies.add("sales")
    once, again = (_stored(parse_dags(policies.directory)) for _ in range(2))
    assert once == again


def _stored(dags: dict[str, Any]) -> dict[str, str]:
    return {dag_id: json.dumps(DagSerialization.to_dict(dag), sort_keys=True) for dag_id, dag in dags.items()}
