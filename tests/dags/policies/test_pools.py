"""A pool that does not exist is told where people look: Airflow itself lets its tasks wait, and only logs it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.dags.airflow_home import create_database, parse_dags, register
from tests.dags.monitor.test_page import page_of
from tests.dags.page_client import know_policies, signed_in
from tests.support.policies import PolicyFiles
from twinhive.core.model.connections import AIRFLOW, SOURCE_VARIABLE
from twinhive.surfaces.cli.app import run

POOL, COMMAND = "nightly copies", "airflow pools set 'nightly copies' 8 twinhive"


@pytest.fixture
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PolicyFiles:
    """Policies whose connections Airflow knows."""
    for cluster in ("EAST", "WEST"):
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster}_METASTORE", '{"conn_type": "hive_metastore", "host": "m1"}')
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster}_HDFS", '{"conn_type": "hdfs", "host": "nn1"}')
    files = PolicyFiles(tmp_path / "config")
    files.add("sales", airflow={"events": {"pool": POOL}, "forms": {"pool": POOL}})
    files.add("plain")
    return files


@pytest.fixture
def no_pool() -> Iterator[None]:
    create_database()
    forget_pool()
    yield
    forget_pool()


def forget_pool() -> None:
    from airflow.models.pool import Pool
    from airflow.utils.session import create_session

    with create_session() as session:
        session.query(Pool).filter(Pool.pool == POOL).delete()


def make_pool() -> None:
    from airflow.models.pool import Pool

    Pool.create_or_update_pool(POOL, 8, "", False)


def check(policies: PolicyFiles, *words: str) -> int:
    return run([*words, "check", "--config", str(policies.directory)])


@pytest.mark.usefixtures("no_pool")
def test_a_terminal_that_asks_airflow_finds_that_a_pool_is_missing(
    policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(SOURCE_VARIABLE, AIRFLOW)
    assert check(policies) == 4
    said = " ".join(capsys.readouterr().err.split())
    assert f"policy sales names a pool that Airflow does not have: {POOL}" in said
    assert "airflow.events.pool, airflow.forms.pool" in said and COMMAND in said and "plain" not in said
    make_pool()
    assert check(policies) == 0


@pytest.mark.usefixtures("no_pool")
def test_a_terminal_without_airflow_does_not_ask_for_pools(
    policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SOURCE_VARIABLE, raising=False)
    assert check(policies) == 0


def test_a_database_that_does_not_answer_is_no_missing_pool(
    policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from airflow.models.pool import Pool
    from sqlalchemy.exc import OperationalError

    def down() -> Any:
        raise OperationalError("SELECT", {}, Exception("connection refused"))

    monkeypatch.setenv(SOURCE_VARIABLE, AIRFLOW)
    monkeypatch.setattr(Pool, "get_pools", down)
    assert check(policies) == 3
    assert "Airflow's database does not answer" in " ".join(capsys.readouterr().err.split())


@pytest.fixture
def viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("TWINHIVE_JOURNAL", f"sqlite:///{tmp_path / 'journal.db'}")
    client = signed_in()
    know_policies(["sales", "plain"])
    return client


def started(policies: PolicyFiles, *dag_ids: str) -> None:
    """Let Airflow's own scheduler start runs, and queue what it can."""
    from airflow.jobs.job import Job
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models.dagrun import DagRun
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.utils.session import create_session
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType
    from sqlalchemy import delete

    dags = parse_dags(policies.directory)
    register(*(dags[dag_id] for dag_id in dag_ids))
    now = datetime.now(UTC)
    with create_session() as session:
        session.execute(delete(DagRun).where(DagRun.dag_id.in_(dag_ids)))
        for dag_id in dag_ids:
            dag = SerializedDagModel.get_dag(dag_id, session=session)
            assert dag is not None
            dag_run = dag.create_dagrun(
                run_id="waits",
                run_after=now,
                run_type=DagRunType.MANUAL,
                triggered_by=DagRunTriggeredByType.TEST,
                state=DagRunState.RUNNING,
                session=session,
            )
            dag_run.dag = dag
            ready, _ = dag_run.update_state(session=session)
            dag_run.schedule_tis(ready, session=session)
        session.flush()
        scheduler = SchedulerJobRunner(Job(), executors=[])
        scheduler._executable_task_instances_to_queued(max_tis=32, session=session)


@pytest.mark.usefixtures("no_pool")
def test_the_page_names_the_pool_that_tasks_wait_for(policies: PolicyFiles, viewer: TestClient) -> None:
    before = PolicyFiles(policies.directory.parent / "before")
    before.add("sales")
    register(parse_dags(before.directory)["sales.incremental"])  # as another test may have done a moment ago
    started(policies, "sales.incremental", "plain.incremental")
    for path in ("/", "/policies/sales"):
        shown = page_of(viewer, path)
        assert f"1 task of sales.incremental waits for ever: Airflow has no pool {POOL}" in shown
        assert COMMAND.replace("'", "&#39;") in shown and "plain.incremental waits" not in shown
    assert "waits for ever" not in page_of(viewer, "/policies/plain")
    make_pool()
    assert "waits for ever" not in page_of(viewer)
