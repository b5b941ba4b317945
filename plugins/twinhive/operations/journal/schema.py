"""Define the journal's tables, create those that are missing, rename those of an older version away.

Nothing is ever deleted here: `twinhive_windows` of version 1 becomes `twinhive_windows_v1_<date>`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import NoneType
from typing import Any, get_args, get_type_hints

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
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from twinhive.core.model.errors import ActNow
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal.records import (
    BatchRun,
    Failure,
    LagSample,
    PolicyState,
    RecordedCopies,
    RecordedProof,
    RecordedPublisher,
    RecordedSet,
    RecordedTable,
    SentMessage,
    WindowRun,
)

VERSION = 1
_PREFIX = "twinhive_"
_CREATING = 0x7477696E
"""The number of the advisory lock under which tables are created (PostgreSQL)."""

METADATA = MetaData()


_KINDS: Mapping[Any, Any] = {str: String, bool: Boolean, int: BigInteger, float: Float}


def _table(name: str, record: type, *more: Column[Any] | Index, key: Sequence[str] = ()) -> Table:
    """Return the table that keeps records: a column for each field, empty where it is None; `more` is kept beside them.

    `key` are the columns that tell rows apart; without any the rows are numbered.
    """
    # SQLite counts up only what is called exactly so.
    number = [] if key else [Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)]
    kinds = get_type_hints(record)
    columns = [_column(field.name, kinds[field.name]) for field in fields(record)]
    unique = [PrimaryKeyConstraint(*key)] if key else []
    return Table(f"{_PREFIX}{name}", METADATA, *number, *columns, *more, *unique)


def _column(name: str, kind: Any) -> Column[Any]:
    kinds = get_args(kind) or (kind,)
    return Column(name, _KINDS[kinds[0]], nullable=NoneType in kinds)


NOTES = Table(
    f"{_PREFIX}journal",
    METADATA,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)
"""The version of the tables, and when they were pruned."""

POLICIES = _table("policies", PolicyState, Column("sampled_at", Float, nullable=False), key=["policy"])
"""One row a policy; `sampled_at` is when its lag was last written down."""

LAG = _table("lag", LagSample, Index("twinhive_lag_of_policy", "policy", "at"), Index("twinhive_lag_at", "at"))

WINDOWS = _table(
    "windows",
    WindowRun,
    Index("twinhive_windows_of_policy", "policy", "began"),
    Index("twinhive_windows_of_run", "dag_id", "run_id"),
    Index("twinhive_windows_began", "began"),
    key=["policy", "dump", "phase"],
)

BATCHES = _table("batches", BatchRun, Index("twinhive_batches_ended", "ended"), key=["policy", "dump", "batch"])

FAILURES = _table(
    "failures",
    Failure,
    Index("twinhive_failures_of_policy", "policy", "at"),
    Index("twinhive_failures_of_dag", "dag_id", "resolved"),
    Index("twinhive_failures_open", "resolved", "policy"),
    Index("twinhive_failures_at", "at"),
)

TABLES = _table("tables", RecordedTable, Index("twinhive_tables_by_state", "policy", "state"), key=["policy", "table"])

TABLE_COUNTS = Table(
    f"{_PREFIX}table_counts",
    METADATA,
    Column("policy", String, primary_key=True),
    Column("tables", Integer, nullable=False),
    Column("in_trouble", Integer, nullable=False),
)
"""What the overview says of a policy's tables, counted when they are written."""

MESSAGES = _table("messages", SentMessage, key=["policy", "topic", "channel"])
"""What people were told, or could not be, of what is still wrong; gone when it is over."""

PROGRESS = _table("progress", LoadProgress, Column("policy", String), key=["policy"])
"""How far the copy is of each replica that is being loaded."""

PROOFS = _table("proofs", RecordedProof, key=["policy"])
"""What the last verification of each policy said."""

COPIES = _table("copies", RecordedCopies, key=["policy", "table"])
"""What each placement's last look found of its tables; `policy` is the placement's name."""

SETS = _table("sets", RecordedSet, key=["policy", "table", "spec"])
"""The sets that each replica shows, as the last run has left them that has changed something."""

PUBLISHERS = _table("publishers", RecordedPublisher, key=["cluster"])
"""How the monitor has found each cluster's publisher."""

AT_WORK = _table("at_work", CopyAtWork, key=["dag_id", "task_id", "map_index"])
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
