"""What Airflow is told when something goes wrong: retry, or fail for good; and what a person reads."""

from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from tests.dags.airflow_home import parse_dags
from tests.dags.task_context import a_context
from tests.policies import PolicyFiles
from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.failures import as_airflow_failures
from twinhive.airflow_edge.spark_submit import explain_spark_failure, spark_environment
from twinhive.airflow_edge.step_task import batches_of, refuse_unknown_keys
from twinhive.copying.result import ExitCode
from twinhive.domain.batches import Batch
from twinhive.domain.errors import (
    ActNow,
    Foreign,
    InvalidSettings,
    LeaseLost,
    Missing,
    TryAgain,
    TwinhiveError,
    Unreachable,
)
from twinhive.steps.list_objects import ObjectsListed


@pytest.fixture
def dag(policies: PolicyFiles) -> Any:
    """The DAG of a policy over clusters whose connections Airflow does not know."""
    policies.add("sales")
    [found] = parse_dags(policies.directory).values()
    return found


@pytest.mark.parametrize("family", [TryAgain, Unreachable, LeaseLost])
def test_what_may_pass_by_itself_is_retried(family: type[TwinhiveError]) -> None:
    with pytest.raises(AirflowException) as failure, as_airflow_failures():
        raise family("the metastore is away", next_step="wait")
    assert not isinstance(failure.value, AirflowFailException)


@pytest.mark.parametrize("family", [ActNow, Foreign, Missing, InvalidSettings])
def test_what_needs_a_person_fails_for_good(family: type[TwinhiveError]) -> None:
    with pytest.raises(AirflowFailException), as_airflow_failures():
        raise family("the database is not ours")


def test_the_last_lines_of_a_failure_name_kind_findings_and_next_step() -> None:
    with pytest.raises(AirflowFailException) as failure, as_airflow_failures():
        raise Foreign("sales is not ours", found="no mark", expected="our mark", next_step="drop it, then clear load")
    assert str(failure.value).splitlines() == [
        "Foreign: sales is not ours",
        "  found:    no mark",
        "  expected: our mark",
        "  next:     drop it, then clear load",
    ]
    assert failure.value.__suppress_context__


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError), as_airflow_failures():
        raise ZeroDivisionError


def test_an_unknown_key_of_the_trigger_form_is_refused_before_anything_else(dag: Any) -> None:
    preflight = dag.task_dict["preflight"]
    with pytest.raises(AirflowFailException) as failure:
        preflight.execute(a_context(dag, "preflight", copy_treads=4, colour="red"))
    assert "the trigger form of sales.bootstrap holds unknown keys" in str(failure.value)
    assert "colour, copy_treads" in str(failure.value)
    assert "only copy_threads" in str(failure.value)


def test_a_known_key_and_an_empty_form_are_accepted(dag: Any) -> None:
    refuse_unknown_keys(a_context(dag, "preflight", copy_threads=2))
    refuse_unknown_keys(a_context(dag, "preflight"))
    refuse_unknown_keys({**a_context(dag, "preflight"), "dag_run": type("Run", (), {"conf": None})})


def test_an_unknown_connection_is_named_with_the_command_that_adds_it(dag: Any) -> None:
    with pytest.raises(InvalidSettings, match="airflow connections add nowhere"):
        resolve_from_airflow("nowhere")
    with pytest.raises(AirflowFailException, match="Airflow knows no connection"):
        dag.task_dict["preflight"].execute(a_context(dag, "preflight"))


def test_a_connection_of_the_environment_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "AIRFLOW_CONN_SOME_HDFS", '{"conn_type": "hdfs", "host": "nn", "port": 9000, "extra": {"user": "etl"}}'
    )
    found = resolve_from_airflow("some_hdfs")
    assert (found.host, found.port, found.extra) == ("nn", 9000, {"user": "etl"})


@pytest.mark.parametrize(
    ("message", "family", "said"),
    [
        (f"Cannot execute: spark-submit. Error code is: {ExitCode.ACT_NOW}.", ActNow, "clear the task list_objects"),
        (f"Cannot execute: spark-submit. Error code is: {ExitCode.UNUSABLE}.", ActNow, "mend the Spark connection"),
        (f"Cannot execute: spark-submit. Error code is: {ExitCode.TRY_AGAIN}.", TryAgain, "exit code 3"),
        ("Cannot execute: spark-submit. Error code is: 1.", TryAgain, "exit code 1"),
        ("Cannot execute: spark-submit. Error code is: 137.", TryAgain, "exit code 137"),
        ("Cannot execute: spark-submit. Error code is: 44.", TryAgain, "exit code 44"),
        ("No such file or directory: spark-submit\nmore lines", TryAgain, "No such file or directory: spark-submit"),
    ],
)
def test_the_exit_code_of_spark_submit_decides_who_acts(message: str, family: type[TwinhiveError], said: str) -> None:
    explained = explain_spark_failure(AirflowException(message), "sales.orders +1 tables")
    assert isinstance(explained, family)
    assert explained.what.startswith("sales.orders +1 tables: ")
    assert said in str(explained)
    assert "more lines" not in str(explained)
    assert explained.next_step


def test_spark_gets_absolute_paths_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_HOME", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    environment = spark_environment()
    assert (Path(environment["SPARK_HOME"]) / "bin" / "spark-submit").exists()
    assert (Path(environment["JAVA_HOME"]) / "bin" / "java").exists()
    assert all(Path(value).is_absolute() for value in environment.values())


def test_settings_of_the_worker_win_over_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_HOME", "JAVA_HOME", "PYSPARK_PYTHON"):
        monkeypatch.setenv(name, f"/opt/{name.lower()}")
    environment = spark_environment()
    assert (environment["SPARK_HOME"], environment["JAVA_HOME"]) == ("/opt/spark_home", "/opt/java_home")
    # It is in the environment already, which spark-submit inherits.
    assert "PYSPARK_PYTHON" not in environment


def test_a_worker_without_java_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ActNow, match="no Java on this worker"):
        spark_environment()


def test_mapped_tasks_are_expanded_over_names_and_labels_only() -> None:
    listed = ObjectsListed("bootstrap-7-7-1234", (Batch("b0001", "sales.orders +2 tables", ()),))
    assert batches_of(listed) == [{"dump": "bootstrap-7-7-1234", "name": "b0001", "label": "sales.orders +2 tables"}]
