"""Remotes: databases and tables of the local metastore that stand for ones elsewhere (seed 004)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName

REMOTE = "twinhive_remote"
"""The parameter of the local metastore's object that holds the remote's name."""
MARKER = REMOTE.encode()
"""In a table that a metastore returns, or takes: it may stand for one elsewhere."""
UNREADABLE = "is a remote table ("
"""Stands in the text of the view that keeps one, which is an error for who reads it without a gateway."""
REMOTES_FILE = "remotes.yaml"
"""Beside `clusters.yaml`: what remotes may reach, and which gateways there are."""
THRIFT = "thrift"
"""How a remote is reached where nothing says otherwise."""


@dataclass(frozen=True)
class RemoteTable:
    """A table under a local name; `via` is a connector's short name, `properties` are what the connector is told."""

    local: TableName
    remote: TableName
    via: str = THRIFT
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteDatabase:
    """A database under a local name, with all that is in it."""

    local: str
    remote: str
    via: str = THRIFT
    properties: Mapping[str, str] = field(default_factory=dict)


Definition = RemoteTable | RemoteDatabase


def refuse_unreadable(definition: Definition) -> None:
    """Raise InvalidSettings for a remote whose database is written with its catalog: answers would not name it so."""
    database = definition.remote if isinstance(definition, RemoteDatabase) else definition.remote.database
    if database.startswith("@"):
        raise InvalidSettings(
            f"remote {definition.local} stands for a database with a catalog before its name",
            found=f"{REMOTE} = {definition.remote}",
            expected="the name of a database of Hive's own catalog, or database.table, without the catalog",
            next_step=f"write the name alone into {REMOTE}",
        )


def still_standing_for(parameters: Mapping[str, str], name: TableName, new: TableName) -> Mapping[str, str]:
    """Return the parameters of a remote table that goes under another name: what its own name said is written out."""
    text = parameters.get(REMOTE)
    if text is None or "." in text or name == new:
        return parameters
    return {**parameters, REMOTE: f"{name.database}.{text.strip() or name.table}"}


@dataclass(frozen=True)
class Definitions:
    """All remotes of a local metastore, by their local names in lower case."""

    tables: Mapping[TableName, RemoteTable] = field(default_factory=dict)
    databases: Mapping[str, RemoteDatabase] = field(default_factory=dict)

    def owner_of(self, database: str, table: str | None) -> Definition | None:
        """Return what a name stands for, None for an object of the local metastore. Both in lower case."""
        if (found := self.databases.get(database)) is not None:
            return found
        return None if table is None else self.tables.get(TableName(database, table))

    @cached_property
    def by_remote_database(self) -> Mapping[str, tuple[Definition, ...]]:
        """All remotes by the database that they stand for, or that their table is in; whole databases first."""
        found: dict[str, list[Definition]] = {}
        for database in sorted(self.databases.values(), key=lambda one: (one.local != one.remote, one.local)):
            found.setdefault(database.remote, []).append(database)
        for table in sorted(self.tables.values(), key=lambda one: (one.local != one.remote, str(one.local))):
            found.setdefault(table.remote.database, []).append(table)
        return {name: tuple(all_of_it) for name, all_of_it in found.items()}
