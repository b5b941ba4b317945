"""Write what the tables of a policy are on the replica."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from twinhive.core.model.files import Usage
from twinhive.operations.journal.records import IN_TROUBLE, RecordedCopies, RecordedProof, RecordedTable
from twinhive.operations.journal.schema import COPIES, PROOFS, TABLE_COUNTS, TABLES
from twinhive.operations.journal.stored_texts import plain
from twinhive.operations.journal.upsert import upsert

# What one look may not tell, and an earlier one has told.
_KEPT = ("files", "bytes", "last_sync")


def replace_tables(connection: Connection, policy: str, tables: Iterable[RecordedTable]) -> None:
    """Write all tables of a policy in the place of what was known; known sizes and syncs stay where nothing is said."""
    known = {row.table: row for row in connection.execute(select(TABLES).where(TABLES.c.policy == policy))}
    rows = [plain(asdict(table)) for table in tables]
    for row in rows:
        if before := known.get(row["table"]):
            row |= {name: getattr(before, name) for name in _KEPT if row[name] is None}
    connection.execute(delete(TABLES).where(TABLES.c.policy == policy))
    if rows:
        connection.execute(insert(TABLES), rows)
    _count(connection, policy)


def update_tables(
    connection: Connection, policy: str, tables: Collection[RecordedTable], gone: Collection[str] = ()
) -> None:
    """Write some tables of a policy; `gone` are those that do not exist any more."""
    for name in gone:
        connection.execute(delete(TABLES).where(TABLES.c.policy == policy, TABLES.c.table == name))
    upsert(connection, TABLES, [plain(asdict(table)) for table in tables], fill=_KEPT)
    _count(connection, policy)


def write_syncs(connection: Connection, policy: str, tables: Collection[str], at: float) -> None:
    """Write when copies of the data of external tables have ended."""
    synced = (TABLES.c.policy == policy) & TABLES.c.table.in_(tables)
    connection.execute(update(TABLES).where(synced).values(last_sync=at))


def write_sizes(connection: Connection, policy: str, sizes: Mapping[str, Usage]) -> None:
    """Write what tables hold that are known."""
    named = (TABLES.c.policy == policy) & (TABLES.c.table == bindparam("named"))
    changed = update(TABLES).where(named).values(files=bindparam("counted"), bytes=bindparam("measured"))
    rows = [{"named": table, "counted": usage.files, "measured": usage.length} for table, usage in sizes.items()]
    connection.execute(changed, rows)


def write_proof(connection: Connection, proof: RecordedProof) -> None:
    """Write what a verification has said; the one before it is forgotten."""
    upsert(connection, PROOFS, [plain(asdict(proof))])


def replace_copies(connection: Connection, placement: str, copies: Iterable[RecordedCopies]) -> None:
    """Write what is known of a placement's copies in the place of what was."""
    connection.execute(delete(COPIES).where(COPIES.c.policy == placement))
    if rows := [plain(asdict(one)) for one in copies]:
        connection.execute(insert(COPIES), rows)


def copies_unchanged(connection: Connection, placement: str, at: float) -> None:
    """Write that a look at a placement has found everything as it was."""
    connection.execute(update(COPIES).where(COPIES.c.policy == placement).values(at=at))


def _count(connection: Connection, policy: str) -> None:
    mine = TABLES.c.policy == policy
    count = connection.scalar(select(func.count()).where(mine))
    in_trouble = connection.scalar(select(func.count()).where(mine, TABLES.c.state.in_(IN_TROUBLE)))
    upsert(connection, TABLE_COUNTS, [{"policy": policy, "tables": count, "in_trouble": in_trouble}])
