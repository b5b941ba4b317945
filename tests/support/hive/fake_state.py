"""Hold what a metastore in memory knows, under one lock."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.support.hdfs.fake_storage import Storage
from tests.support.hive.fake_log import NotificationLog
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.constraints import Constraint
from twinhive.core.model.errors import Missing, Unreachable
from twinhive.core.model.log_access import Caller, not_allowed
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, Table, TableKind
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.tjson import Tree
from twinhive.core.ports import FileWriter


class MetastoreState:
    """Be the base of what reads and changes the state.

    `down` makes every call fail, `guards_log` those that read the log. It was told that we are `user`.
    """

    def __init__(
        self,
        *,
        file_system: str = "hdfs://east",
        log_id: str = "log-east",
        addresses: Sequence[str] = ("east-metastore:9083",),
        files: FileWriter | None = None,
    ) -> None:
        self.file_system = file_system
        self.cluster = file_system.removeprefix("hdfs://")
        self.managed_warehouse = f"{file_system}/warehouse/managed"
        self.external_warehouse = f"{file_system}/warehouse/external"
        self.configurations: dict[str, dict[str, str]] = {address: {} for address in addresses}
        self.down = False
        self.guards_log = False
        self.user: str | None = "hive"
        self._log_id = log_id
        self._log = NotificationLog()
        self._storage = Storage(files)
        self.connectors: dict[str, DataConnector] = {}
        """By their names in lower case."""
        self._databases: dict[str, Database] = {}
        self._tables: dict[TableName, Table] = {}
        self._partitions: dict[TableName, dict[str, Partition]] = {}
        self._functions: dict[tuple[str, str], Function] = {}
        self._constraints: dict[TableName, dict[str, Constraint]] = {}
        self._statistics: dict[tuple[TableName, str | None], set[str]] = {}
        self._lock = threading.RLock()

    @property
    def events(self) -> list[EventRow]:
        """Return the rows of the log."""
        return self._log.rows

    def emit(self, event_type: str, database: str | None, table: str | None, message: Mapping[str, Any]) -> EventRow:
        """Append a row to the log, also of a kind that no call of this class makes."""
        return self._log.emit(event_type, database, table, message)

    def pass_time(self, seconds: int) -> None:
        """Let some time pass in which nothing happens."""
        self._log.passed += seconds

    def expire_events(self, up_to: int) -> None:
        """Delete the rows up to an id, as the log's cleaner does; ids go on where they were."""
        self._log.expire(up_to)

    @contextmanager
    def _call(self) -> Iterator[None]:
        if self.down:
            raise Unreachable(f"no metastore answered at {', '.join(self.configurations)}")
        with self._lock:
            yield

    @contextmanager
    def _read_log(self, address: str | None = None) -> Iterator[None]:
        with self._call():
            if self.guards_log:
                chosen = address or next(iter(self.configurations))
                raise not_allowed(chosen, self.cluster, Caller(self.user), "Internal error")
            yield

    def _existing_database(self, name: str) -> Database:
        database = self._databases.get(name.lower())
        if database is None:
            raise Missing(f"database {name} does not exist")
        return database

    def _existing(self, name: TableName) -> Table:
        table = self._tables.get(name)
        if table is None:
            raise Missing(f"table {name} does not exist")
        return table

    def _recycles(self, table: Table) -> bool:
        """True when the change manager keeps what is removed from a table."""
        marked = bool(self._existing_database(table.name.database).parameters.get(SOURCE_FOR))
        return marked and is_managed(table)

    def _emit_on(self, table: Table, event_type: str, message: Mapping[str, Any]) -> None:
        self.emit(event_type, table.name.database, table.name.table, message)


def is_managed(table: Table) -> bool:
    """True for a table whose files belong to the metastore."""
    return table.kind in (TableKind.MANAGED, TableKind.TRANSACTIONAL)


def owns_files(table: Table) -> bool:
    """True for a table whose files go when it is dropped."""
    return is_managed(table) or table.purges


def is_translated(table: Table) -> bool:
    """True for an external table that the metastore itself made of a managed one (Hive 4)."""
    return table.is_external and table.parameters.get("TRANSLATED_TO_EXTERNAL", "").upper() == "TRUE"


def text_map(mapping: Mapping[str, str]) -> dict[str, Any]:
    """Return a map of strings as TJSON has it."""
    return {"map": ["str", "str", len(mapping), dict(mapping)]}


def put_location(tree: Tree, sd_id: str, location: str) -> None:
    """Set the location in a tree's storage descriptor."""
    tree[sd_id] = {"rec": {**tree.get(sd_id, {}).get("rec", {}), "2": {"str": location}}}
