"""A table of any number of files that is exported and imported, with nothing but these files made up."""

from collections.abc import Callable, Iterable
from pathlib import Path

from tests.support.builders import a_table
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.hdfs.many_files import ManyFiles
from tests.support.hive.fake_metastore import InMemoryMetastore
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Options
from twinhive.statements.execution.table_file_copies import TableFileCopies
from twinhive.statements.table_exports.exporting import Exported, ExportTable
from twinhive.statements.table_exports.import_execution import Imported, ImportTools
from twinhive.statements.table_exports.importing import ImportTable
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.staged_files import CopyItem

EXPORT = "hdfs://west/exports/big"
_BIG = TableName("sales", "big")


class LargeExports:
    """`sales.big` of east has `many` files, whose copies are all staged on west already."""

    def __init__(self, many: int, lists: Path) -> None:
        self.many = many
        self.east, self.west = (ManyFiles(f"hdfs://{name}", many, lists) for name in ("east", "west"))
        self.source = InMemoryMetastore(files=self.east)
        self.replica = InMemoryMetastore(file_system="hdfs://west", log_id="log-west", files=self.west)
        for metastore in (self.source, self.replica):
            metastore.create_database(Database("sales", None, None, {}, thrift="{}"))
        self.source.create_table(a_table(str(_BIG), location="hdfs://east/warehouse/big/data"))
        self.east.make_directories("hdfs://east/warehouse/big/data")
        self.during: Callable[[], None] = lambda: None

    def hold(self, many: int) -> None:
        """Let directories have so many files from now on."""
        self.many = self.east.many = self.west.many = many

    def export(self) -> Exported:
        """Export the table."""
        order = ExportTable(_BIG, EXPORT)
        return order.run(self.source, self.east, self.west, self._copy(self.east), lambda line: None)

    def import_(self) -> Imported:
        """Import what was exported, into a table of the same name of west."""
        found = ImportTable(_BIG, EXPORT, location="hdfs://west/tables/big").look(
            self.replica, self.west, self.west.root
        )
        copy, leases = self._copy(self.west), InMemoryLease()
        return found.run(ImportTools(self.replica, self.west, self.west, leases, {}, copy, lambda line: None))

    def _copy(self, source: ManyFiles) -> Callable[[Iterable[CopyItem], str, str], CopyOutcome]:
        ends = (FileSystemEndpoint(source.root, {}, None), FileSystemEndpoint(self.west.root, {}, None))
        copies = TableFileCopies(source, self.west, ends, Options(), None, lambda line: self.during())
        return copies.copy
