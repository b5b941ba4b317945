"""Write whole tables with their lists of files, and functions, into Hive's layout."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from twinhive.core.model.batches import Batch, slices_of_each_table
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.constraints import foreign_keys, without_foreign_keys
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Function, Table
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.threads.parallel_map import Threads
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.shards import TableRecord, unpack_lines
from twinhive.statements.interop.hive_dump.constraint_descriptions import encode_constraints
from twinhive.statements.interop.hive_dump.file_lines import encode_entry, encode_files
from twinhive.statements.interop.hive_dump.hive_dump_errors import unsayable
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_format_limits import check_file, check_table_name, check_values
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces
from twinhive.statements.interop.hive_dump.hive_structs import partition_text, table_text
from twinhive.statements.interop.hive_dump.object_descriptions import (
    METADATA,
    OF_A_BOOTSTRAP,
    WHOLE,
    Spec,
    encode_table,
)
from twinhive.transfer.staged.staged_files import CopyItem

_THREADS = 8
_AT_ONCE = 64

WrittenFiles = Iterator[tuple[str, bytes]]


@dataclass(frozen=True)
class TableWriting:
    """Say the tables of some batches of a dump; a batch is held in memory at a time, and tables that go on in others.

    Hive's description of a table holds all of its partitions: of one with very many it is as large as they are.
    """

    dump_files: FileReader
    dump: Dump
    places: HivePlaces
    cmroot: str

    def check(self, batches: Iterable[Batch]) -> None:
        """Raise ActNow for what Hive's layout cannot say."""
        for batch in batches:
            for record in self.dump.objects(self.dump_files, batch.name):
                check_table_name("a table", record.table.name.table)
                for partition in record.partitions:
                    check_values(record.table.name, partition.values)
            for item in self._items(batch):
                _check_item(item)

    def content(self, batches: Collection[Batch]) -> WrittenFiles:
        """Yield the files of Hive's layout, path and content."""
        left = slices_of_each_table(batches)
        begun: dict[TableName, list[TableRecord]] = defaultdict(list)
        for batch in batches:
            records = self.dump.objects(self.dump_files, batch.name)
            yield from self._lists(batch, records)
            for record in records:
                name = record.table.name
                begun[name].append(record)
                left[name] -= 1
                if not left[name]:
                    whole = _joined(begun.pop(name))
                    yield self.table(whole)
                    yield from self._constraints(whole.table)

    def table(self, record: TableRecord) -> tuple[str, bytes]:
        """Return the description of a whole table or view; Hive's loader has no place for partitions of a view."""
        name, end = record.table.name, self.dump.manifest.end.event_id
        spec = Spec(WHOLE if record.table.has_files else METADATA, OF_A_BOOTSTRAP, end)
        sayable = record.partitions if record.table.has_files else ()
        partitions = (partition_text(partition, end) for partition in sayable)
        return self.places.table(name.database, name.table), encode_table(
            spec, table_text(record.table, end), partitions
        )

    def _constraints(self, table: Table) -> WrittenFiles:
        name, constraints = table.name, table.constraints or ()
        if own := without_foreign_keys(constraints):
            yield self.places.constraints_of(name.database, name.table), encode_constraints(own)
        if foreign := foreign_keys(constraints):
            yield self.places.foreign_keys_of(name.database, name.table), encode_constraints(foreign)

    def _lists(self, batch: Batch, records: list[TableRecord]) -> WrittenFiles:
        """Yield a list for each table and partition that has rows of its own, also an empty one."""
        files: dict[tuple[str, str | None], list[SourceFile]] = defaultdict(list)
        for item in self._items(batch):
            files[item.table, item.partition].append(item.file)
        for record in records:
            name = record.table.name
            for partition in _owners(record):
                content = encode_files(files[str(name), partition], self.cmroot)
                yield self.places.files(name.database, name.table, partition), content

    def _items(self, batch: Batch) -> Iterator[CopyItem]:
        lines = unpack_lines(self.dump_files.read(self.dump.layout.files(batch.name)))
        return (CopyItem.from_line(line) for line in lines)


def write_all(files: FileWriter, content: Iterable[tuple[str, bytes]]) -> None:
    """Write files, several at a time; only those are held in memory."""
    waiting = iter(content)
    with Threads(_THREADS) as threads:
        while some := list(islice(waiting, _AT_ONCE)):
            threads.each(lambda one: files.write(*one), some)


@dataclass
class FunctionEntries:
    """The files of functions as entries with checksums; `left_out` are the functions that have none, and why."""

    source_files: FileReader
    terms: Terms
    left_out: dict[str, str] = field(default_factory=dict)

    def of(self, function: Function) -> tuple[str, ...] | None:
        """Return the entries, None for a function that is left out. Raises Missing, ActNow."""
        places = self.terms.function_files(function)
        if isinstance(places, str):
            self.left_out[f"{function.database}.{function.name}"] = places
            return None
        return tuple(self._entry(function, uri, places.get(uri, uri)) for uri in function.resources)

    def _entry(self, function: Function, uri: str, place: str) -> str:
        file = SourceFile(uri, checksum=self.source_files.checksum(place, ChecksumForm.IDENTITY))
        check_file(f"function {function.name}", file)
        return encode_entry(file, self.terms.cmroot)


def _check_item(item: CopyItem) -> None:
    owner = f"{item.table} {item.partition or ''}".strip()
    if not item.is_event_content:
        raise unsayable(
            f"a file without a checksum (a file of {owner})",
            item.path,
            "files that are known by the checksum that HDFS has of them",
        )
    check_file(owner, item.file)


def _joined(slices: list[TableRecord]) -> TableRecord:
    return replace(slices[0], partitions=tuple(partition for record in slices for partition in record.partitions))


def _owners(record: TableRecord) -> list[str | None]:
    table = record.table
    if not table.kind.has_logged_files:
        return []
    if not table.partition_keys:
        return [None]
    return [partition.name(table.partition_keys) for partition in record.partitions]
