"""Keep a metastore in memory that behaves like Hive's where replication looks."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from twinhive.domain.errors import AlreadyThere, Missing, Refused, Unreachable
from twinhive.domain.events import EventRow
from twinhive.domain.marks import LAST_ID
from twinhive.domain.names import TableName
from twinhive.domain.objects import Database, Parameters, Partition, Table, TableKind
from twinhive.domain.thrift_objects import (
    fresh_database,
    fresh_partition,
    fresh_table,
    read_database,
    read_partition,
    read_table,
)
from twinhive.domain.tjson import Tree, from_text
from twinhive.ports import FileWriter

START_OF_TIME = 1_700_000_000
TARGET_LAST_ID = "repl.target.last.id"
_SILENT_PARAMETERS = ("repl.", "hive.repl.", "bootstrap.dump.state.")


class InMemoryMetastore:
    """Be both metastore ports, with a notification log.

    `down` makes every call fail; `translates_managed` turns managed tables into external ones, as
    Hive's metadata transformer does. With `files`, directories are made and deleted like Hive does.
    """

    def __init__(
        self,
        *,
        file_system: str = "hdfs://east",
        log_id: str = "log-east",
        addresses: Sequence[str] = ("east-metastore:9083",),
        files: FileWriter | None = None,
    ) -> None:
        self.managed_warehouse = f"{file_system}/warehouse/managed"
        self.external_warehouse = f"{file_system}/warehouse/external"
        self.configurations: dict[str, dict[str, str]] = {address: {} for address in addresses}
        self.down = False
        self.translates_managed = False
        self.events: list[EventRow] = []
        self._log_id = log_id
        self._files = files
        self._last_event_id = 0
        self._databases: dict[str, Database] = {}
        self._tables: dict[TableName, Table] = {}
        self._partitions: dict[TableName, dict[str, Partition]] = {}
        self._lock = threading.RLock()

    def addresses(self) -> tuple[str, ...]:
        """Return the `host:port` of every configured address."""
        return tuple(self.configurations)

    def configuration(self, address: str, key: str) -> str:
        """Return one configuration value of one address, '' where it is not set."""
        if address not in self.configurations:
            raise ValueError(f"{address} is none of this metastore's addresses")
        with self._call():
            return self.configurations[address].get(key, "")

    def log_id(self) -> str:
        """Return the identity of the notification log."""
        with self._call():
            return self._log_id

    def current_event_id(self) -> int:
        """Return the id of the newest event, 0 for a log that never held one."""
        with self._call():
            return self._last_event_id

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, ascending."""
        with self._call():
            return [row for row in self.events if row.event_id > event_id][: max(limit, 0)]

    def database(self, name: str) -> Database | None:
        """Return a database, or None."""
        with self._call():
            return self._databases.get(name.lower())

    def table_names(self, database: str) -> list[str]:
        """Return the names of all tables and views, sorted."""
        with self._call():
            return sorted(name.table for name in self._tables if name.database == database.lower())

    def tables(self, database: str, names: Sequence[str]) -> list[Table]:
        """Return the named tables that exist, sorted by name."""
        wanted = {TableName(database.lower(), name.lower()) for name in names}
        with self._call():
            return [self._tables[name] for name in sorted(wanted) if name in self._tables]

    def table(self, name: TableName) -> Table | None:
        """Return one table or view, or None."""
        with self._call():
            return self._tables.get(name)

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of all partitions, sorted. Raises Missing without such a table."""
        with self._call():
            self._existing(table)
            return sorted(self._partitions[table])

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return the named partitions that exist, in the order of their names."""
        with self._call():
            there = self._partitions.get(table, {})
            return [there[name] for name in sorted(set(names)) if name in there]

    def create_database(self, database: Database) -> None:
        """Create a database. Raises AlreadyThere."""
        with self._call():
            name = database.name.lower()
            if name in self._databases:
                raise AlreadyThere(f"database {name} exists already")
            tree = fresh_database(database)
            tree.setdefault("3", {"str": f"{self.external_warehouse}/{name}.db"})
            tree.setdefault("6", {"str": "hive"})
            tree |= {"1": {"str": name}, "8": {"str": "hive"}, "9": {"i32": self._now()}}
            created = self._databases[name] = read_database(tree)
            self._make_directories(created.location, created.managed_location)
            self.emit("CREATE_DATABASE", name, None, {"db": name, "dbJson": created.thrift})

    def set_database_parameters(self, name: str, parameters: Parameters) -> None:
        """Replace all parameters of a database. Raises Missing."""
        with self._call():
            before = self._databases.get(name.lower())
            if before is None:
                raise Missing(f"database {name} does not exist")
            written = dict(parameters)
            if written.get(LAST_ID) not in (None, before.parameters.get(LAST_ID)):
                written[TARGET_LAST_ID] = str(self._last_event_id)
            tree = from_text(before.thrift) | {"4": _text_map(written)}
            after = self._databases[before.name] = read_database(tree)
            if _spoken(before.parameters) != _spoken(after.parameters):
                message = {"db": before.name, "dbObjBeforeJson": before.thrift, "dbObjAfterJson": after.thrift}
                self.emit("ALTER_DATABASE", before.name, None, message)

    def create_table(self, table: Table) -> None:
        """Create a table or view. Raises AlreadyThere, and Missing without the database."""
        with self._call():
            database = self._databases.get(table.name.database)
            if database is None:
                raise Missing(f"database {table.name.database} does not exist")
            if table.name in self._tables:
                raise AlreadyThere(f"table {table.name} exists already")
            created = self._tables[table.name] = self._settled(table, database)
            self._partitions[table.name] = {}
            self._make_directories(created.location)
            self.emit("CREATE_TABLE", created.name.database, created.name.table, {**_of(created), "files": []})

    def drop_table(self, name: TableName, *, delete_data: bool) -> None:
        """Drop a table; one that does not exist is fine."""
        with self._call():
            table = self._tables.pop(name, None)
            partitions = self._partitions.pop(name, {})
            if table is None:
                return
            if delete_data and table.kind in (TableKind.MANAGED, TableKind.TRANSACTIONAL):
                self._delete_directories(table.location, *(partition.location for partition in partitions.values()))
            self.emit("DROP_TABLE", name.database, name.table, _of(table))

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Add partitions of one table, all or none. Raises AlreadyThere, Missing."""
        if not partitions:
            return
        (name,) = {partition.table for partition in partitions}
        with self._call():
            table = self._existing(name)
            added: dict[str, Partition] = {}
            for partition in partitions:
                if len(partition.values) != len(table.partition_keys):
                    raise Refused(f"{name}: {partition.values} are not values of {table.partition_keys}")
                partition_name = partition.name(table.partition_keys)
                if partition_name in self._partitions[name] or partition_name in added:
                    raise AlreadyThere(f"partition {partition_name} of {name} exists already")
                added[partition_name] = self._settled_partition(partition, f"{table.location}/{partition_name}")
            self._partitions[name] |= added
            self._make_directories(*(partition.location for partition in added.values()))
            self.emit("ADD_PARTITION", name.database, name.table, _of_partitions(table, added))

    def emit(self, event_type: str, database: str | None, table: str | None, message: Mapping[str, Any]) -> EventRow:
        """Append a row to the log, also of a kind that no call of this class makes."""
        with self._lock:
            self._last_event_id += 1
            now = self._now()
            text = json.dumps({"server": "", "servicePrincipal": "", "timestamp": now, **message}, ensure_ascii=False)
            row = EventRow(self._last_event_id, now, event_type, "hive", database, table, text, "json-0.2")
            self.events.append(row)
            return row

    def expire_events(self, up_to: int) -> None:
        """Delete the rows up to an id, as the log's cleaner does; ids go on where they were."""
        with self._lock:
            self.events = [row for row in self.events if row.event_id > up_to]

    def _settled(self, table: Table, database: Database) -> Table:
        tree = fresh_table(table)
        parameters = {"transient_lastDdlTime": str(self._now()), **table.parameters}
        if table.table_type == "MANAGED_TABLE" and parameters.get("EXTERNAL", "").upper() == "TRUE":
            tree["12"] = {"str": "EXTERNAL_TABLE"}
        if self.translates_managed and table.kind is TableKind.MANAGED:
            tree["12"] = {"str": "EXTERNAL_TABLE"}
            parameters |= {"EXTERNAL": "TRUE", "TRANSLATED_TO_EXTERNAL": "TRUE", "external.table.purge": "TRUE"}
        tree |= {"9": _text_map(parameters), "4": {"i32": self._now()}, "17": {"str": "hive"}, "19": {"i64": 0}}
        kept = read_table(tree)
        if kept.has_files and kept.location is None:
            managed = database.managed_location or f"{self.managed_warehouse}/{database.name}.db"
            parent = database.location if kept.kind is TableKind.EXTERNAL else managed
            _put_location(tree, "7", f"{parent}/{table.name.table}")
        return read_table(tree)

    def _settled_partition(self, partition: Partition, default_location: str) -> Partition:
        tree = fresh_partition(partition)
        tree["7"] = _text_map({"transient_lastDdlTime": str(self._now()), **partition.parameters})
        tree |= {"4": {"i32": self._now()}, "9": {"str": "hive"}}
        _put_location(tree, "6", partition.location or default_location)
        return read_partition(tree)

    def _existing(self, name: TableName) -> Table:
        table = self._tables.get(name)
        if table is None:
            raise Missing(f"table {name} does not exist")
        return table

    def _now(self) -> int:
        return START_OF_TIME + self._last_event_id

    @contextmanager
    def _call(self) -> Iterator[None]:
        if self.down:
            raise Unreachable(f"no metastore answered at {', '.join(self.addresses())}")
        with self._lock:
            yield

    def _make_directories(self, *locations: str | None) -> None:
        for location in filter(None, locations):
            if self._files:
                self._files.make_directories(location)

    def _delete_directories(self, *locations: str | None) -> None:
        for location in filter(None, locations):
            if self._files:
                self._files.delete(location)


def _text_map(mapping: Mapping[str, str]) -> dict[str, Any]:
    return {"map": ["str", "str", len(mapping), dict(mapping)]}


def _put_location(tree: Tree, sd_id: str, location: str) -> None:
    tree[sd_id] = {"rec": {**tree.get(sd_id, {}).get("rec", {}), "2": {"str": location}}}


def _spoken(parameters: Parameters) -> dict[str, str]:
    """Return the parameters whose change makes an event."""
    return {key: value for key, value in parameters.items() if not key.startswith(_SILENT_PARAMETERS)}


def _of(table: Table) -> dict[str, Any]:
    return {
        "db": table.name.database,
        "table": table.name.table,
        "tableType": table.table_type,
        "tableObjJson": table.thrift,
    }


def _of_partitions(table: Table, added: Mapping[str, Partition]) -> dict[str, Any]:
    return {
        **_of(table),
        "partitions": [dict(zip(table.partition_keys, partition.values, strict=True)) for partition in added.values()],
        "partitionListJson": [partition.thrift for partition in added.values()],
        "partitionFiles": [{"partitionName": name, "files": []} for name in added],
    }
