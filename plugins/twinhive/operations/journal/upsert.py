"""Insert rows, or update those of the same key: in one statement, in the words of either database."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func
from sqlalchemy.dialects import postgresql, sqlite


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    keep: Collection[str] = (),
    add: Collection[str] = (),
    fill: Collection[str] = (),
) -> None:
    """Write rows by the table's primary key.

    Of rows that are there, `keep` columns stay, `add` columns add up, `fill` columns stay where nothing is given.
    """
    if not rows:
        return
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = insert(table)
    key = [column.name for column in table.primary_key]
    new: dict[str, ColumnElement[Any]] = {
        name: statement.excluded[name] for name in rows[0] if name not in key and name not in keep
    }
    new |= {name: table.c[name] + new[name] for name in add}
    new |= {name: func.coalesce(new[name], table.c[name]) for name in fill}
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=new), list(rows))
