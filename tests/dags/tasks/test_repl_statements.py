"""Run REPL statements as tasks: from a DAG of one's own, and from the form of `twinhive.sql`."""

from typing import Any

import pytest
from airflow.sdk import DAG

from tests.dags.airflow_home import parse_dags
from tests.support.policies import PolicyFiles
from twinhive.statements.execution import Answer
from twinhive.surfaces.airflow.dags import sql_dag
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.operators import statement_operator
from twinhive.surfaces.airflow.operators.statement_operator import ReplStatementOperator


class Instance:
    """Say who runs the task."""

    task_id, try_number = "sql", 1


def context_of(dag: DAG, conf: dict[str, Any]) -> dict[str, Any]:
    run = type("Run", (), {"conf": conf})()
    params = {**{name: dag.params.get_param(name).value for name in dag.params}, **conf}
    return {"dag": dag, "dag_run": run, "params": params, "ti": Instance(), "run_id": "manual"}


@pytest.fixture
def dag(policies: PolicyFiles) -> DAG:
    policies.add("sales")
    return parse_dags(policies.directory)["twinhive.sql"]


def test_the_form_offers_the_clusters_and_policies_and_changes_nothing_by_default(dag: DAG) -> None:
    assert dag.params["dry_run"] is True
    assert dag.params.get_param("cluster").schema["enum"] == [None, "east", "west"]
    assert dag.params.get_param("policy").schema["enum"] == [None, "sales"]
    assert dag.schedule is None


def test_a_dry_run_plans_and_does_not_run(dag: DAG, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sql_dag, "plan_statement", lambda text, place: said.append(text) or ["would dump"])
    monkeypatch.setattr(sql_dag, "run_statement", lambda *_: pytest.fail("it was run"))
    statement = {"statement": "REPL STATUS sales", "cluster": "west"}
    assert dag.task_dict["sql"].execute(context_of(dag, statement)) == ["would dump"]
    assert said == ["REPL STATUS sales"]


@pytest.mark.parametrize(
    ("conf", "says"),
    [
        ({"statement": "", "cluster": "west"}, "value for statement that cannot be used"),
        ({"statement": "REPL STATUS sales", "cluster": "north"}, "value for cluster that cannot be used"),
        ({"statement": "REPL STATUS sales", "clutser": "west"}, "unknown keys"),
        ({"statement": "REPL STATUS sales ;; REPL STATUS", "cluster": "west"}, "the statement is wrong"),
    ],
)
def test_a_form_that_cannot_be_used_is_refused(dag: DAG, conf: dict[str, Any], says: str) -> None:
    with pytest.raises(PersonMustAct) as caught:
        dag.task_dict["sql"].execute(context_of(dag, conf))
    assert says in str(caught.value)


def test_an_operator_returns_what_the_statement_returns(policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(("dump_dir", "last_repl_id"), (("hdfs://east/d", 7),))
    monkeypatch.setattr(statement_operator, "run_statement", lambda *_: answer)
    operator = ReplStatementOperator(task_id="dump", sql="REPL DUMP sales", config=str(policies.directory))
    found = operator.execute({"ti": Instance(), "run_id": "manual"})
    assert found == {"columns": ["dump_dir", "last_repl_id"], "rows": [["hdfs://east/d", 7]]}


def test_what_a_dump_returned_can_be_named_by_the_load_after_it() -> None:
    assert set(ReplStatementOperator.template_fields) == {"sql", "cluster", "policy"}


def test_an_operator_says_what_is_wrong_with_a_statement(policies: PolicyFiles) -> None:
    operator = ReplStatementOperator(task_id="dump", sql="REPL DUMB sales", config=str(policies.directory))
    with pytest.raises(PersonMustAct, match="the statement is wrong in line 1"):
        operator.execute({"ti": Instance(), "run_id": "manual"})
