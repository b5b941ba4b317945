"""Open the page 'Replication' inside Airflow's real API server, in this process, signed in or not."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from starlette.testclient import TestClient

from tests.dags.airflow_home import create_database, use_own_airflow
from twinhive.surfaces.page.dag_runs import ALL

_BUNDLE = "page-tests"


@cache
def api_server() -> Any:
    """Return Airflow's API server with all plugins, as `airflow api-server` makes it."""
    use_own_airflow()
    create_database()
    from airflow.api_fastapi.app import create_app

    return create_app(apps="core")


def anonymous() -> TestClient:
    """Return somebody whom Airflow does not know."""
    return TestClient(api_server(), follow_redirects=False)


def signed_in(role: str | None = "viewer") -> TestClient:
    """Return a user with one of the roles of Airflow's simple auth manager; None: without any."""
    client = anonymous()
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="somebody", role=role))
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def know_dags(*dag_ids: str, paused: bool = False, stale: Sequence[str] = ()) -> None:
    """Let Airflow have parsed some DAGs and no others; `stale` are those no file has any more."""
    from airflow.models.dag import DagModel
    from airflow.models.dagbundle import DagBundleModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import delete, update

    with create_session() as session:
        session.merge(DagBundleModel(name=_BUNDLE))
        # Other tests of this process have left theirs.
        session.execute(update(DagModel).values(is_stale=True))
        session.execute(delete(DagRun).where(DagRun.dag_id.in_((*dag_ids, *stale))))
        session.flush()
        for dag_id in (*dag_ids, *stale):
            session.merge(
                DagModel(
                    dag_id=dag_id,
                    bundle_name=_BUNDLE,
                    is_paused=paused,
                    is_stale=dag_id in stale,
                    max_active_tasks=1,
                    max_active_runs=1,
                    max_consecutive_failed_dag_runs=0,
                    has_task_concurrency_limits=False,
                )
            )


def know_policies(names: Iterable[str]) -> None:
    """Let Airflow have parsed the DAGs of some policies."""
    know_dags(*(f"{name}.{phase}" for name in names for phase in ALL))


def add_run(dag_id: str, run_id: str, state: str, run_after: float) -> None:
    """Let a DAG have had a run."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import delete

    at = datetime.fromtimestamp(run_after, UTC)
    with create_session() as session:
        session.execute(delete(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id))
        session.add(DagRun(dag_id=dag_id, run_id=run_id, state=state, run_type="manual", run_after=at, start_date=at))
