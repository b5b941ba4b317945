"""How a remote is kept in the local metastore: a view that cannot be read, or a database of type REMOTE.

Both bear the same parameters, which any SQL client can write: `twinhive_remote` is the name at the remote, `''` for the
local one; `twinhive_remote_via` the connector; all others are what the connector is told. A view owns no directory, so
dropping one deletes nothing; who reads it without a gateway gets the message of its text. Keys have underscores because
a metastore finds tables by such keys only.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Table, TableKind
from twinhive.core.model.remotes.data_connectors import REMOTE_NAME, DataConnector
from twinhive.core.model.remotes.definitions import (
    REMOTE,
    THRIFT,
    UNREADABLE,
    Definition,
    Definitions,
    RemoteDatabase,
    RemoteTable,
)

VIA: Final = "twinhive_remote_via"
_OF_OTHERS: Final = re.compile(
    r"transient_lastDdlTime|EXTERNAL|bucketing_version|numFiles|totalSize|comment|TRANSLATED_TO_EXTERNAL"
    r"|(spark|view|repl)\..*|hive\.stats\..*|COLUMN_STATS_ACCURATE|rawDataSize|numRows|presto_.*|trino_.*"
)
"""Parameters that metastores and engines write by themselves."""
_SECRET: Final = re.compile(r"(?i)(password|passwd|secret|token|credential|access[._-]?key)")
HIDDEN: Final = "***"
NO_CONNECTORS: Final[Mapping[str, DataConnector]] = {}


def table_definition(table: Table) -> RemoteTable | None:
    """Return what a table of the local metastore stands for, None for one that stands for itself."""
    text = table.parameters.get(REMOTE)
    if text is None or table.kind is not TableKind.VIEW:
        return None
    try:
        remote = TableName.parse(text)
    except ValueError:
        remote = TableName(table.name.database, text.strip().lower() or table.name.table)
    return RemoteTable(table.name, remote, table.parameters.get(VIA) or THRIFT, told(table.parameters))


def database_definition(
    database: Database, connectors: Mapping[str, DataConnector] = NO_CONNECTORS
) -> RemoteDatabase | None:
    """Return what a database of the local metastore stands for, None for one that stands for itself.

    A database that Hive has made with one of our data connectors says the remote's name in Hive's own way. What the
    database says itself comes before what its connector says.
    """
    connector = connectors.get((database.connector or "").lower())
    is_by_connector = connector is not None and connector.is_ours
    parameters = {**(connector.told if connector is not None and is_by_connector else {}), **database.parameters}
    text = parameters.get(REMOTE, parameters.get(REMOTE_NAME, "") if is_by_connector else None)
    if text is None:
        return None
    remote = text.strip().lower() or database.name.lower()
    return RemoteDatabase(database.name.lower(), remote, parameters.get(VIA) or THRIFT, told(parameters))


def definitions_of(
    databases: Iterable[Database],
    tables: Iterable[Table],
    connectors: Mapping[str, DataConnector] = NO_CONNECTORS,
) -> Definitions:
    """Return the remotes among what a metastore has; `connectors` by their names in lower case."""
    of_tables = filter(None, map(table_definition, tables))
    of_databases = filter(None, (database_definition(one, connectors) for one in databases))
    return Definitions({one.local: one for one in of_tables}, {one.local: one for one in of_databases})


def parameters_of(definition: Definition) -> dict[str, str]:
    """Return the parameters that keep a definition."""
    return {**definition.properties, REMOTE: str(definition.remote), VIA: definition.via}


def shown(definition: Definition) -> dict[str, str]:
    """Return the same for people: secrets are hidden, if somebody has written one there all the same."""
    parameters = parameters_of(definition)
    return {key: HIDDEN if _SECRET.search(key) else value for key, value in parameters.items()}


def told(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return what a connector is told: all but what metastores and engines write."""
    ours = (REMOTE, VIA, REMOTE_NAME)
    return {key: value for key, value in parameters.items() if key not in ours and not _OF_OTHERS.fullmatch(key)}


def unreadable(definition: RemoteTable, columns: Iterable[tuple[str, str]]) -> str:
    """Return the text of the view that keeps a remote table with these columns (name, type).

    The error stands in a condition: a count of the rows would never look at a column.
    """
    message = f"{definition.local} {UNREADABLE}{definition.remote}): read it through the gateway"
    escaped = message.replace("\\", "\\\\").replace("'", "\\'")
    selected = ", ".join(f"CAST(NULL AS {kind}) AS `{name.replace('`', '``')}`" for name, kind in columns) or "e"
    return f"SELECT {selected} FROM (SELECT raise_error('{escaped}') AS e) t WHERE e IS NULL"  # noqa: S608 (escaped)
