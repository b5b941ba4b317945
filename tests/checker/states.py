"""Take a database's state: all that both clusters must have equal, as values that can be compared.

Left out: locations (the replica has places of its own), names that Hive's readers skip, external
tables, replication marks, and what a metastore writes by itself (times, ids). The claim that statistics of columns are
accurate is kept apart: a replica may claim less.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hive.metastore_objects import constraints_in_words
from twinhive.core.model.files import ChecksumForm, is_hidden
from twinhive.core.model.objects import Parameters, Partition, Table, TableKind
from twinhive.core.model.sets.set_mark import SETS_TABLE, SetMark, sets_table
from twinhive.core.model.thrift_objects import read_partition, read_table
from twinhive.core.model.tjson import from_text
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.replication.comparison import canonical_form
from twinhive.replication.comparison.canonical_form import (
    Plain,
    canonical_partition,
    canonical_table,
    canonical_text,
    statistics,
)
from twinhive.transfer.staged.listing import list_files

Values = tuple[str, ...]
Pairs = tuple[tuple[str, Any], ...]
Files = frozenset[tuple[str, str]]
"""Pairs of the path below the object's directory and the content's checksum."""
NO_FILES: Files = frozenset()

COUNTED = {"numFiles", "totalSize", "numRows", "rawDataSize"}
# What is looked at field by field.
_OF_TABLES = {"tableName", "partitionKeys", "parameters", "tableType"}
_OF_PARTITIONS = {"values", "parameters"}


@dataclass(frozen=True)
class PartitionState:
    """One partition. `columns` are (name, type); `rest` is what else its storage says.

    `claims` are the columns whose statistics the metastore takes for accurate: Hive answers queries from them.
    """

    parameters: Pairs
    columns: Pairs
    rest: str
    files: Files = NO_FILES
    claims: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TableState:
    """One table or view with its partitions by values; `files` are those of an unpartitioned one."""

    kind: str
    keys: Values
    columns: Pairs
    parameters: Pairs
    rest: str
    constraints: tuple[str, ...] = ()
    partitions: tuple[tuple[Values, PartitionState], ...] = ()
    files: Files = NO_FILES
    claims: frozenset[str] = frozenset()

    def with_partitions(self, partitions: Mapping[Values, PartitionState]) -> "TableState":
        """Return the table with these partitions."""
        return replace(self, partitions=tuple(sorted(partitions.items())))


@dataclass(frozen=True)
class ShownSet:
    """A set that is marked, of a table as it is now; `token` says which of its marks it is."""

    table: str
    spec: str
    token: str | None


@dataclass(frozen=True)
class DatabaseState:
    """A whole database: its spoken parameters, functions by name, tables by name.

    `sets` are judged by a rule of their own (`set_judge.py`).
    """

    parameters: Pairs = ()
    functions: Pairs = ()
    tables: tuple[tuple[str, TableState], ...] = ()
    sets: frozenset[ShownSet] = field(default=frozenset(), compare=False)

    def with_tables(self, tables: Mapping[str, TableState]) -> "DatabaseState":
        """Return the database with these tables."""
        return replace(self, tables=tuple(sorted(tables.items())))


class Contents(Protocol):
    """Tell what is in directories."""

    def below(self, directories: Iterable[str]) -> dict[str, Files]:
        """Return the files below each directory."""
        ...


@dataclass(frozen=True)
class ListedContents:
    """List and ask for checksums; a file that was seen is not asked for its checksum again."""

    files: FileReader
    _known: dict[tuple[str, int, int, int], str] = field(default_factory=dict)

    def below(self, directories: Iterable[str]) -> dict[str, Files]:
        """Return the files below each directory. Raises Missing when one vanishes meanwhile."""
        found: dict[str, set[tuple[str, str]]] = {directory: set() for directory in directories}
        for directory, relative, status in list_files(self.files, [(each, each) for each in found]):
            # By inode: a renamed file is the same one.
            key = ("", status.file_id, status.modified_ms, status.length)
            if key not in self._known:
                self._known[key] = str(self.files.checksum(status.path, ChecksumForm.COMPARISON))
            found[directory].add((relative, self._known[key]))
        return {directory: frozenset(some) for directory, some in found.items()}


@dataclass(frozen=True)
class ContentsInMemory:
    """Look at all files of a fake file system at once: listing it directory by directory takes too long."""

    files: InMemoryFiles

    def below(self, directories: Iterable[str]) -> dict[str, Files]:
        """Return the files below each directory."""
        found: dict[str, set[tuple[str, str]]] = {directory: set() for directory in directories}
        for path, node in self.files._nodes.items():
            if node.status.is_directory:
                continue
            end = path.rfind("/")
            while end > 0:
                directory = path[:end]
                if directory in found:
                    relative = path[end + 1 :]
                    if not any(map(is_hidden, relative.split("/"))):
                        found[directory].add((relative, f"{zlib.crc32(node.content):08x}"))
                end = path.rfind("/", 0, end)
        return {directory: frozenset(some) for directory, some in found.items()}


def contents_of(files: FileReader) -> Contents:
    """Return the fastest way to look at a file system."""
    return ContentsInMemory(files) if isinstance(files, InMemoryFiles) else ListedContents(files)


class Viewer:
    """Look at one database of one cluster."""

    def __init__(
        self, metastore: MetastoreReader, files: FileReader, database: str, *, reads_sets: bool = False
    ) -> None:
        self._metastore = metastore
        self._reads_sets = reads_sets
        self._contents = contents_of(files)
        self._database = database
        self.places: dict[str, str] = {}
        """The directories of what `tables` has read last, with the tables that they belong to."""

    def parameters(self) -> Parameters | None:
        """Return the database's parameters with all marks, None when there is no database."""
        found = self._metastore.database(self._database)
        return None if found is None else found.parameters

    def state(self, only: Iterable[str] | None = None) -> DatabaseState:
        """Return the state of the database, with `only` some of its tables.

        All of it is of one moment only for one who keeps everybody else from writing.
        """
        parameters = self.parameters() or {}
        functions = {function.name: function.class_name for function in self._metastore.functions(self._database)}
        names = self._metastore.table_names(self._database) if only is None else only
        database = DatabaseState(_pairs(spoken(parameters)), _pairs(functions), sets=self._sets())
        return database.with_tables(self.tables(names))

    def tables(self, names: Iterable[str]) -> dict[str, TableState]:
        """Return the states of those of the named tables that exist and are replicated."""
        found = self._metastore.tables(self._database, [name for name in names if name != SETS_TABLE])
        tables = [table for table in found if table.kind in (TableKind.MANAGED, TableKind.VIEW)]
        partitions = {table.name: self._partitions(table) for table in tables if table.partition_keys}
        self.places = {
            place: table.name.table for table in tables for place in _places(table, partitions.get(table.name, []))
        }
        below = self._contents.below(self.places)
        return {
            table.name.table: _table_state(table, self._constraints(table), below).with_partitions(
                {each.values: _partition_state(each, below) for each in partitions.get(table.name, [])}
            )
            for table in tables
        }

    def stamps(self) -> Pairs:
        """Return the marks of everything, and the places: equal before and after means that nothing happened."""
        marks: dict[str, Any] = {"": _pairs(self.parameters() or {})}
        names = self._metastore.table_names(self._database)
        for table in self._metastore.tables(self._database, names):
            marks[table.name.table] = (table.location, _pairs(table.parameters), self._constraints(table))
            for one in self._partitions(table) if table.partition_keys else ():
                marks[f"{table.name.table}/{one.values}"] = (one.location, _pairs(one.parameters))
        return _pairs(marks)

    def _sets(self) -> frozenset[ShownSet]:
        """Return the sets that those who ask for them find."""
        name = sets_table(self._database)
        if not self._reads_sets or self._metastore.table(name) is None:
            return frozenset()
        marks = [SetMark.read(one) for one in self._metastore.partitions(name, self._metastore.partition_names(name))]
        tables = self._metastore.tables(self._database, sorted({mark.table.table for mark in marks}))
        there = {table.name: table for table in tables}
        return frozenset(
            ShownSet(mark.table.table, mark.spec, mark.token)
            for mark in marks
            if mark.table in there and mark.is_of(there[mark.table])
        )

    def _constraints(self, table: Table) -> tuple[str, ...]:
        return tuple(constraints_in_words(self._metastore, table.name)) if table.has_files else ()

    def _partitions(self, table: Table) -> list[Partition]:
        return self._metastore.partitions(table.name, self._metastore.partition_names(table.name))


def state_of(metastore: MetastoreReader, files: FileReader, database: str) -> DatabaseState:
    """Return the state of a database."""
    return Viewer(metastore, files, database).state()


def spoken(parameters: Parameters) -> dict[str, str]:
    """Return the parameters that users have set, and what the metastore has counted unless it is nothing.

    A directory that is there and empty counts as nothing, one that is not there does not count.
    """
    counted = {key: value for key, value in statistics(parameters).items() if key in COUNTED and value != "0"}
    return {**canonical_form.spoken(parameters), **counted}


def _places(table: Table, partitions: list[Partition]) -> list[str]:
    holders: list[Table | Partition] = list(partitions) if table.partition_keys else [table]
    return [holder.location for holder in holders if holder.location]


def _table_state(table: Table, constraints: tuple[str, ...], below: Mapping[str, Files]) -> TableState:
    return TableState(
        kind=table.table_type,
        keys=table.partition_keys,
        columns=tuple(table.columns),
        parameters=_pairs(spoken(table.parameters)),
        rest=_rest_of_table(table.thrift),
        constraints=constraints,
        files=below.get(table.location or "", NO_FILES) if not table.partition_keys else NO_FILES,
        claims=_claims(table.parameters),
    )


def _partition_state(partition: Partition, below: Mapping[str, Files]) -> PartitionState:
    columns, rest = _rest_of_partition(partition.thrift)
    files = below.get(partition.location or "", NO_FILES)
    claims = _claims(partition.parameters)
    return PartitionState(_pairs(spoken(partition.parameters)), columns, rest, files, claims)


def _claims(parameters: Parameters) -> frozenset[str]:
    said = json.loads(parameters.get("COLUMN_STATS_ACCURATE", "{}"))
    return frozenset(said.get("COLUMN_STATS", {}))


@lru_cache(2_000)
def _rest_of_table(thrift: str) -> str:
    form = canonical_table(read_table(from_text(thrift), thrift))
    return _text(_without(form, _OF_TABLES))


@lru_cache(2_000)
def _rest_of_partition(thrift: str) -> tuple[Pairs, str]:
    form = canonical_partition(read_partition(from_text(thrift), thrift))
    named = tuple((each["name"], each.get("type", "")) for each in form.get("sd", {}).get("cols", ()))
    return named, _text(_without(form, _OF_PARTITIONS))


def _without(form: Plain, fields: set[str]) -> Plain:
    left = {name: value for name, value in form.items() if name not in fields}
    return left | {"sd": {name: value for name, value in form.get("sd", {}).items() if name != "cols"}}


def _text(form: Plain) -> str:
    return canonical_text(form).decode("utf-8", "surrogatepass")


def _pairs(mapping: Mapping[str, Any]) -> Pairs:
    return tuple(sorted(mapping.items()))
