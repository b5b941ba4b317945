"""IMPORT TABLE: find out which table, which partitions and which place an export becomes, and whether it fits."""

from dataclasses import dataclass, field

from twinhive.core.model.errors import ActNow, Missing
from twinhive.core.model.files import is_below, join, qualified
from twinhive.core.model.marks import LAST_ID, POLICY, followed_policy, is_of_hive
from twinhive.core.model.names import TableName, default_directory
from twinhive.core.model.objects import Database, Table
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.replication.apply.managed_locations import managed_directory
from twinhive.statements.table_exports.export_metadata import (
    DATA,
    Described,
    description_state,
    read_description,
    refuse_kind,
)
from twinhive.statements.table_exports.exported_table import PartitionSpec, wanted_partitions
from twinhive.statements.table_exports.import_compatibility import refuse_unfit
from twinhive.statements.table_exports.import_execution import Importing
from twinhive.statements.table_exports.import_target import ImportTarget


@dataclass(frozen=True)
class ImportTable:
    """Import an export, or its partitions with some values, into a table.

    table      None: it is called as the exported one, in the database `default`
    directory  the export, a full URI
    external   an external table is made; without `location` its files stay where they are, in the export (as Hive does)
    location   a full URI for a new table; None: the default place
    """

    table: TableName | None
    directory: str
    external: bool = False
    spec: PartitionSpec = field(default_factory=dict)
    location: str | None = None

    def look(self, metastore: MetastoreReader, exported: FileReader, root: str) -> Importing:
        """Find out what is imported where; `root` is the cluster's file system. Raises ActNow for what does not fit."""
        described_as = description_state(exported, self.directory)
        described = read_description(exported, self.directory)
        refuse_kind(described.table, "imported")
        partitions = wanted_partitions(described.table, described.partitions, self.spec)
        name = self.table or TableName("default", described.table.name.table)
        _refuse_replica(metastore, name)
        there = metastore.table(name)
        if there is None:
            in_place = self.external and self.location is None
            location = self._place(metastore, name, root, described.table)
        else:
            location = qualified(there.location or "", root).rstrip("/")
            in_place = self.external and self.location is None and location == self._in_export(described.table)
            refuse_unfit(described.table, there, external=self.external, location=self.location)
        if not in_place and (location == self.directory or is_below(location, self.directory)):
            raise ActNow(
                f"{self.directory} cannot be imported into {name}",
                found=f"the table's place, {location}, is in the export",
                expected="a place apart from it",
                next_step="say another LOCATION; IMPORT EXTERNAL TABLE without one leaves the files in the export",
            )
        wanted = Described(described.table, tuple(partitions))
        target = ImportTarget(name, wanted, there, location, in_place=in_place, external=self.external)
        return Importing(self.directory, described_as, self.spec, target)

    def _place(self, metastore: MetastoreReader, name: TableName, root: str, exported: Table) -> str:
        database = self._database(metastore, name)
        if self.location:
            return self.location
        if self.external:
            return self._in_export(exported)
        return join(qualified(managed_directory(metastore, database), root), default_directory(name.table))

    def _in_export(self, table: Table) -> str:
        return self.directory if table.partition_keys else join(self.directory, DATA)

    @staticmethod
    def _database(metastore: MetastoreReader, name: TableName) -> Database:
        database = metastore.database(name.database)
        if database is None:
            raise Missing(
                f"there is no database {name.database} to import into",
                found=f"none at {', '.join(metastore.addresses())}",
                expected="a database that is there",
                next_step=f"CREATE DATABASE {name.database}, or name another: IMPORT TABLE database.table FROM ...",
            )
        return database


def _refuse_replica(metastore: MetastoreReader, name: TableName) -> None:
    """Refuse a database that follows a source: a table of that name may come from there at any moment."""
    database = metastore.database(name.database)
    parameters = database.parameters if database else {}
    policy = followed_policy(parameters)
    if policy is not None:
        raise ActNow(
            f"database {name.database} is the replica of policy {policy}: nothing is imported there",
            found=f"{POLICY}={policy}",
            expected="a database that follows no source",
            next_step="import it at the policy's source, then the next run brings it; or into another database",
        )
    if is_of_hive(parameters):
        raise ActNow(
            f"database {name.database} is a replica that Hive's REPL LOAD has made: nothing is imported there",
            found=f"{LAST_ID}={parameters[LAST_ID]}",
            expected="a database that follows no source",
            next_step="import it at the source, then Hive's next REPL LOAD brings it; or into another database; "
            f"where Hive loads no more into this one, take out the mark: ALTER DATABASE {name.database} "
            f"SET DBPROPERTIES ('{LAST_ID}'='')",
        )
