"""Write a made-up installation into a journal and into Airflow's database, in bulk.

Import it after Airflow was told which database is its own.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.dagrun import DagRun
from sqlalchemy import Engine, Table, insert, text

from benchmarks.page_clusters import PLACEMENT, copies
from benchmarks.page_data import DAY, Shape, batches, failures, policy_names, samples, states, tables, windows
from benchmarks.page_sets import held_sets, publishers, sets
from twinhive.operations.journal.schema import (
    BATCHES,
    COPIES,
    FAILURES,
    LAG,
    METADATA,
    POLICIES,
    PUBLISHERS,
    SETS,
    TABLE_COUNTS,
    TABLES,
    WINDOWS,
    prepare,
)
from twinhive.surfaces.page.airflow_links import MONITOR
from twinhive.surfaces.page.dag_runs import ALL

_CHUNK = 5_000
_WINDOWS = 40
_OFTEN = {"incremental": 120, "external": 300, "scan": 900}
"""Seconds between two runs of the DAGs that start by themselves."""


def fill_journal(engine: Engine, shape: Shape, now: float) -> dict[str, int]:
    """Fill an empty journal; return the rows of each table."""
    prepare(engine)
    names = policy_names(shape)
    rows = list(states(names, now))
    each = max(1, shape.tables // 2 // max(1, len(names) - 1))
    counts = {name: shape.tables // 2 if number == 0 else each for number, name in enumerate(names)}
    troubled = {names[0]: 4}
    all_windows = [window for row in rows for window in windows(row, _WINDOWS, now)]
    rows[0]["held_sets"] = held_sets(names[0], now)
    _write(engine, POLICIES, [{"held_sets": None, **row} for row in rows])
    _write(engine, SETS, sets(names[0], now))
    _write(engine, COPIES, copies(now))
    _write(engine, PUBLISHERS, ({"broker_trouble": None, **one} for one in publishers(now)))
    _write(
        engine, TABLES, (t for name, count in counts.items() for t in tables(name, count, now, troubled.get(name, 0)))
    )
    _write(
        engine,
        TABLE_COUNTS,
        ({"policy": name, "tables": count, "in_trouble": troubled.get(name, 0)} for name, count in counts.items()),
    )
    _write(engine, WINDOWS, all_windows)
    _write(engine, BATCHES, (batch for window in all_windows for batch in batches(window)))
    _write(engine, FAILURES, (failure for row in rows for failure in failures(row, now)))
    _write(engine, LAG, (sample for row in rows for sample in samples(row, shape, now)))
    _analyse(engine)
    with engine.begin() as connection:
        return {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()  # noqa: S608 (our own names)
            for name in METADATA.tables
        }


def fill_airflow(engine: Engine, shape: Shape, runs_per_dag: int, now: float) -> int:
    """Fill a migrated database of Airflow with DAGs and their runs; return how many runs."""
    names = policy_names(shape)
    with engine.begin() as connection:
        connection.execute(insert(DagBundleModel.__table__), [{"name": "dags", "active": True}])
    dag_ids = [MONITOR, f"{PLACEMENT}.copies", *(f"{name}.{phase}" for name in names for phase in ALL)]
    _write(engine, DagModel.__table__, (_dag(dag_id) for dag_id in dag_ids))
    _write(engine, DagRun.__table__, _runs(names, runs_per_dag, now))
    _analyse(engine)
    with engine.begin() as connection:
        return int(connection.execute(text("SELECT count(*) FROM dag_run")).scalar_one())


def _dag(dag_id: str) -> dict[str, Any]:
    return {
        "dag_id": dag_id,
        "is_paused": False,
        "is_stale": False,
        "bundle_name": "dags",
        "max_active_tasks": 16,
        "max_active_runs": 1,
        "max_consecutive_failed_dag_runs": 0,
        "has_task_concurrency_limits": False,
        "timetable_type": "",
        "partition_mapper_info": [],
    }


def _runs(names: list[str], per_dag: int, now: float) -> Iterator[dict[str, Any]]:
    """Yield runs in the order in which they would have come about: of all DAGs side by side."""
    yield _run(MONITOR, "scheduled__0", now - 30, "success")
    for name in names:
        yield _run(f"{name}.bootstrap", "manual__1", now - 15 * DAY, "success")
        yield _run(f"{name}.consolidate", "after-bootstrap", now - 15 * DAY + 900, "success")
    for number in range(per_dag - 1, -1, -1):
        for place, name in enumerate(names):
            for phase, seconds in _OFTEN.items():
                if number * seconds < per_dag * _OFTEN["incremental"]:
                    failed = number == 0 and phase == "incremental" and (place == 0 or place % 97 == 7)
                    state = "failed" if failed else "success"
                    yield _run(f"{name}.{phase}", f"scheduled__{number}", now - number * seconds - place % 97, state)


def _run(dag_id: str, run_id: str, at: float, state: str) -> dict[str, Any]:
    began = datetime.fromtimestamp(at, UTC)
    # Runs that an asset has started have no logical date.
    logical = began if hash((dag_id, run_id)) % 2 else None
    return {
        "dag_id": dag_id,
        "run_id": run_id,
        "state": state,
        "run_type": "scheduled",
        "run_after": began,
        "queued_at": began,
        "start_date": began,
        "end_date": began + timedelta(seconds=3),
        "logical_date": logical,
        "clear_number": 0,
        "span_status": "ended",
    }


def _write(engine: Engine, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    remaining = iter(rows)
    while chunk := list(islice(remaining, _CHUNK)):
        with engine.begin() as connection:
            connection.execute(insert(table), chunk)


def _analyse(engine: Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
