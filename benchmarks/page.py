"""Measure the page 'Replication' over a large installation: 500 policies, 10,000 tables, two weeks of samples.

    python -m benchmarks.page --database sqlite
    python -m benchmarks.page --database postgresql       # the sandbox's server, a database of its own
    python -m benchmarks.page --database postgresql --serve 8099

Both the journal and Airflow's database are of that kind. With --serve Airflow's API server stays with what was made up,
so that it can be looked at, or photographed (benchmarks/screenshots.py).
"""

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measuring import machine
from benchmarks.page_data import Shape, policy_names
from sandbox import Sandbox

_ROUNDS = 20
_PAGES = {
    "overview": "/replication/",
    "overview, last page": "/replication/?page=10",
    "overview, search": "/replication/?search=ledger",
    "overview, only in trouble": "/replication/?troubled=true",
    "policy of half the tables": "/replication/policies/{largest}",
    "the same, 7 days": "/replication/policies/{largest}?span=7d",
    "the same, last tables": "/replication/policies/{largest}?page=50",
    "the same, a search": "/replication/policies/{largest}?search=00042",
    "an ordinary policy": "/replication/policies/{ordinary}",
}


def main() -> int:
    """Fill, measure, and serve if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--policies", type=int, default=500)
    parser.add_argument("--days", type=int, default=14, help="days of lag samples")
    parser.add_argument("--runs", type=int, default=1_000, help="runs of each policy's incremental DAG")
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve Airflow on this port of loopback afterwards")
    options = parser.parse_args()
    shape = Shape(policies=options.policies, days=options.days)
    with tempfile.TemporaryDirectory(prefix="twinhive-page-") as home, _database(options.database, Path(home)) as url:
        _use_airflow_of(url, Path(home), options.serve)
        _fill(url, shape, options.runs)
        if options.serve:
            _serve(Path(home), options.serve)
        else:
            print(f"{machine()}; {options.database}")
            _measure(shape)
            _explain(shape)
    return 0


@contextmanager
def _database(kind: str, home: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{home / 'airflow.db'}"
        return
    from sqlalchemy import create_engine, make_url, text

    box = Sandbox.open()
    box.start("postgres")
    name = f"page_benchmark_{os.getpid()}"
    server = create_engine(make_url(box.postgres_url("postgres")), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield box.postgres_url(name)
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def _use_airflow_of(url: str, home: Path, port: int | None) -> None:
    """Tell Airflow its database; must come before anything of it is imported."""
    checkout = Path(__file__).resolve().parents[1]
    (home / "dags").mkdir()
    settings = {
        "CORE__DAGS_FOLDER": str(home / "dags"),
        "CORE__PLUGINS_FOLDER": str(checkout / "plugins"),
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "DATABASE__SQL_ALCHEMY_CONN": url,
        "LOGGING__LOGGING_LEVEL": "WARNING",
        "API__BASE_URL": f"http://127.0.0.1:{port or 8080}",
    }
    os.environ |= {f"AIRFLOW__{key}": value for key, value in settings.items()} | {"AIRFLOW_HOME": str(home)}
    os.environ["TWINHIVE_JOURNAL"] = f"sqlite:///{home / 'journal.db'}" if url.startswith("sqlite") else url


def _fill(url: str, shape: Shape, runs: int) -> None:
    from airflow.utils.db import initdb
    from sqlalchemy import create_engine

    from benchmarks.page_filling import fill_airflow, fill_journal
    from twinhive.operations.journal.address import journal_address

    began, now = time.monotonic(), time.time()
    initdb()
    counts = fill_journal(create_engine(journal_address()), shape, now)
    all_runs = fill_airflow(create_engine(url), shape, runs, now)
    said = ", ".join(f"{name.removeprefix('twinhive_')} {number:,}" for name, number in counts.items())
    print(f"rows: {said}; dag_run {all_runs:,} (filled in {time.monotonic() - began:.0f} s)", flush=True)


def _measure(shape: Shape) -> None:
    from airflow.api_fastapi.app import create_app, get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from starlette.testclient import TestClient

    client = TestClient(create_app(apps="core"))
    token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="admin", role="admin"))
    client.headers["Authorization"] = f"Bearer {token}"
    names = policy_names(shape)
    print(f"{'page':28}{'median ms':>11}{'worst ms':>10}{'CPU ms':>8}{'kB':>6}{'queries':>9}{'slowest query ms':>18}")
    for page, address in _PAGES.items():
        address = address.format(largest=names[0], ordinary=names[-1])
        # The first one opens connections and compiles statements.
        answer = client.get(address)
        taken, worked = [], []
        with _watched_queries() as queries:
            for _ in range(_ROUNDS):
                began, began_working = time.perf_counter(), time.process_time()
                answer = client.get(address)
                taken.append((time.perf_counter() - began) * 1000)
                worked.append((time.process_time() - began_working) * 1000)
        assert answer.status_code == 200, answer.text
        number = sum(len(times) for times in queries.values()) // _ROUNDS
        slowest = max(statistics.median(times) for times in queries.values())
        size = len(answer.content) // 1000
        times = f"{statistics.median(taken):>11.1f}{max(taken):>10.1f}{statistics.median(worked):>8.1f}"
        print(f"{page:28}{times}{size:>6}{number:>9}{slowest:>18.1f}", flush=True)


@contextmanager
def _watched_queries() -> Iterator[dict[str, list[float]]]:
    """Collect the milliseconds of each statement until its rows could be fetched."""
    from sqlalchemy import Engine, event

    taken: dict[str, list[float]] = defaultdict(list)

    def before(connection: Any, *_: Any) -> None:
        connection.info["began"] = time.perf_counter()

    def after(connection: Any, _: Any, statement: str, *__: Any) -> None:
        taken[statement].append((time.perf_counter() - connection.info["began"]) * 1000)

    event.listen(Engine, "before_cursor_execute", before)
    event.listen(Engine, "after_cursor_execute", after)
    try:
        yield taken
    finally:
        event.remove(Engine, "before_cursor_execute", before)
        event.remove(Engine, "after_cursor_execute", after)


def _explain(shape: Shape) -> None:
    """Print how the database finds the last runs of one page of policies."""
    from datetime import UTC, datetime, timedelta

    from airflow.utils.session import create_session
    from sqlalchemy import text

    from twinhive.surfaces.page.airflow_runs import newest_runs
    from twinhive.surfaces.page.dag_runs import dag_ids

    names, hour_ago = policy_names(shape)[:50], datetime.now(UTC) - timedelta(hours=1)
    statements = {
        "runs of the last hour": newest_runs(dag_ids(names, ("incremental",)), hour_ago),
        "last runs of DAGs that run seldom": newest_runs(dag_ids(names, ("bootstrap", "consolidate"))),
        "last runs of DAGs that ran often and are paused": newest_runs(dag_ids(names, ("incremental",))),
    }
    with create_session() as session:
        if session.get_bind().dialect.name != "postgresql":
            return
        for what, statement in statements.items():
            compiled = statement.compile(session.get_bind(), compile_kwargs={"literal_binds": True})
            plan = session.execute(text(f"EXPLAIN (ANALYZE, BUFFERS OFF) {compiled}")).scalars().all()
            nodes = [line.strip() for line in plan if "Scan" in line or line.startswith("Execution")]
            print(f"{what}, 50 policies:", *nodes, sep="\n  ")


def _serve(home: Path, port: int) -> None:
    import uvicorn
    from airflow.api_fastapi.app import create_app

    from benchmarks.page_clusters import serve_status

    status = serve_status(time.time())
    (home / "dags" / "remotes.yaml").write_text(f"gateways: ['127.0.0.1:{status}']\n", encoding="utf-8")
    app = create_app(apps="core")
    print(f"http://127.0.0.1:{port}/plugin/replication, passwords in {home / 'passwords.json'}", flush=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    raise SystemExit(main())
