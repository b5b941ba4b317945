"""Open the journal's database: PostgreSQL, or a SQLite file."""

import sqlite3
from contextlib import suppress
from functools import cache
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.operations.journal.address import VARIABLE

_CONNECT_SECONDS = 2
_LONGEST_FOUND = 500
_BUSY_MILLISECONDS = 2500
"""Less than the patience of who writes: several processes may make the tables one after the other."""


@cache
def open_engine(url: str, *, writes: bool) -> Engine:
    """Return the engine of a journal, one for each in a process. Nothing is connected yet. Raises InvalidSettings."""
    try:
        parsed = make_url(url)
        kind = parsed.get_backend_name()
        if kind == "sqlite":
            return _sqlite(parsed, writes)
        if kind == "postgresql":
            return _postgresql(parsed)
    except (ArgumentError, ImportError) as error:
        raise _unusable(str(error)) from error
    raise _unusable(kind)


def _postgresql(url: URL) -> Engine:
    arguments = {"connect_timeout": _CONNECT_SECONDS, "application_name": "twinhive-journal"}
    engine = create_engine(url, pool_size=2, max_overflow=3, pool_pre_ping=True, connect_args=arguments)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # What takes longer than the caller's patience is ended by the server too. Said in each transaction, because
        # PgBouncer takes no such option when a client connects.
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {_CONNECT_SECONDS * 1000}")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_BUSY_MILLISECONDS}")

    return engine


def _sqlite(url: URL, writes: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": _BUSY_MILLISECONDS / 1000})

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        # Transactions are begun below: the driver's own begin too late for reading and writing in one.
        connection.isolation_level = None
        if writes:
            # Locked: another process is doing the same, once for all.
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _unusable(found: str) -> InvalidSettings:
    return InvalidSettings(
        f"the journal cannot be opened ({VARIABLE})",
        found=found,
        expected="postgresql+psycopg2://user:password@host/database, or sqlite:////path/to/file",
        next_step=f"correct the environment variable {VARIABLE} of all of Airflow's components",
    )


def unreadable(url: str | URL, error: Exception) -> Unreachable:
    """Return the error of a database that does not answer, or not with a journal; no password is in it."""
    said = str(getattr(error, "orig", None) or error)
    return Unreachable(
        "the journal cannot be read",
        found=f"{make_url(url).render_as_string()}: {' '.join(said.split())[:_LONGEST_FOUND]}",
        expected="a database that answers, with the journal's tables",
        next_step="see that its database runs and can be reached; replication goes on without it",
    )
