"""With hundreds of policies, a task pays for one DAG and not for all."""

from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, Param

from tests.dags.airflow_home import parse_dags
from tests.support.policies import PolicyFiles
from twinhive.runtime.pipeline.phases import PHASES
from twinhive.runtime.pipeline.switches import FAILBACK, FAILOVER
from twinhive.surfaces.airflow import dag_factory
from twinhive.surfaces.airflow.dags.dag_arguments import with_form
from twinhive.surfaces.airflow.dags.operate_dag import FORMS

COUNT = 200


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration of COUNT policies."""
    policies = PolicyFiles(tmp_path_factory.mktemp("many") / "config")
    for number in range(COUNT):
        policies.add(f"db{number}")
    return policies.directory


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count the DAG objects that come into being while the factory works."""
    ids: list[str] = []

    class Counted(DAG):
        def __init__(self, dag_id: str, **kwargs: Any) -> None:
            ids.append(dag_id)
            super().__init__(dag_id, **kwargs)

    monkeypatch.setattr(dag_factory, "DAG", Counted)
    return ids


def test_a_running_task_builds_only_its_own_dag(
    config: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "db121.bootstrap")
    assert list(parse_dags(config)) == ["db121.bootstrap"]
    assert built == ["db121.bootstrap"]


def test_the_dag_processor_builds_all(config: Path, built: list[str]) -> None:
    wanted = {f"db{number}.{phase}" for number in range(COUNT) for phase in PHASES}
    operations = {f"db{number}.{form}" for number in range(COUNT) for form in (*FORMS, FAILOVER, FAILBACK)}
    assert set(parse_dags(config)) == wanted | operations | {"twinhive.monitor", "twinhive.sql"}
    assert sorted(built) == sorted(wanted)


def test_a_dag_that_is_not_ours_builds_nothing(config: Path, built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "somebody.elses")
    assert parse_dags(config) == {}
    assert built == []


def test_a_form_is_kept_once_for_a_dag_and_not_for_each_of_its_tasks(tmp_path: Path) -> None:
    policies = PolicyFiles(tmp_path / "config")
    policies.add("sales")
    dags = parse_dags(policies.directory)
    with_fields = {dag_id for dag_id, dag in dags.items() if dag.params}
    assert {"sales.bootstrap", "sales.incremental", "sales.operate", "sales.give_up", "twinhive.sql"} <= with_fields
    assert {task.task_id for dag in dags.values() for task in dag.tasks if task.params} == set()


def test_a_form_whose_defaults_do_not_fit_their_schema_is_refused_where_a_schedule_uses_them() -> None:
    dag = DAG("odd", schedule="@daily")
    assert with_form(dag, {"fine": Param(1, type="integer")}).params["fine"] == 1
    with pytest.raises(ValueError, match="Schedule"):
        with_form(dag, {"odd": Param("a", type="integer")})
