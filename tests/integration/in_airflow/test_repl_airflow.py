"""Statements through a running Airflow: a DAG of one's own that dumps and loads, and the form of twinhive.sql."""

from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.integration.airflow_fixtures import RunningAirflow, until
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]

NIGHTLY = """
from airflow.sdk import DAG, Param
from twinhive.operators import ReplStatementOperator

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


@pytest.mark.nightly(
    "tests/dags/tasks/test_repl_statements.py",
    "tests/integration/in_airflow/test_repl_airflow.py::test_the_form_plans_then_runs_and_says_what_is_wrong",
    "tests/integration/statements/test_repl_statements.py",
)
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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_the_form_makes_remotes_and_its_dry_run_says_what_it_would_ask_and_store(
    airflow: RunningAirflow, sandbox: Sandbox, east: Warehouse, west: Warehouse
) -> None:
    shop, sales = east.create_database("shop"), west.create_database("sales")
    west.create_table(sales, "orders", files={"f": b"x,1\n"})
    far = f"far_{shop}"
    there = sandbox.clusters["west"]
    address = f"thrift://{there.metastore_host}:{there.metastore_port}"
    uris = f"'hive.metastore.uris' = '{address}'"
    both = (
        f"CREATE REMOTE DATABASE {far} CONNECTED TO {sales} WITH DBPROPERTIES ({uris}); "
        f"CREATE REMOTE TABLE {shop}.bought CONNECTED TO {sales}.orders WITH TBLPROPERTIES ({uris})"
    )
    plan = airflow.trigger("twinhive.sql", statement=both, cluster="east")
    assert plan.wait() == "success"
    for words in (
        f"asked {address} for {sales}.orders",
        f"would create view {shop}.bought",
        f"would create database {far}",
    ):
        assert words in plan.log("sql")
    assert far not in east.client.get_all_databases()
    run = airflow.trigger("twinhive.sql", statement=both, cluster="east", dry_run=False)
    assert run.wait() == "success", run.log("sql")[-2000:]
    try:
        assert "bought" in east.client.get_all_tables(shop)
        run.clear("sql")
        assert run.wait() == "success", "a task that is cleared has made it itself"
        assert f"{far} is there already, just so" in run.log("sql")
        evil = (
            f"CREATE REMOTE TABLE {shop}.evil WITH TBLPROPERTIES ({uris.replace(address, 'thrift://192.0.2.1:9083')})"
        )
        refused = airflow.trigger("twinhive.sql", statement=evil, cluster="east")
        assert refused.wait() == "failed"
        assert "may not be reached" in refused.log("sql") and "remotes.yaml" in refused.log("sql")
    finally:
        drop = f"DROP REMOTE TABLE IF EXISTS {shop}.bought; DROP REMOTE DATABASE IF EXISTS {far}"
        assert airflow.trigger("twinhive.sql", statement=drop, cluster="east", dry_run=False).wait() == "success"
    assert far not in east.client.get_all_databases()
    assert "orders" in west.client.get_all_tables(sales)
