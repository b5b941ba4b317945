"""The remotes of a local metastore as a script of statements has left them so far, also where it only pretends.

A dry run changes nothing, and a later statement may need what an earlier one makes: what would be there is kept beside
what is, and is what later statements see.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.remote_definitions.definition_reader import WireDefinitionReader
from twinhive.federation.remotes.kept_remotes import told
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class RemotesSeen:
    """What there is, and over it what was only pretended: by name, None for what would be gone.

    uses  of pretended databases the connector that each names, None for those that name none or would be gone
    """

    wiring: RemotesWiring
    _databases: dict[str, RemoteDatabase | None] = field(default_factory=dict)
    _tables: dict[TableName, RemoteTable | None] = field(default_factory=dict)
    _connectors: dict[str, DataConnector | None] = field(default_factory=dict)
    _uses: dict[str, str | None] = field(default_factory=dict)

    def definitions(self) -> Definitions:
        """Return all remotes. Raises Unreachable."""
        there = self.wiring.definitions()
        return Definitions(_over(there.tables, self._tables), _over(there.databases, self._databases))

    def has_database(self, name: str) -> bool:
        """True for a database that is there."""
        if name in self._databases:
            return self._databases[name] is not None
        return self.wiring.metastore.database(name) is not None

    def table(self, name: TableName) -> Table | RemoteTable | None:
        """Return what has a table's name: a remote that was pretended, else what the metastore has.

        A remote database has no tables here; of one with a connector the metastore refuses to say even that.
        """
        if name in self._tables:
            return self._tables[name]
        return None if name.database in self.definitions().databases else self.wiring.metastore.table(name)

    def connector(self, name: str) -> DataConnector | None:
        """Return a data connector, None where there is none of this name."""
        return self._connectors[name] if name in self._connectors else self._reader.connector(name)

    def connectors(self) -> Mapping[str, DataConnector]:
        """Return all data connectors by their names in lower case."""
        return _over(self._reader.connectors(), self._connectors)

    def users_of(self, connector: str) -> list[str]:
        """Return the databases that use a connector, sorted."""
        there = {one.name.lower(): (one.connector or "").lower() for one in self._reader.all_databases()}
        return sorted(name for name, used in {**there, **self._uses}.items() if used == connector)

    def pretend_made(self, definition: Definition, connector: str | None = None) -> None:
        """Let a remote be there."""
        match definition:
            case RemoteTable(local=table):
                self._tables[table] = replace(definition, properties=told(definition.properties))
            case RemoteDatabase(local=database):
                self._databases[database] = replace(definition, properties=told(definition.properties))
                self._uses[database] = connector

    def pretend_table_dropped(self, name: TableName) -> None:
        """Let a remote table be gone."""
        self._tables[name] = None

    def pretend_database_dropped(self, name: str) -> None:
        """Let a remote database be gone."""
        self._databases[name] = self._uses[name] = None

    def pretend_connector(self, name: str, connector: DataConnector | None) -> None:
        """Let a data connector be there, or be gone."""
        self._connectors[name] = connector

    @property
    def _reader(self) -> WireDefinitionReader:
        return self.wiring.reader


def _over(there: Mapping[_Key, _Value], pretended: Mapping[_Key, _Value | None]) -> dict[_Key, _Value]:
    return {key: value for key, value in {**there, **pretended}.items() if value is not None}
