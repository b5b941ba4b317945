"""Read from Airflow's database what its own pages show: the last run of each DAG, and which DAGs are paused."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.pool import Pool
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from airflow.utils.state import TaskInstanceState
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from twinhive.surfaces.page.dag_runs import DagStanding, LastRun, PoolWait

_RECENTLY = timedelta(hours=1)
_COLUMNS = (DagRun.dag_id, DagRun.run_id, DagRun.state, DagRun.run_after, DagRun.start_date, DagRun.end_date)


class MetadataDatabase:
    """Be the reader of the database that this process, Airflow's API server, is connected to."""

    def last_runs(self, dag_ids: Collection[str]) -> dict[str, LastRun]:
        """Return the newest run of each DAG that has one."""
        with create_session(scoped=False) as session:
            return {row.dag_id: _last_run(row) for row in _newest(session, dag_ids)}

    def pool_waits(self) -> list[PoolWait]:
        """Return which tasks wait for a pool that does not exist: the scheduler only logs that."""
        known = select(Pool.pool)
        waiting = (TaskInstance.state == TaskInstanceState.SCHEDULED, TaskInstance.pool.not_in(known))
        columns = (TaskInstance.dag_id, TaskInstance.pool)
        statement = select(*columns, func.count().label("tasks")).where(*waiting).group_by(*columns).order_by(*columns)
        with create_session(scoped=False) as session:
            return [PoolWait(row.dag_id, row.pool, row.tasks) for row in session.execute(statement)]

    def standings(self, dag_ids: Collection[str]) -> dict[str, DagStanding]:
        """Return how Airflow has those DAGs that are in its files."""
        statement = select(DagModel.dag_id, DagModel.is_paused).where(DagModel.dag_id.in_(dag_ids))
        statement = statement.where(DagModel.is_stale.is_(False))
        with create_session(scoped=False) as session:
            return {row.dag_id: DagStanding(row.dag_id, bool(row.is_paused)) for row in session.execute(statement)}


def newest_runs(dag_ids: Collection[str], since: datetime | None = None) -> Select[Any]:
    """Return the query for the newest run of each DAG.

    With `since` a short range of the index on `run_after`, else all runs of these DAGs by the index on `dag_id`.
    The obvious ORDER BY run_after LIMIT 1 is answered backwards from the index on `run_after`: for a DAG that ran long
    ago PostgreSQL then reads the runs of all DAGs since.
    """
    place = func.row_number().over(partition_by=DagRun.dag_id, order_by=DagRun.run_after.desc()).label("place")
    chosen = select(*_COLUMNS, place).where(DagRun.dag_id.in_(dag_ids))
    ranked = (chosen if since is None else chosen.where(DagRun.run_after >= since)).subquery()
    return select(ranked).where(ranked.c.place == 1)


def _newest(session: Session, dag_ids: Collection[str]) -> Iterator[Any]:
    newest = session.scalar(select(func.max(DagRun.run_after)))
    if newest is None or not dag_ids:
        return
    # Counted from the newest run: Airflow itself may have stood still for a day.
    recent = session.execute(newest_runs(dag_ids, newest - _RECENTLY)).all()
    yield from recent
    if rare := set(dag_ids) - {row.dag_id for row in recent}:
        yield from session.execute(newest_runs(rare))


def _last_run(row: Any) -> LastRun:
    times = (_seconds(row.run_after) or 0.0, _seconds(row.start_date), _seconds(row.end_date))
    return LastRun(row.dag_id, row.run_id, str(row.state), *times)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
