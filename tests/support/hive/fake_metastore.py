"""Keep a metastore in memory that behaves like Hive's where replication looks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.support.hive import fake_messages as messages
from tests.support.hive.fake_constraints import ConstraintsInMemory
from tests.support.hive.fake_details import DetailsInMemory
from tests.support.hive.fake_partitions import PartitionsInMemory
from tests.support.hive.fake_state import is_managed, is_translated, owns_files, put_location, text_map
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import AlreadyThere, ChangedMeanwhile, Refused, Unexplained
from twinhive.core.model.files import is_below, relative_to
from twinhive.core.model.log_access import Caller, LogAccess
from twinhive.core.model.marks import LAST_ID, SOURCE_FOR, STAMP, TARGET_FOR
from twinhive.core.model.names import TableName, default_directory
from twinhive.core.model.objects import USER, Database, Parameters, Partition, Table, TableKind
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.thrift_objects import (
    as_stored,
    fresh_database,
    fresh_partition,
    fresh_table,
    named_locations,
    read_database,
    read_partition,
    read_table,
)
from twinhive.core.model.tjson import Tree, from_text, to_text
from twinhive.core.ports import FileWriter
from twinhive.core.ports.table_writers import LoggedInsert
from twinhive.replication.replica.column_types import may_become

TARGET_LAST_ID = "repl.target.last.id"
# Hive's ReplConst: a change of these alone makes no event, and no ALTER_DATABASE tells them.
_UNSPOKEN = frozenset(
    {
        SOURCE_FOR,
        TARGET_FOR,
        LAST_ID,
        TARGET_LAST_ID,
        "hive.repl.ckpt.key",
        "hive.repl.first.inc.pending",
        "repl.failover.endpoint",
        "repl.background.enable",
        "repl.incompatible",
        "repl.resume.started",
    }
)
_UNSPOKEN_BEGINNINGS = ("bootstrap.dump.state.", "repl.metrics.")
_FILE_STATISTICS = ("numFiles", "numRows", "totalSize", "rawDataSize", "numFilesErasureCoded")


class InMemoryMetastore(PartitionsInMemory, ConstraintsInMemory, DetailsInMemory):
    """Be both metastore ports, with a notification log, and what else users of a source do.

    `down` makes every call fail, `guards_log` those that read the log; `translates_managed` turns managed
    tables into external ones, as Hive's metadata transformer does; `takes_all_types` lets columns become any
    others. With `files`, directories are made, moved and deleted as Hive does, events name files, and the change
    manager of `files` keeps what databases with `repl.source.for` lose.
    """

    def __init__(
        self,
        *,
        file_system: str = "hdfs://east",
        log_id: str = "log-east",
        addresses: Sequence[str] = ("east-metastore:9083",),
        files: FileWriter | None = None,
    ) -> None:
        super().__init__(file_system=file_system, log_id=log_id, addresses=addresses, files=files)
        self.translates_managed = False
        self.takes_all_types = False
        self._tables_made = 0

    def addresses(self) -> tuple[str, ...]:
        """Return the `host:port` of every configured address."""
        return tuple(self.configurations)

    def configuration(self, address: str, key: str) -> str:
        """Return one configuration value of one address, '' where it is not set."""
        if address not in self.configurations:
            raise ValueError(f"{address} is none of this metastore's addresses")
        with self._call():
            return self.configurations[address].get(key, "")

    def log_access(self, address: str) -> LogAccess:
        """Read the end of the notification log at one address. Raises Refused when we may not."""
        with self._read_log(address):
            return LogAccess(address, self.cluster, Caller(self.user), self._log.last_event_id)

    def log_id(self) -> str:
        """Return the identity of the notification log."""
        with self._call():
            return self._log_id

    def current_event_id(self) -> int:
        """Return the id of the newest event, 0 for a log that never held one."""
        with self._read_log():
            return self._log.last_event_id

    def events_after(self, event_id: int, limit: int) -> list[EventRow]:
        """Return at most `limit` rows with an id above `event_id`, ascending."""
        with self._read_log():
            return [row for row in self.events if row.event_id > event_id][: max(limit, 0)]

    def database(self, name: str) -> Database | None:
        """Return a database, or None."""
        with self._call():
            return self._databases.get(name.lower())

    def database_names(self) -> list[str]:
        """Return the names of all databases, sorted."""
        with self._call():
            return sorted(self._databases)

    def connector(self, name: str) -> DataConnector | None:
        """Return a data connector, or None."""
        with self._call():
            return self.connectors.get(name.lower())

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
        """Return one table or view, or None. Raises Refused for a database that one of our connectors leads to."""
        with self._call():
            self._check_knows_connector(name)
            return self._tables.get(name)

    def _check_knows_connector(self, name: TableName) -> None:
        """Refuse as Hive does, which asks the connector of a remote database for its tables, and has none for ours."""
        database = self._databases.get(name.database)
        connector = self.connectors.get((database.connector or "").lower()) if database is not None else None
        if connector is not None and connector.is_ours:
            raise Refused(
                f"reading table {name}",
                found=f"Data connector of type {connector.kind} not implemented yet",
                expected="a table",
                next_step="ask at the gateway",
            )

    def create_database(self, database: Database) -> None:
        """Create a database. Raises AlreadyThere."""
        with self._call():
            name = database.name.lower()
            if name in self._databases:
                raise AlreadyThere(f"database {name} exists already")
            tree = fresh_database(database)
            tree.setdefault("3", {"str": f"{self.external_warehouse}/{name}.db"})
            tree.setdefault("6", {"str": "hive"})
            tree.setdefault("7", {"i32": USER})
            tree |= {"1": {"str": name}, "8": {"str": "hive"}, "9": {"i32": self._log.now()}}
            created = self._databases[name] = read_database(tree)
            self._storage.make(created.location, created.managed_location)
            self.emit("CREATE_DATABASE", name, None, {"db": name, "dbJson": created.thrift})

    def set_database_parameters(self, name: str, parameters: Parameters) -> None:
        """Replace all parameters of a database. Raises Missing."""
        with self._call():
            self.alter_database(replace(self._existing_database(name), parameters=parameters))

    def alter_database(self, database: Database) -> None:
        """Replace owner, comment and parameters of a database; its locations stay. Raises Missing.

        As with Hive, a change of the comment alone makes no event, and neither comment nor owner can be
        taken away.
        """
        with self._call():
            before = self._existing_database(database.name)
            given = fresh_database(database)
            written = dict(database.parameters)
            if written.get(LAST_ID) not in (None, before.parameters.get(LAST_ID)):
                written[TARGET_LAST_ID] = str(self._log.last_event_id)
            replaced = {key: given[key] for key in ("2", "6", "7") if key in given}
            tree = from_text(before.thrift) | replaced | {"4": text_map(written)}
            after = self._databases[before.name] = read_database(tree)
            if _heard(before) != _heard(after):
                said = {key: value for key, value in tree.items() if key != "7" or key in given}
                told = _told(read_database(said))
                message = {"db": before.name, "dbObjBeforeJson": _told(before), "dbObjAfterJson": told}
                self.emit("ALTER_DATABASE", before.name, None, message)

    def drop_database(self, name: str) -> None:
        """Drop a database with all that is in it. Raises Missing, and Refused for a source of replication."""
        with self._call():
            database = self._existing_database(name)
            if database.parameters.get(SOURCE_FOR):
                raise Refused(f"database {name} is a source of replication")
            for function in self.functions(name):
                self.drop_function(database.name, function.name)
            for table in self.table_names(name):
                self.drop_table(TableName(database.name, table), delete_data=True)
            del self._databases[database.name]
            self._storage.remove(database.location, recycles=False)
            self.emit("DROP_DATABASE", database.name, None, {"db": database.name, "dbJson": database.thrift})

    def create_table(self, table: Table) -> None:
        """Create a table or view. Raises AlreadyThere, and Missing without the database."""
        with self._call():
            database = self._existing_database(table.name.database)
            if table.name in self._tables:
                raise AlreadyThere(f"table {table.name} exists already")
            told = self._settled(table, database)
            created = self._tables[table.name] = _stored(told)
            self._partitions[table.name] = {}
            self._constraints[table.name] = {}
            self._storage.make(created.location)
            files = self._storage.entries(created.location) if created.kind is TableKind.MANAGED else []
            self._emit_on(created, "CREATE_TABLE", {**messages.of_table(told), "files": files})

    def alter_table(
        self, name: TableName, table: Table, *, expected: str | None = None, of_key: str = STAMP, cascade: bool = False
    ) -> None:
        """Replace the table `name` by `table`, which may have another name, location or columns.

        Partitions get the columns with `cascade` if the table's change, and no event says so. A new name
        moves the directory of a managed table in its default place, and of one that the metastore itself
        made external, and the locations of the partitions below it.
        """
        with self._call():
            before = self._existing(name)
            if expected is not None:
                _check_parameter(before, table, of_key, expected)
            database = self._existing_database(table.name.database)
            if table.name != name and table.name in self._tables:
                raise AlreadyThere(f"table {table.name} exists already")
            self._check_columns(before, table)
            target = self._place_of_renamed(before, table, database)
            if target and before.name.database != database.name:
                self._refuse_moving_between(self._existing_database(before.name.database), database)
            if target and self._storage.exists(target):
                raise Refused(f"table {table.name}: {target} exists already")
            told = self._altered_table(before, table, target)
            after = _stored(told)
            if target:
                self._storage.move(str(before.location), target)
            self._rename_state(before, after, moves=target is not None, cascade=cascade)
            self._emit_on(after, "ALTER_TABLE", messages.of_altered_table(before, told))

    def drop_table(self, name: TableName, *, delete_data: bool) -> None:
        """Drop a table; one that does not exist is fine."""
        with self._call():
            table = self._tables.pop(name, None)
            partitions = self._partitions.pop(name, {})
            self._forget_constraints(name)
            self._forget_statistics(name)
            if table is None:
                return
            if delete_data and owns_files(table):
                for location in (table.location, *(partition.location for partition in partitions.values())):
                    self._storage.remove(location, recycles=self._recycles(table))
            self._emit_on(table, "DROP_TABLE", messages.of_table(table))

    def truncate_table(self, name: TableName, partition_names: Sequence[str] | None = None) -> None:
        """Remove all files of a table, or of some of its partitions; Hive says 'before' what is after."""
        with self._call():
            table = self._existing(name)
            if not table.partition_keys:
                self._empty(table, table.location)
                emptied_table = table.with_parameters(_emptied(table.parameters))
                after = self._tables[name] = self._altered_table(table, emptied_table, None)
                self._emit_on(table, "ALTER_TABLE", messages.of_altered_table(after, after, truncates=True))
                return
            chosen = sorted(self._partitions[name]) if partition_names is None else sorted(partition_names)
            emptied = []
            for chosen_name in chosen:
                partition = self._partitions[name][chosen_name]
                self._empty(table, partition.location)
                parameters = _emptied(partition.parameters)
                emptied.append(self._settled_partition(partition.with_parameters(parameters), ""))
                self._partitions[name][chosen_name] = emptied[-1]
            self._emit_on(table, "ALTER_PARTITIONS", messages.of_altered_partitions(table, emptied, truncates=True))

    def fire_insert(
        self,
        name: TableName,
        values: Sequence[str] | None,
        files: Sequence[tuple[str, str | None]],
        *,
        replaces: bool = False,
    ) -> None:
        """Log that files (each with its checksum) were written, as the writer does when it has moved them."""
        with self._call():
            table = self._existing(name)
            partition = None if values is None else self._existing_partition(table, tuple(values))
            entries = [self._storage.entry(path, checksum) for path, checksum in files]
            self._emit_on(table, "INSERT", messages.of_insert(table, partition, entries, replaces=replaces))

    def fire_inserts(self, table: TableName, inserts: Sequence[LoggedInsert]) -> None:
        """Log that files were written into partitions of a table: an event for each."""
        for insert in inserts:
            self.fire_insert(table, insert.values or None, insert.files, replaces=insert.replaces)

    def recycle(self, path: str) -> None:
        """Move a file, or all files of a directory, into the change manager. Raises Missing."""
        with self._call():
            self._storage.recycle(path)

    def _settled(self, table: Table, database: Database) -> Table:
        """Return a new table as its event tells it: of the type that the client said."""
        tree = fresh_table(table)
        parameters = {"transient_lastDdlTime": str(self._log.now()), **table.parameters}
        if self.translates_managed and table.kind is TableKind.MANAGED:
            tree["12"] = {"str": "EXTERNAL_TABLE"}
            parameters |= {"EXTERNAL": "TRUE", "TRANSLATED_TO_EXTERNAL": "TRUE", "external.table.purge": "TRUE"}
        self._tables_made += 1
        tree |= self._of_this_metastore(parameters) | {"14": {"tf": 0}, "25": {"i64": self._tables_made}}
        kept = _stored(read_table(tree))
        if kept.has_files and kept.kind is not TableKind.MATERIALIZED_VIEW:
            tree.pop("10", None)  # texts of views
            tree.pop("11", None)
        if kept.has_files and kept.location is None:
            parent = database.location if kept.kind is TableKind.EXTERNAL else self._managed_directory(database)
            put_location(tree, "7", f"{parent}/{default_directory(table.name.table)}")
        return read_table(tree)

    def _altered_table(self, before: Table, table: Table, target: str | None) -> Table:
        """Return an altered table as its event tells it: of the type that the client said."""
        tree = fresh_table(table)
        tree |= self._of_this_metastore({"transient_lastDdlTime": str(self._log.now()), **table.parameters})
        tree["4"] = from_text(before.thrift)["4"]
        if identity := from_text(before.thrift).get("25"):
            tree["25"] = identity
        if location := target or named_locations(read_table(tree))[0] or before.location:
            put_location(tree, "7", location)
        return read_table(tree)

    def _of_this_metastore(self, parameters: Parameters) -> Tree:
        return {
            "9": text_map(parameters),
            "4": {"i32": self._log.now()},
            "17": {"str": "hive"},
            "19": {"i64": 0},
        }

    def _place_of_renamed(self, before: Table, table: Table, database: Database) -> str | None:
        """Return where a rename moves the table's directory, None where it stays."""
        if table.name == before.name or table.location not in (None, before.location):
            return None
        if is_translated(before) and is_translated(table):
            return f"{database.location}/{default_directory(table.name.table)}"
        if not is_managed(before):
            return None
        old = self._managed_directory(self._existing_database(before.name.database))
        if before.location != f"{old}/{default_directory(before.name.table)}":
            return None
        return f"{self._managed_directory(database)}/{default_directory(table.name.table)}"

    def _refuse_moving_between(self, *databases: Database) -> None:
        """Refuse to move a table's directory into or out of a database that is a source of replication."""
        if any(database.parameters.get(SOURCE_FOR) for database in databases):
            raise Refused(f"a table of {databases[0].name} cannot be moved to {databases[1].name}: replication source")

    def _managed_directory(self, database: Database) -> str:
        return database.managed_location or f"{self.managed_warehouse}/{database.name}.db"

    def _check_columns(self, before: Table, after: Table) -> None:
        """Refuse types as Hive does unless `metastore.disallow.incompatible.col.type.changes` is false."""
        pairs = zip(before.columns, after.columns, strict=False)
        refused = [name for (_, old), (name, new) in pairs if not may_become(old, new)]
        if refused and before.has_files and not self.takes_all_types:
            raise Unexplained(
                f"altering table {before.name}",
                found="InvalidOperationException: The following columns have types incompatible with the existing "
                f"columns in their respective positions :\n{','.join(refused)}",
                expected="columns that may become others",
                next_step="see the log of the metastore",
            )

    def _rename_state(self, before: Table, after: Table, *, moves: bool, cascade: bool) -> None:
        """Put the table and what hangs on it under its name as it is now."""
        del self._tables[before.name]
        self._tables[after.name] = after
        self._constraints_follow(before, after)
        for table, partition in [key for key in self._statistics if key[0] == before.name]:
            self._statistics[after.name, partition] = self._statistics.pop((table, partition))
        partitions = self._partitions.pop(before.name)
        self._partitions[after.name] = {
            name: self._following(partition, before, after, moves=moves, cascade=cascade)
            for name, partition in partitions.items()
        }

    def _following(self, partition: Partition, before: Table, after: Table, *, moves: bool, cascade: bool) -> Partition:
        location = partition.location
        if moves and location and is_below(location, str(before.location)):
            location = f"{after.location}/{relative_to(location, str(before.location))}"
        tree: dict[str, Any] = fresh_partition(partition.at(after.name, location))
        own = from_text(partition.thrift)
        tree |= {"4": own["4"], "7": own["7"], "9": own["9"]}
        if cascade and _columns(before) != _columns(after):
            tree["6"]["rec"]["1"] = _columns(after)
        return read_partition(tree)

    def _forget_statistics(self, name: TableName) -> None:
        for key in [key for key in self._statistics if key[0] == name]:
            del self._statistics[key]

    def _empty(self, table: Table, location: str | None) -> None:
        self._storage.remove(location, recycles=self._recycles(table))
        self._storage.make(location)


def _stored(told: Table) -> Table:
    """Return a table as the metastore keeps it (ObjectStore, convertToMTable)."""
    said = from_text(told.thrift)
    stored = as_stored(said)
    return told if stored is said else read_table(stored)


def _check_parameter(before: Table, table: Table, key: str, expected: str) -> None:
    value = before.parameters.get(key)
    if value != expected:
        raise ChangedMeanwhile(f"table {before.name} is not what it was", found=value, expected=expected)
    if key not in table.parameters:
        raise Refused(f"table {before.name}: a table that is compared must carry {key}")


def _columns(table: Table) -> Any:
    return from_text(table.thrift)["7"]["rec"]["1"]


def _heard(database: Database) -> object:
    """Return what of a database makes an event when it changes."""
    return database.owner, database.owner_type, _spoken(database.parameters)


def _spoken(parameters: Parameters) -> dict[str, str]:
    """Return the parameters whose change makes an event."""
    return {
        key: value
        for key, value in parameters.items()
        if key not in _UNSPOKEN and not key.startswith(_UNSPOKEN_BEGINNINGS)
    }


def _told(database: Database) -> str:
    return to_text(from_text(database.thrift) | {"4": text_map(_spoken(database.parameters))})


def _emptied(parameters: Parameters) -> dict[str, str]:
    """Return the parameters of what was truncated: the statistics that are there are zero, and true."""
    counted = {key: "0" for key in _FILE_STATISTICS if key in parameters}
    return {**parameters, **counted, "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
