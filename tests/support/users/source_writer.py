"""Do to a source what its users do: make, change and drop things, each with the events that Hive writes."""

import itertools
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, Self

from tests.support.hive import metastore_objects as objects
from twinhive.core.model.constraints import Constraint
from twinhive.core.model.files import ChecksumForm, base_name, is_hidden, join
from twinhive.core.model.marks import SOURCE_FOR
from twinhive.core.model.names import TableName, default_directory, partition_name
from twinhive.core.model.objects import DDL_TIME, Database, Partition, Table
from twinhive.core.model.tjson import from_text, to_text
from twinhive.core.ports import FileWriter, MetastoreWriter

Values = tuple[str, ...]
Contents = Mapping[str, bytes] | Sequence[bytes]
"""Files by name; contents without names get names that no other file has, as Hive's and Spark's have."""


class SourceMetastore(MetastoreWriter, Protocol):
    """What users of a source call beside what replication calls (`InMemoryMetastore`, `ThriftSource`)."""

    def drop_database(self, name: str) -> None: ...

    def truncate_table(self, name: TableName, partition_names: Sequence[str] | None = None) -> None: ...

    def alter_partition(self, partition: Partition) -> None: ...

    def exchange_partitions(
        self, specification: Mapping[str, str], source: TableName, destination: TableName
    ) -> None: ...

    def fire_insert(
        self,
        name: TableName,
        values: Sequence[str] | None,
        files: Sequence[tuple[str, str | None]],
        *,
        replaces: bool = False,
    ) -> None: ...

    def recycle(self, path: str) -> None: ...

    def constraints(self, table: TableName) -> tuple[Constraint, ...]: ...

    def column_statistics(self, table: TableName, partition: str | None = None) -> set[str]: ...


class SourceWriter:
    """Be the users of one database. Tables are named without it; partitions by their values.

    Managed tables are made in their default place. The database carries `repl.source.for`, so that
    the change manager keeps what is dropped, truncated and overwritten.
    """

    def __init__(self, metastore: SourceMetastore, files: FileWriter, database: str) -> None:
        self.metastore = metastore
        self.files = files
        self.database = database
        self._serial = itertools.count()
        self._unique = uuid.uuid4().hex[:8]

    @classmethod
    def with_database(
        cls, metastore: SourceMetastore, files: FileWriter, database: str, parameters: Mapping[str, str] | None = None
    ) -> Self:
        """Create the database, and return its writer."""
        given = {SOURCE_FOR: "source_writer", **(parameters or {})}
        metastore.create_database(Database(database, None, None, given, "{}"))
        return cls(metastore, files, database)

    def name(self, table: str) -> TableName:
        """Return a table's whole name."""
        return TableName(self.database, table)

    def table(self, table: str) -> Table:
        """Return a table as the metastore keeps it."""
        found = self.metastore.table(self.name(table))
        assert found is not None, f"{self.name(table)} does not exist"
        return found

    def partition(self, table: str, values: Sequence[str]) -> Partition:
        """Return a partition as the metastore keeps it."""
        return self._partitions(table, [tuple(values)])[0]

    def create_table(
        self,
        table: str,
        keys: Sequence[str] = (),
        files: Contents = (),
        parameters: Mapping[str, str] | None = None,
        location: str | None = None,
    ) -> Table:
        """Create a managed table, as a query's result when there are files."""
        location = location or self.default_location(table)
        self._put(location, files)
        made = objects.a_table(self.database, table, tuple(keys), location=location, parameters=parameters or {})
        self.metastore.create_table(made)
        return self.table(table)

    def create_view(self, view: str, keys: Sequence[str] = ()) -> Table:
        """Create a view, a partitioned one when it has keys."""
        self.metastore.create_table(objects.a_view(self.database, view, tuple(keys)))
        return self.table(view)

    def drop_table(self, table: str) -> None:
        """Drop a table or view with its files."""
        self.metastore.drop_table(self.name(table), delete_data=True)

    def rename_table(self, old: str, new: str, database: str | None = None) -> None:
        """Rename a table, also into another database; Hive moves the directory of one in its default place."""
        found = self.table(old)
        self._alter(found, replace(found, name=TableName(database or self.database, new)))

    def set_parameters(self, table: str, parameters: Mapping[str, str]) -> None:
        """Set some parameters of a table."""
        found = self.table(table)
        self._alter(found, found.with_parameters({**found.parameters, **parameters}))

    def set_location(self, table: str, location: str) -> None:
        """Let a table name another directory; what is there becomes its content."""
        found = self.table(table)
        self._alter(found, found.at(found.name, location))

    def set_partition_location(self, table: str, values: Values, location: str, *, says_before: bool = True) -> None:
        """Let a partition name another directory; the event of the newer call does not say what was before."""
        moved = self.partition(table, values)
        moved = moved.at(moved.table, location)
        if says_before:
            self.metastore.alter_partition(moved)
        else:
            self.metastore.alter_partitions([moved])

    def set_owner(self, table: str, owner: str) -> None:
        """Give a table another owner, which only its Thrift struct says."""
        found = self.table(table)
        tree = from_text(found.thrift) | {"3": {"str": owner}}
        self._alter(found, replace(found, thrift=to_text(tree)))

    def add_columns(self, table: str, columns: Sequence[tuple[str, str]], *, cascade: bool = False) -> None:
        """Add columns (name, type) to a table, with `cascade` to all its partitions too."""
        found = self.table(table)
        self._alter(found, replace(found, columns=(*found.columns, *columns)), cascade=cascade)

    def change_type(self, table: str, kind: str) -> None:
        """Give the first column another type."""
        found = self.table(table)
        (name, _), *others = found.columns
        self._alter(found, replace(found, columns=((name, kind), *others)))

    def set_columns(self, table: str, columns: Sequence[tuple[str, str]], *, cascade: bool = False) -> None:
        """Give a table these columns instead of its own, as REPLACE COLUMNS does."""
        found = self.table(table)
        self._alter(found, replace(found, columns=tuple(columns)), cascade=cascade)

    def add_partitions(self, table: str, partitions: Mapping[Values, Contents]) -> None:
        """Add partitions in their default places, by one call, their files already there."""
        found = self.table(table)
        made = []
        for values, files in partitions.items():
            location = None
            if found.location is not None:  # a view's partitions are names alone
                location = f"{found.location}/{partition_name(found.partition_keys, values)}"
                self._put(location, files)
            made.append(objects.a_partition(found, *values, location=location))
        self.metastore.add_partitions(made)

    def add_at(self, table: str, values: Values, location: str) -> None:
        """Add a partition in a place of its own, with the files that are there."""
        found = self.table(table)
        self.metastore.add_partitions([objects.a_partition(found, *values, location=location)])

    def drop_partitions(self, table: str, partitions: Sequence[Values]) -> None:
        """Drop partitions with their files, by one call."""
        self.metastore.drop_partitions(self.name(table), self._names(table, partitions), delete_data=True)

    def rename_partition(self, table: str, old: Values, new: Values) -> None:
        """Give a partition other values; Hive moves its directory."""
        self.metastore.rename_partition(old, replace(self.partition(table, old), values=new))

    def alter_partition(self, table: str, values: Values, parameters: Mapping[str, str]) -> None:
        """Set some parameters of one partition: an event with what was before."""
        found = self.partition(table, values)
        self.metastore.alter_partition(found.with_parameters({**found.parameters, **parameters}))

    def alter_partitions(self, table: str, partitions: Sequence[Values], parameters: Mapping[str, str]) -> None:
        """Set some parameters of partitions, by one call: an event without what was before."""
        self.metastore.alter_partitions(
            [each.with_parameters({**each.parameters, **parameters}) for each in self._partitions(table, partitions)]
        )

    def insert(self, table: str, values: Values | None, files: Contents) -> None:
        """Add files to a table or to one of its partitions: INSERT, and the change of its statistics."""
        self._write(table, values, files, replaces=False)

    def overwrite(self, table: str, values: Values | None, files: Contents) -> None:
        """Put files in the place of all others, which the change manager keeps."""
        location = self.location(table, values)
        ((_, children),) = self.files.list_directories([location])
        old = [child.path for child in children or () if not is_hidden(base_name(child.path))]
        for path in old:
            self.metastore.recycle(path)
            # What the change manager has already is left to the writer to delete.
            self.files.delete(path)
        self._write(table, values, files, replaces=True)

    def truncate(self, table: str, partitions: Sequence[Values] | None = None) -> None:
        """Remove all files of a table, or of some of its partitions."""
        self.metastore.truncate_table(self.name(table), None if partitions is None else self._names(table, partitions))

    def exchange_partition(self, source: str, destination: str, values: Values) -> None:
        """Move a partition into another table of the same keys."""
        keys = self.table(source).partition_keys
        self.metastore.exchange_partitions(
            dict(zip(keys, values, strict=True)), self.name(source), self.name(destination)
        )

    def alter_database_parameters(self, parameters: Mapping[str, str]) -> None:
        """Set some parameters of the database."""
        found = self.metastore.database(self.database)
        assert found is not None
        self.metastore.set_database_parameters(self.database, {**found.parameters, **parameters})

    def create_function(self, function: str, resources: Sequence[str] = ()) -> None:
        """Create a permanent function from jars."""
        self.metastore.create_function(objects.a_function(self.database, function, *resources))

    def drop_function(self, function: str) -> None:
        """Drop a permanent function."""
        self.metastore.drop_function(self.database, function)

    def add_constraint(self, table: str, kind: str, constraint: str, parent: str | None = None) -> None:
        """Add a constraint to the first column; a foreign key refers to `parent`, whose primary key is `pk`."""
        made = objects.a_constraint(self.table(table), kind, constraint, self.table(parent) if parent else None)
        self.metastore.add_constraints(self.name(table), kind, [made])

    def drop_constraint(self, table: str, constraint: str) -> None:
        """Drop a constraint."""
        self.metastore.drop_constraint(self.name(table), constraint)

    def update_statistics(self, table: str, values: Values | None = None) -> None:
        """Compute the statistics of the first column of a table or partition."""
        found = self.table(table)
        partition = None if values is None else partition_name(found.partition_keys, values)
        statistics = objects.statistics_of(found, found.columns[0][0], partition)
        self.metastore.set_statistics(found.name, statistics)

    def delete_statistics(self, table: str, values: Values | None = None, column: str | None = None) -> None:
        """Delete the statistics of one column (None: all) of a table or partition."""
        partition = None if values is None else self._names(table, [values])[0]
        self.metastore.delete_statistics(self.name(table), partition, column)

    def location(self, table: str, values: Values | None = None) -> str:
        """Return where the files of a table or partition are."""
        owner: Table | Partition = self.table(table) if values is None else self.partition(table, values)
        assert owner.location is not None
        return owner.location

    def default_location(self, table: str) -> str:
        """Return where Hive puts a managed table."""
        return f"{self.files.root}/warehouse/managed/{self.database}.db/{default_directory(table)}"

    def _alter(self, found: Table, after: Table, *, cascade: bool = False) -> None:
        """Alter a table as Hive and Spark do: without the time of its last DDL, which the metastore sets anew."""
        said = {key: value for key, value in after.parameters.items() if key != DDL_TIME}
        self.metastore.alter_table(found.name, after.with_parameters(said), cascade=cascade)

    def _write(self, table: str, values: Values | None, files: Contents, *, replaces: bool) -> None:
        paths = self._put(self.location(table, values), files)
        checksummed = [(path, self.files.checksum(path, ChecksumForm.IDENTITY)) for path in paths]
        self.metastore.fire_insert(self.name(table), values, checksummed, replaces=replaces)
        self._count(table, values)

    def _count(self, table: str, values: Values | None) -> None:
        """Write the statistics that Hive writes after each query."""
        lengths = self._files_in(self.location(table, values))
        counted = {"numFiles": str(len(lengths)), "totalSize": str(sum(lengths)), "numFilesErasureCoded": "0"}
        counted |= {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}  # those of columns are not true any more
        if values is None:
            self.set_parameters(table, counted)
        else:
            self.alter_partitions(table, [values], counted)

    def _files_in(self, location: str) -> list[int]:
        """Return the lengths of the files in a directory."""
        ((_, found),) = self.files.list_directories([location])
        return [
            status.length for status in found or () if not status.is_directory and not is_hidden(base_name(status.path))
        ]

    def _put(self, location: str, files: Contents) -> list[str]:
        named = files if isinstance(files, Mapping) else {self._file_name(): content for content in files}
        for name, content in named.items():
            self.files.write(join(location, name), content)
        return [join(location, name) for name in named]

    def _file_name(self) -> str:
        return f"{next(self._serial):06d}_0-{self._unique}"

    def _names(self, table: str, partitions: Sequence[Values]) -> list[str]:
        keys = self.table(table).partition_keys
        return [partition_name(keys, values) for values in partitions]

    def _partitions(self, table: str, partitions: Sequence[Values]) -> list[Partition]:
        found = self.metastore.partitions(self.name(table), self._names(table, partitions))
        assert len(found) == len(set(partitions)), f"{self.name(table)} has {len(found)} of {partitions}"
        return found
