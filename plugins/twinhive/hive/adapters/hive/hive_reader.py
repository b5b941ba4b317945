"""Read a Hive metastore (4.1 or later) through its Thrift API."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from hive_metastore import ttypes

from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.constraints import Constraint, constraints_of
from twinhive.core.model.errors import Missing, Refused, UnreadableObject, together
from twinhive.core.model.files import qualified
from twinhive.core.model.log_access import LogAccess
from twinhive.core.model.names import DEFAULT_PARTITION, TableName, partition_values
from twinhive.core.model.objects import Database, Function, Partition, Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.tjson import to_text
from twinhive.hive.adapters.hive.hive_partition_locations import PartitionLocations
from twinhive.hive.adapters.hive.log_rights import LogRights
from twinhive.hive.adapters.hive.thrift_connection import AS_STORED, Request
from twinhive.hive.adapters.hive.thrift_failover import Connections
from twinhive.hive.adapters.hive.thrift_json import tree_of

Object = TypeVar("Object")

DEFAULT_TIMEOUT_SECONDS = 300.0
TABLES_PER_CALL = 200
PARTITIONS_PER_CALL = 1_000
CATALOG = "hive"
"""Hive's default catalog; some calls fail without it, others take it for granted."""
_ALL = -1
_MOST_EVENTS = 2**31 - 1
_CONSTRAINTS = {
    "primary_key": "primaryKeys",
    "unique": "uniqueConstraints",
    "not_null": "notNullConstraints",
    "default": "defaultConstraints",
    "check": "checkConstraints",
    "foreign_key": "foreignKeys",
}
"""Where the answer has the constraints of each kind; foreign keys last."""


class ThriftMetastoreReader:
    """Read one metastore behind one or several addresses. Threads may share an instance.

    It is told the name of `user`, and what it refuses is told with the name of its `cluster`. Locations that name no
    host are on the `file_system` of that.
    """

    def __init__(
        self,
        addresses: Sequence[tuple[str, int]],
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        user: str | None = None,
        cluster: str = "",
        file_system: str = "",
    ) -> None:
        self._file_system = file_system
        self.connections = Connections(addresses, timeout_seconds, user)
        self._log_rights = LogRights(user, cluster)
        self._partition_locations = PartitionLocations(self.connections, self._locations_by_names)

    def close(self) -> None:
        """Close the connections of all threads; the next call opens a new one."""
        self.connections.close()

    def addresses(self) -> tuple[str, ...]:
        """Return the `host:port` of every configured address."""
        return tuple(map(str, self.connections.addresses))

    def configuration(self, address: str, key: str) -> str:
        """Return one configuration value of one address, '' where it is not set."""
        request = Request(f"reading configuration key {key}", lambda client: client.get_config_value(key, ""))
        value: str = self.connections.ask(address, request)
        return value

    def log_access(self, address: str) -> LogAccess:
        """Read the end of the notification log at one address. Raises Refused when we may not."""
        return self.connections.converse(address, "reading the notification log", self._log_rights.access)

    def log_id(self) -> str:
        """Return the identity of the metastore's database, and so of its notification log."""
        log_id: str = self._read("reading the metastore's id", lambda client: client.get_metastore_db_uuid())
        return log_id

    def current_event_id(self) -> int:
        """Return the id of the newest event, 0 for a log that never held one."""
        answer = self._read_log("reading the current event id", lambda client: client.get_current_notificationEventId())
        return int(answer.eventId)

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, ascending, unfiltered."""
        if limit <= 0:
            return []
        request = ttypes.NotificationEventRequest(lastEvent=event_id, maxEvents=min(limit, _MOST_EVENTS))
        answer = self._read_log(
            f"reading events after {event_id}", lambda client: client.get_next_notification(request)
        )
        return [_event_row(event) for event in answer.events or ()]

    def database(self, name: str) -> Database | None:
        """Return a database, or None when there is none of this name."""
        try:
            return objects.read_database(tree_of(self._database(name)))
        except Missing:
            return None

    def database_names(self) -> list[str]:
        """Return the names of all databases, sorted."""
        return sorted(self._read("listing databases", lambda client: client.get_all_databases()))

    def connector(self, name: str) -> DataConnector | None:
        """Return a data connector, or None when there is none of this name."""
        request = ttypes.GetDataConnectorRequest(connectorName=name)
        try:
            found = self._read(f"reading connector {name}", lambda client: client.get_dataconnector_req(request))
        except Missing:
            return None
        return DataConnector(
            found.name, found.type or "", found.url or "", found.parameters or {}, found.description or None
        )

    def table_names(self, database: str) -> list[str]:
        """Return the names of all tables and views, sorted."""
        return sorted(self._read(f"listing tables of {database}", lambda client: client.get_all_tables(database)))

    def tables(self, database: str, names: Sequence[str]) -> list[Table]:
        """Return the named tables that exist, sorted by name. Raises UnreadableObject, which names some."""
        pages = _pages(names, TABLES_PER_CALL)
        found = [table for page in pages for table in _named(page, lambda some: self._tables(database, some))]
        return sorted(found, key=lambda table: table.name)

    def table(self, name: TableName) -> Table | None:
        """Return one table or view, or None."""
        request = ttypes.GetTableRequest(
            dbName=name.database, tblName=name.table, capabilities=_capabilities(), processorCapabilities=AS_STORED
        )
        try:
            answer = self._read(f"reading table {name}", lambda client: client.get_table_req(request))
        except Missing:
            return None
        return objects.read_table(tree_of(answer.table))

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of all partitions, sorted. Raises Missing without such a table."""
        names = self._read(
            f"listing partitions of {table}",
            lambda client: client.get_partition_names(table.database, table.table, _ALL),
        )
        # The server has no partitions to tell of a table that does not exist.
        if not names and self.table(table) is None:
            raise _no_table(f"listing partitions of {table}")
        return sorted(names)

    def partition_names_with(self, table: TableName, values: Sequence[str]) -> list[str]:
        """Return the names of partitions with these values, sorted; '' stands for any value."""
        names = self._read(
            f"listing partitions of {table} with {tuple(values)}",
            lambda client: client.get_partition_names_ps(table.database, table.table, list(values), _ALL),
        )
        if not names and self.table(table) is None:
            raise _no_table(f"listing partitions of {table}")
        return sorted(names)

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return the named partitions that exist, in the order of their names. Raises UnreadableObject likewise."""
        name_of = {partition_values(name): name for name in names}
        pages = _pages(list(name_of.values()), PARTITIONS_PER_CALL)
        found = [one for page in pages for one in _named(page, lambda some: self._partitions(table, some))]
        # Hive reads by several queries: of a partition that is dropped meanwhile it returns a rest without values.
        whole = [partition for partition in found if _as_named(partition.values) in name_of]
        return sorted(whole, key=lambda partition: name_of[_as_named(partition.values)])

    def partition_locations(self, table: Table) -> list[tuple[str, str]]:
        """Return names and locations of all partitions, sorted by name. Raises Missing without such a table."""
        try:
            located = self._partition_locations.read(table)
        except Refused:
            # Of a table that does not exist, servers tell different things.
            self._check_there(table.name)
            raise
        if not located:
            self._check_there(table.name)
        return [(name, self._qualified(location)) for name, location in located]

    def partition_locations_of(self, table: Table, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return names and locations of the named partitions that exist, sorted by name."""
        located = self._partition_locations.read_of(table, names)
        if located is not None:
            return [(name, self._qualified(location)) for name, location in located]
        found = self.partitions(table.name, names)
        return [(partition.name(table.partition_keys), partition.location or "") for partition in found]

    def constraints(self, table: TableName) -> tuple[Constraint, ...]:
        """Return the constraints of a table, foreign keys last; none without the table."""
        request = ttypes.AllTableConstraintsRequest(table.database, table.table, CATALOG)
        answer = self._read(
            f"reading constraints of {table}", lambda client: client.get_all_table_constraints(request)
        ).allTableConstraints
        lists = ((kind, getattr(answer, field) or ()) for kind, field in _CONSTRAINTS.items())
        return tuple(
            found for kind, some in lists for found in constraints_of(kind, (to_text(tree_of(one)) for one in some))
        )

    def functions(self, database: str) -> list[Function]:
        """Return all permanent functions of a database, sorted by name."""
        doing = f"listing functions of {database}"
        try:
            answer = self._read(doing, lambda client: client.get_all_functions()).functions or ()
        except UnreadableObject:
            # One of another database is no reason.
            names = self.function_names(database)
            answer = _named(names, lambda some: [self._function(database, name) for name in some])
        found = [objects.read_function(tree_of(function)) for function in answer]
        return sorted((function for function in found if function.database == database.lower()), key=_by_name)

    def function_names(self, database: str) -> list[str]:
        """Return the names of all permanent functions, sorted: also of those that cannot be read."""
        return sorted(
            self._read(f"listing functions of {database}", lambda client: client.get_functions(database, "*"))
        )

    def function(self, database: str, name: str) -> Function | None:
        """Return one permanent function, or None."""
        try:
            return objects.read_function(tree_of(self._function(database, name)))
        except Missing:
            return None

    def _function(self, database: str, name: str) -> Any:
        return self._read(f"reading function {database}.{name}", lambda client: client.get_function(database, name))

    def _check_there(self, name: TableName) -> None:
        if self.table(name) is None:
            raise _no_table(f"reading where the partitions of {name} lie")

    def _locations_by_names(self, table: Table) -> list[tuple[str, str]]:
        found = self.partitions(table.name, self.partition_names(table.name))
        return [(partition.name(table.partition_keys), partition.location or "") for partition in found]

    def _database(self, name: str) -> Any:
        return self._read(f"reading database {name}", lambda client: client.get_database(name))

    def _tables(self, database: str, names: list[str]) -> list[Table]:
        request = ttypes.GetTablesRequest(
            dbName=database, tblNames=names, capabilities=_capabilities(), processorCapabilities=AS_STORED
        )
        try:
            answer = self._read(
                f"reading {_said(names, 'tables')} of {database}",
                lambda client: client.get_table_objects_by_name_req(request),
            )
        except Missing:
            return []
        return [objects.read_table(tree_of(table)) for table in answer.tables or ()]

    def _partitions(self, table: TableName, names: list[str]) -> list[Partition]:
        request = ttypes.GetPartitionsByNamesRequest(
            db_name=table.database, tbl_name=table.table, names=names, processorCapabilities=AS_STORED
        )
        try:
            answer = self._read(
                f"reading {_said(names, 'partitions')} of {table}",
                lambda client: client.get_partitions_by_names_req(request),
            )
        except UnreadableObject:
            raise
        except Refused:
            # Without the table, the server answers with an error that the bindings do not know.
            if self.table(table) is None:
                return []
            raise
        found = (objects.read_partition(tree_of(partition)) for partition in answer.partitions or ())
        return [one.at(one.table, one.location and self._qualified(one.location)) for one in found]

    def _qualified(self, location: str) -> str:
        return qualified(location, self._file_system) if self._file_system else location

    def _read(self, doing: str, call: Callable[[Any], Any]) -> Any:
        return self.connections.read(Request(doing, call))

    def _read_log(self, doing: str, call: Callable[[Any], Any]) -> Any:
        return self.connections.read(Request(doing, call, self._log_rights.explain))


def _capabilities() -> Any:
    """Claim what the server wants to hear before it returns insert-only tables."""
    return ttypes.ClientCapabilities([ttypes.ClientCapability.INSERT_ONLY_TABLES])


def _pages(names: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(names), size):
        yield list(names[start : start + size])


def _named(names: list[str], read: Callable[[list[str]], list[Object]]) -> list[Object]:
    """Read named objects together, and one by one when not all can be read; UnreadableObject names the others."""
    try:
        return read(names)
    except UnreadableObject:
        if len(names) == 1:
            raise
    found, problems = list[Object](), list[UnreadableObject]()
    for name in names:
        try:
            found += read([name])
        except UnreadableObject as problem:
            problems.append(problem)
    if problems:
        raise together(problems, f"{len(problems)} of {len(names)} objects cannot be read")
    return found


def _said(names: Sequence[str], what: str) -> str:
    return f"{what.removesuffix('s')} {names[0]}" if len(names) == 1 else f"{len(names)} {what}"


def _as_named(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values that the partition's name tells; an empty one hides behind the default name."""
    return tuple(value or DEFAULT_PARTITION for value in values)


def _by_name(function: Function) -> str:
    return function.name


def _event_row(event: Any) -> EventRow:
    return EventRow(
        event_id=event.eventId,
        time=event.eventTime,
        event_type=event.eventType,
        catalog=event.catName or None,
        database=event.dbName or None,
        table=event.tableName or None,
        message=event.message or "",
        message_format=event.messageFormat or "",
    )


def _no_table(doing: str) -> Missing:
    return Missing(
        f"{doing}: there is no such table",
        found="no table of this name in the metastore",
        expected="a table that was there a moment ago",
        next_step="run again: what has dropped or renamed it is in the log",
    )
