"""REPL statements through a running Airflow: a DAG of one's own that dumps and loads, and the form of twinhive.sql."""

from pathlib import Path

import pytest

from tests.integration.airflow_fixtures import RunningAirflow, until
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.twin import assert_equal_twin

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

NIGHTLY = """
from airflow.sdk import DAG, Param
from twinhive.airflow_edge.statement_operator import ReplStatementOperator

with DAG(
    "nightly_{database}",
    schedule=None,
    is_paused_upon_creation=False,
    params={{"after": Param("", type="string")}},
):
    dump = ReplStatementOperator(
        task_id="dump", sql="REPL DUMP {database} {{{{ params.after and 'FROM ' + params.after }}}}", cluster="east"
    )
    load = ReplStatementOperator(
        task_id="load",
        sql="REPL LOAD {database} FROM '{{{{ ti.xcom_pull('dump')['rows'][0][0] }}}}' "
        "WITH ('hive.exec.copyfile.maxnumfiles'='{{{{ 100 if params.after else 0 }}}}')",
        cluster="west",
    )
    status = ReplStatementOperator(task_id="status", sql="REPL STATUS {database}", cluster="west")
    dump >> load >> status
"""


def test_a_dag_dumps_and_loads_and_goes_on_where_the_replica_is(
    airflow: RunningAirflow, east: Warehouse, west: Warehouse
) -> None:
    database = east.create_database("nightly")
    east.create_table(database, "plain", files={"data": b"1,2\n"})
    Path(airflow.consumers, f"{database}.py").write_text(NIGHTLY.format(database=database))
    dag_id = f"nightly_{database}"
    until(lambda: dag_id in airflow.api.dag_ids(), "the DAG is known", every=0.5)

    first = airflow.trigger(dag_id)
    assert first.wait() == "success", {task: first.log(task)[-2000:] for task in first.states()}
    ((event_id,),) = airflow.api.xcom(dag_id, first.run_id, "status", "return_value")["rows"]
    assert_equal_twin(east, database, west)
    assert "are copied by Spark" in first.log("load")

    east.create_table(database, "made", files={"data": b"3,4\n"})
    second = airflow.trigger(dag_id, after=str(event_id))
    assert second.wait() == "success", {task: second.log(task)[-2000:] for task in second.states()}
    assert_equal_twin(east, database, west)
    assert "by Spark" not in second.log("load")

    second.clear("load")
    assert second.wait() == "success"
    assert "already loaded" in second.log("load")


def test_the_form_plans_then_runs_and_says_what_is_wrong(airflow: RunningAirflow, east: Warehouse) -> None:
    database = east.create_database("formed_sql")
    east.create_table(database, "plain", files={"data": b"1,2\n"})
    statement = f"REPL DUMP {database}"
    plan = airflow.trigger("twinhive.sql", statement=statement, cluster="east")
    assert plan.wait() == "success"
    assert "1 tables, 0 views" in plan.log("sql")
    assert "dry run: nothing was changed" in plan.log("sql")
    run = airflow.trigger("twinhive.sql", statement=statement, cluster="east", dry_run=False)
    assert run.wait() == "success"
    ((directory, _),) = airflow.api.xcom("twinhive.sql", run.run_id, "sql", "return_value")["rows"]
    assert east.files.status(f"{directory}/repl.json")
    wrong = airflow.trigger("twinhive.sql", statement=f"REPL DUMP {database} FRM 3", cluster="east")
    assert wrong.wait() == "failed"
    assert "expected: '.' and tables, REPLACE, FROM, WITH or the end of the statement" in wrong.log("sql")
