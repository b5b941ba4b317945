"""Export tables of a source in memory and import them on the other cluster, with kills."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import Killable, World, a_world
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.statements.table_exports.exporting import Exported, ExportTable
from twinhive.statements.table_exports.import_execution import Imported, Importing, ImportTools
from twinhive.statements.table_exports.importing import ImportTable
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.staged_files import CopyItem

EXPORTS = "hdfs://west/exports"
Rows = dict[str, bytes]
"""Contents of files by their paths below a table, or an export."""


class ExportedTables:
    """Two clusters; east has the database `sales` with awkward tables, west the empty database `d`."""

    def __init__(self) -> None:
        self.world: World = a_world()
        self.world.replica.create_database(Database("d", None, None, {}, thrift="{}"))
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.imported = SourceWriter(self.world.replica, self.world.replica_files, "d")
        self.said: list[str] = []

    def export(
        self, table: str, switch: Any = None, before_copy: Callable[[], None] = lambda: None, **how: Any
    ) -> Exported:
        """Export a table of `sales` to a directory of its name."""
        source, target = self.world.source_files, self._files(switch)

        def copy(items: Iterable[CopyItem], staging: str, label: str) -> CopyOutcome:
            before_copy()
            return copy_items(items, source, target, staging, 2)

        order = ExportTable(TableName("sales", table), f"{EXPORTS}/{table}", **how)
        return order.run(self.world.source, source, target, copy, self.said.append)

    def import_(self, exported: str, table: str, switch: Any = None, **how: Any) -> Imported:
        """Import an export of that name into a table of `d`."""
        return self.looked(exported, table, **how).run(self.tools(switch))

    def looked(self, exported: str, table: str, **how: Any) -> Importing:
        """Look at an import, without running it."""
        order = ImportTable(TableName("d", table), f"{EXPORTS}/{exported}", **how)
        return order.look(self.world.replica, self.world.replica_files, "hdfs://west")

    def tools(self, switch: Any = None) -> ImportTools:
        """Return what an import runs with; changes go through the switch."""
        files, replica = self.world.replica_files, self.world.replica
        writer: Any = replica if switch is None else Killable(replica, switch)
        target = self._files(switch)

        def copy(items: Iterable[CopyItem], staging: str, label: str) -> CopyOutcome:
            return copy_items(items, files, target, staging, 2)

        return ImportTools(writer, files, target, self.world.lease, {"run": "test"}, copy, self.said.append)

    def exported_rows(self, table: str) -> Rows | None:
        """Return what is in an export, None where nothing is."""
        place = f"{EXPORTS}/{table}"
        return None if self.world.replica_files.status(place) is None else _rows(self.world.replica_files, place)

    def rows(self, metastore: Any, files: Any, name: TableName) -> Mapping[str, Rows]:
        """Return the rows of a table by partitions, '' for a table without."""
        table = metastore.table(name)
        if not table.partition_keys:
            return {"": _rows(files, table.location)}
        found = metastore.partitions(name, metastore.partition_names(name))
        return {one.name(table.partition_keys): _rows(files, one.location) for one in found}

    def of_source(self, table: str) -> Mapping[str, Rows]:
        """Return the rows of a table of `sales`."""
        return self.rows(self.world.source, self.world.source_files, TableName("sales", table))

    def of_import(self, table: str) -> Mapping[str, Rows] | None:
        """Return the rows of a table of `d`, None where there is none."""
        name = TableName("d", table)
        there = self.world.replica.table(name) is not None
        return self.rows(self.world.replica, self.world.replica_files, name) if there else None

    def events_of_import(self, table: str) -> list[str]:
        """Return the types of the events that west's log has of a table of `d`."""
        return [row.event_type for row in self.world.replica.events_after(0, 10**6) if row.table == table]

    def left_over(self) -> list[str]:
        """Return what work in the making has left on west."""
        return [path for path in self.world.replica_files._nodes if "/.twinhive-" in path]

    def _files(self, switch: Any) -> Any:
        files = self.world.replica_files
        return files if switch is None else Killable(files, switch)


def _rows(files: Any, place: str) -> Rows:
    paths = (path for path in files.paths() if path.startswith(f"{place}/"))
    found = {path.removeprefix(f"{place}/"): files.read(path) for path in paths}
    return {path: content for path, content in found.items() if not any(part[:1] in "_." for part in path.split("/"))}
