"""A policy that cannot be used is red and readable, never gone."""

from typing import Any

import pytest
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import BaseSensorOperator

from tests.dags.airflow_home import parse_dags
from tests.dags.forms.test_failback_dag import BEGINNING
from tests.dags.task_context import a_context
from tests.support.policies import PolicyFiles
from twinhive.surfaces.airflow.monitor.task_failures import MayPass, PersonMustAct, TaskStopped

TASKS = {
    "bootstrap": {"preflight", "list_objects", "tables.list_files", "tables.copy", "consolidate"},
    "consolidate": {"round", "copy", "gate", "load", "next_round"},
    "incremental": {"window", "copy", "apply"},
    "scan": {"scan"},
    "verify": {"verify", "look_again"},
    "external": {"check_base", "list_external", "sync"},
    "operate": {"operate"},
    "give_up": {"give_up"},
    "failover": {"prepare", "approve", "fence", "catch_up", "prove_quiet", "verify", "promote"},
    "failback": {*BEGINNING, "follow", "verify", "switch_back"},
}
SIDES = {"source": {"cluster": "east", "database": "sales"}, "replica": {"cluster": "west", "database": "sales"}}


def errors_of(dag: Any, ending: type[TaskStopped] = PersonMustAct) -> dict[str, str]:
    """Run every task of a DAG; return what each fails with, which must be for good, or end as is said."""
    errors = {}
    for task in dag.tasks:
        if isinstance(task, ApprovalOperator):  # it asks a person, when the task before it has not failed
            continue
        task = task.unmap({"batch": {"name": "b1", "dump": "d"}}) if task.is_mapped else task
        with pytest.raises(ending) as failure:
            (task.poke if isinstance(task, BaseSensorOperator) else task.execute)(a_context(dag, task.task_id))
        errors[task.task_id] = str(failure.value)
    return errors


def ids_of(*policies: str) -> set[str]:
    """Return the ids of all DAGs when there are some policies."""
    return {"twinhive.monitor", "twinhive.sql"} | {f"{policy}.{phase}" for policy in policies for phase in TASKS}


def assert_red(dags: dict[str, Any], policy: str, *said: str) -> None:
    """Assert that a policy's DAGs look as ever, are marked, and that each task fails at once with the reason."""
    for phase, tasks in TASKS.items():
        dag = dags[f"{policy}.{phase}"]
        assert {task.task_id for task in dag.tasks} == tasks
        assert "invalid" in dag.tags
        assert all(text in dag.doc_md for text in said)
        for task_id, error in errors_of(dag).items():
            assert all(text in error for text in said), (task_id, error)
            assert "twinhive check" in error


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"policy": "sales", **SIDES, "colour": 1}, ["colour: unknown key", "external_tables"]),
        ({"policy": "sales", **SIDES, "tables": {"include": ["(a"]}}, ["tables.include.0", "regular expression"]),
        ({"policy": "sales", **SIDES, "options": {"copy_threads": 0}}, ["options.copy_threads", "found 0"]),
        ({"policy": "sales", "source": SIDES["source"]}, ["replica: missing"]),
        (
            {"policy": "sales", **SIDES, "source": {"cluster": "north", "database": "sales"}},
            ["source.cluster", "'north'", "east, west"],
        ),
        ("policy: [", ["not readable YAML"]),
        ("", ["(whole file)"]),
    ],
)
def test_a_broken_policy_keeps_its_dag_and_every_task_says_why(
    policies: PolicyFiles, content: Any, said: list[str]
) -> None:
    policies.write("policies/sales.yaml", content)
    policies.add("stock")
    dags = parse_dags(policies.directory)
    assert set(dags) == ids_of("sales", "stock")
    assert_red(dags, "sales", "sales.yaml cannot be used", *said)
    assert "invalid" not in dags["stock.bootstrap"].tags


def test_a_policy_keeps_its_own_name_whatever_else_is_wrong(policies: PolicyFiles) -> None:
    policies.write("policies/old_name.yaml", {"policy": "sales", "colour": 1})
    assert set(parse_dags(policies.directory)) == ids_of("sales")


def test_a_file_whose_name_is_no_policy_name_still_gives_a_dag(policies: PolicyFiles) -> None:
    policies.write("policies/ümläut ünd blank.yaml", "policy: [")
    dags = parse_dags(policies.directory)
    [policy] = {dag_id.partition(".")[0] for dag_id in dags} - {"twinhive"}
    assert_red(dags, policy, "ümläut ünd blank.yaml cannot be used")


def test_two_policies_with_one_name_are_red_and_name_both_files(policies: PolicyFiles) -> None:
    policies.add("sales")
    other = {"cluster": "west", "database": "other"}
    policies.write("policies/copy_of_sales.yaml", {"policy": "sales", **SIDES, "replica": other})
    dags = parse_dags(policies.directory)
    assert set(dags) == ids_of("sales")
    assert_red(dags, "sales", "the same name sales", "copy_of_sales.yaml, sales.yaml")


def test_two_policies_into_one_database_are_both_red(policies: PolicyFiles) -> None:
    policies.add("sales", replica="twin")
    policies.add("stock", replica="TWIN")
    policies.add("people")
    dags = parse_dags(policies.directory)
    for policy in ("sales", "stock"):
        assert_red(dags, policy, "the same replica database west/twin", "sales.yaml, stock.yaml")
    assert "invalid" not in dags["people.bootstrap"].tags


def test_broken_clusters_turn_every_policy_red_and_none_vanishes(policies: PolicyFiles) -> None:
    policies.add("sales")
    policies.add("stock")
    policies.write("clusters.yaml", {"clusters": {"east": {"metastore": {}}}})
    dags = parse_dags(policies.directory)
    assert set(dags) == ids_of("sales", "stock")
    for policy in ("sales", "stock"):
        assert_red(dags, policy, "clusters.yaml cannot be used")


def test_a_policy_that_was_mended_since_it_was_parsed_is_used_as_it_is_now(policies: PolicyFiles) -> None:
    policies.write("policies/sales.yaml", {"policy": "sales", **SIDES, "colour": 1})
    dags = parse_dags(policies.directory)
    policies.add("sales")
    errors = errors_of(dags["sales.incremental"], MayPass)
    assert all("Airflow gave no connection" in error for error in errors.values())


def test_a_policy_that_followed_its_source_is_red_by_itself_when_its_file_is_broken(policies: PolicyFiles) -> None:
    policies.write("policies/sales.yaml", {"policy": "sales", **SIDES, "colour": 1})
    incremental = parse_dags(policies.directory)["sales.incremental"]
    assert incremental.schedule.expression.endswith("/2 * * * *")
    assert not incremental.is_paused_upon_creation
