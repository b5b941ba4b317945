"""Define the journal's tables, create those that are missing, rename those of an older version away.

Nothing is ever deleted here: `twinhive_windows` of version 1 becomes `twinhive_windows_v1_<date>`.
"""

import time
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from twinhive.model.errors import ActNow

VERSION = 1
_PREFIX = "twinhive_"
_CREATING = 0x7477696E
"""The number of the advisory lock under which tables are created (PostgreSQL)."""

METADATA = MetaData()


def _number() -> Column[int]:
    # SQLite counts up only what is called exactly so.
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


NOTES = Table(
    f"{_PREFIX}journal",
    METADATA,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)
"""The version of the tables, and when they were pruned."""

POLICIES = Table(
    f"{_PREFIX}policies",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("at", Float, nullable=False),
    Column("source", String, nullable=False),
    Column("replica", String, nullable=False),
    Column("phase", String, nullable=False),
    Column("replicated", BigInteger),
    Column("newest", BigInteger),
    Column("lag_events", BigInteger),
    Column("lag_seconds", Float),
    Column("max_lag", Float),
    Column("paused", String),
    Column("trouble", String),
    Column("stalled", String),
    Column("sampled_at", Float, nullable=False),
)
"""One row a policy; `sampled_at` is when its lag was last written down."""

LAG = Table(
    f"{_PREFIX}lag",
    METADATA,
    _number(),
    Column("policy", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("replicated", BigInteger),
    Column("newest", BigInteger),
    Column("lag_events", BigInteger),
    Column("lag_seconds", Float),
    Index("twinhive_lag_of_policy", "policy", "at"),
    Index("twinhive_lag_at", "at"),
)

WINDOWS = Table(
    f"{_PREFIX}windows",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("dump", String, primary_key=True),
    Column("phase", String, primary_key=True),
    Column("dag_id", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("began", Float, nullable=False),
    Column("ended", Float),
    Column("begin_event", BigInteger),
    Column("end_event", BigInteger),
    Column("events", BigInteger, nullable=False),
    Column("batches", Integer, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("outcome", String, nullable=False),
    Index("twinhive_windows_of_policy", "policy", "began"),
    Index("twinhive_windows_of_run", "dag_id", "run_id"),
    Index("twinhive_windows_began", "began"),
)

BATCHES = Table(
    f"{_PREFIX}batches",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("dump", String, primary_key=True),
    Column("batch", String, primary_key=True),
    Column("label", String, nullable=False),
    Column("dag_id", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("task_id", String, nullable=False),
    Column("map_index", Integer, nullable=False),
    Column("ended", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("outcome", String, nullable=False),
    Index("twinhive_batches_ended", "ended"),
)

FAILURES = Table(
    f"{_PREFIX}failures",
    METADATA,
    _number(),
    Column("policy", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("dag_id", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("task_id", String, nullable=False),
    Column("map_index", Integer, nullable=False),
    Column("try_number", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("act_now", Boolean, nullable=False),
    Column("what", String, nullable=False),
    Column("found", String),
    Column("expected", String),
    Column("next_step", String),
    Column("commands", String),
    Column("resolved", Float),
    Index("twinhive_failures_of_policy", "policy", "at"),
    Index("twinhive_failures_of_dag", "dag_id", "resolved"),
    Index("twinhive_failures_open", "resolved", "policy"),
    Index("twinhive_failures_at", "at"),
)

TABLES = Table(
    f"{_PREFIX}tables",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("table", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),
    Column("reason", String),
    Column("files", BigInteger),
    Column("bytes", BigInteger),
    Column("last_event", BigInteger),
    Column("last_sync", Float),
    Column("at", Float, nullable=False),
    Index("twinhive_tables_by_state", "policy", "state"),
)

TABLE_COUNTS = Table(
    f"{_PREFIX}table_counts",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("tables", Integer, nullable=False),
    Column("in_trouble", Integer, nullable=False),
)
"""What the overview says of a policy's tables, counted when they are written."""

MESSAGES = Table(
    f"{_PREFIX}messages",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("topic", String, primary_key=True),
    Column("channel", String, primary_key=True),
    Column("tried", Float, nullable=False),
    Column("told", Float),
    Column("trouble", String),
)
"""What people were told, or could not be, of what is still wrong; gone when it is over."""

PROGRESS = Table(
    f"{_PREFIX}progress",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("dump", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("began", Float),
    Column("batches", Integer, nullable=False),
    Column("listed", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("files_done", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("bytes_done", BigInteger, nullable=False),
)
"""How far the copy is of each replica that is being loaded."""

PROOFS = Table(
    f"{_PREFIX}proofs",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("at", Float, nullable=False),
    Column("event", BigInteger, nullable=False),
    Column("headline", String, nullable=False),
    Column("coverage", String, nullable=False),
    Column("findings", Integer, nullable=False),
    Column("suspects", Integer, nullable=False),
    Column("not_judged", Integer, nullable=False),
    Column("details", String),
    Column("commands", String),
)
"""What the last verification of each policy said."""

COPIES = Table(
    f"{_PREFIX}copies",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("table", String, primary_key=True),
    Column("source", String, nullable=False),
    Column("cluster", String, nullable=False),
    Column("place", String, nullable=False),
    Column("fresh", BigInteger, nullable=False),
    Column("stale", BigInteger, nullable=False),
    Column("missing", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
    Column("since", String),
    Column("left_out", String),
)
"""What each placement's last look found of its tables; `policy` is the placement's name."""

AT_WORK = Table(
    f"{_PREFIX}at_work",
    METADATA,
    Column("dag_id", String, primary_key=True),
    Column("task_id", String, primary_key=True),
    Column("map_index", Integer, primary_key=True),
    Column("policy", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("try_number", Integer, nullable=False),
    Column("label", String, nullable=False),
    Column("began", Float, nullable=False),
    Column("moved", Float, nullable=False),
)
"""The copies that have begun and not ended; what a killed one has left, the monitor removes."""


def version_of(connection: Connection) -> int | None:
    """Return the version of the tables that are there, None when some of this version's, or columns, are missing."""
    there = _names(connection)
    if NOTES.name not in there:
        return 0 if there else None
    said = connection.scalar(select(NOTES.c.value).where(NOTES.c.key == "version"))
    version = int(said) if said and said.isdigit() else 0
    whole = len(there) == len(METADATA.tables) and not _lacking(connection)
    return None if version == VERSION and not whole else version


def prepare(engine: Engine) -> None:
    """Make sure that the tables of this version are there. Raises ActNow for tables of a newer version.

    Processes that do this at the same time wait for each other.
    """
    with engine.begin() as connection:
        if version_of(connection) == VERSION:
            return
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _CREATING})
        version = version_of(connection)
        if version is not None and version > VERSION:
            raise _too_new(version)
        if version is not None and version < VERSION:
            _rename_away(connection, version)
        METADATA.create_all(connection)
        _add_columns(connection)
        if connection.scalar(select(NOTES.c.value).where(NOTES.c.key == "version")) is None:
            connection.execute(insert(NOTES).values(key="version", value=str(VERSION)))


def is_missing_table(error: SQLAlchemyError) -> bool:
    """True for the error of a table that somebody has dropped since it was created."""
    reason = getattr(error, "orig", None)
    return getattr(reason, "pgcode", None) == "42P01" or "no such table" in str(reason)


def _names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names()) & METADATA.tables.keys()


def _lacking(connection: Connection) -> list[Column[Any]]:
    """Return the columns that this version has, and the one that made the tables had not: each may be empty."""
    found = inspect(connection).get_multi_columns(filter_names=list(METADATA.tables))
    there = {(name, column["name"]) for (_, name), columns in found.items() for column in columns}
    return [
        column for table in METADATA.tables.values() for column in table.c if (table.name, column.name) not in there
    ]


def _add_columns(connection: Connection) -> None:
    preparer = connection.dialect.identifier_preparer
    for column in _lacking(connection):
        kind = column.type.compile(connection.dialect)
        table = preparer.quote(column.table.name)
        connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {preparer.quote(column.name)} {kind}"))


def _rename_away(connection: Connection, version: int) -> None:
    suffix = f"v{version}_{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
    quote = connection.dialect.identifier_preparer.quote
    for name in sorted(_names(connection)):
        for index in inspect(connection).get_indexes(name):
            # Its name is wanted for the new table's.
            connection.execute(text(f"DROP INDEX {quote(str(index['name']))}"))
        connection.execute(text(f"ALTER TABLE {quote(name)} RENAME TO {quote(f'{name}_{suffix}')}"))


def _too_new(version: int) -> ActNow:
    return ActNow(
        "the journal was written by a newer version of twinhive",
        found=f"tables of version {version}",
        expected=f"version {VERSION}",
        next_step="install the newer version here too, or rename the tables twinhive_* of the journal's database away",
    )
