"""Run statements about remotes (seed 004), one after the other, and say what they would do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from twinhive.core.model.errors import Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.remotes.definitions import THRIFT, RemoteDatabase, RemoteTable
from twinhive.core.model.remotes.wildcards import hive_pattern
from twinhive.federation.remotes.kept_remotes import shown
from twinhive.federation.routing.statement_splitter import cut
from twinhive.statements.execution.remote_changes import RemoteChanges
from twinhive.statements.execution.remote_views import described, description_columns
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_results import Answer
from twinhive.statements.remote_language.remote_parsing import parse_remote
from twinhive.statements.remote_language.remote_values import (
    CreateConnector,
    CreateRemoteDatabase,
    CreateRemoteTable,
    DescribeRemote,
    DropConnector,
    DropRemoteDatabase,
    DropRemoteTable,
    NameSaid,
    RemoteStatement,
    ShowConnectors,
    ShowRemotes,
    UseDatabase,
)

_DEFAULT = "default"


def run_remotes(text: str, place: StatementPlace, say: Callable[[str], None]) -> Answer:
    """Run all statements of a text, after all were read; return what the last that returns rows has."""
    return _run(text, RemoteChanges(place, say, pretends=False))


def plan_remotes(text: str, place: StatementPlace) -> list[str]:
    """Return what running them would ask and store. Raises what running would."""
    lines: list[str] = []
    answer = _run(text, RemoteChanges(place, lines.append, pretends=True))
    return [*lines, *("\t".join(map(str, row)) for row in answer.rows)]


def _run(text: str, changes: RemoteChanges) -> Answer:
    statements = [parse_remote(one.text) for one in cut(text)]
    current, answer = _DEFAULT, Answer()
    for statement in statements:
        if isinstance(statement, UseDatabase):
            changes.check_database(statement.database)
            current = statement.database
            continue
        found = _Run(changes, current).run(statement)
        answer = found if found.columns else answer
    return answer


@dataclass(frozen=True)
class _Run:
    changes: RemoteChanges
    current: str

    def run(self, statement: RemoteStatement) -> Answer:
        match statement:
            case CreateRemoteTable():
                self.changes.create(self._table(statement), if_not_exists=statement.if_not_exists)
            case CreateRemoteDatabase():
                self._create_database(statement)
            case CreateConnector() | DropConnector() | ShowConnectors():
                return self._connectors(statement)
            case DropRemoteTable() | DropRemoteDatabase():
                self._drop(statement)
            case ShowRemotes():
                return self._show(statement)
            case DescribeRemote():
                return self._describe(statement)
            case UseDatabase():
                raise AssertionError("it changes which database is current, and is no change")
            case _:
                assert_never(statement)
        return Answer()

    def _drop(self, statement: DropRemoteTable | DropRemoteDatabase) -> None:
        match statement:
            case DropRemoteTable(name, if_exists):
                self.changes.drop_table(self._full(name), if_exists=if_exists)
            case DropRemoteDatabase(database, if_exists):
                self.changes.drop_database(database, if_exists=if_exists)

    def _create_database(self, statement: CreateRemoteDatabase) -> None:
        if statement.connector is None:
            self.changes.create(_database(statement), if_not_exists=statement.if_not_exists)
            return
        properties = dict(statement.properties)
        definition, kept = self.changes.connectors.database(statement.name, statement.connector, properties)
        self.changes.create(definition, if_not_exists=statement.if_not_exists, by=(statement.connector, kept))

    def _connectors(self, statement: CreateConnector | DropConnector | ShowConnectors) -> Answer:
        connectors = self.changes.connectors
        match statement:
            case CreateConnector(name, kind, url, comment, properties):
                made = DataConnector(name, kind, url, dict(properties), comment)
                connectors.create(made, if_not_exists=statement.if_not_exists)
            case DropConnector(name):
                connectors.drop(name, if_exists=statement.if_exists)
            case ShowConnectors(like):
                return Answer(
                    ("name", "type", "url"), tuple(row for row in connectors.rows() if _is_like(row[0], like))
                )
        return Answer()

    def _table(self, statement: CreateRemoteTable) -> RemoteTable:
        local = self._full(statement.name)
        said = statement.remote or NameSaid(None, local.table)
        remote = TableName(said.first or local.database, said.last)
        return RemoteTable(local, remote, _via(statement), dict(statement.properties))

    def _full(self, name: NameSaid) -> TableName:
        return TableName(name.first or self.current, name.last)

    def _show(self, statement: ShowRemotes) -> Answer:
        defined = self.changes.definitions()
        wanted = statement.database or self.current
        found: list[RemoteDatabase | RemoteTable] = (
            list(defined.databases.values())
            if statement.databases
            else [one for one in defined.tables.values() if one.local.database == wanted]
        )
        rows = [(_last(one), str(one.remote), one.via) for one in found]
        liked = (row for row in sorted(rows) if _is_like(row[0], statement.like))
        return Answer(("name", "stands_for", "via"), tuple(liked))

    def _describe(self, statement: DescribeRemote) -> Answer:
        defined = self.changes.definitions()
        name = statement.name
        found = defined.databases.get(name.last) if name.first is None else None
        definition = found or defined.owner_of(name.first or self.current, name.last)
        if definition is None:
            raise Missing(
                f"{name if name.first else f'{self.current}.{name}'} is no remote",
                found="no remote table or database of this name",
                expected="one of those that SHOW REMOTE TABLES and SHOW REMOTE DATABASES list",
                next_step="of everything else Hive's and Spark's own DESCRIBE tells more",
            )
        if isinstance(definition, RemoteDatabase) and found is None:
            definition = RemoteTable(
                self._full(name), TableName(definition.remote, name.last), definition.via, definition.properties
            )
        probed = self.changes.ask(definition)
        return Answer(description_columns(), tuple(described(definition, probed, shown(definition))))


def _database(statement: CreateRemoteDatabase) -> RemoteDatabase:
    remote = statement.remote or statement.name
    return RemoteDatabase(statement.name, remote, _via(statement), dict(statement.properties))


def _via(statement: CreateRemoteTable | CreateRemoteDatabase) -> str:
    return THRIFT if statement.via is None else statement.via


def _last(definition: RemoteDatabase | RemoteTable) -> str:
    return definition.local if isinstance(definition, RemoteDatabase) else definition.local.table


def _is_like(name: str, pattern: str | None) -> bool:
    return pattern is None or hive_pattern(pattern, name)
