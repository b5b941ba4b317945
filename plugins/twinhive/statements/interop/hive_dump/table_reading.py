"""Take whole tables of a dump of Hive over into shards of our own layout, some thousand objects at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from twinhive.core.model.batches import Batch, Slice
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.constraints import TablePair
from twinhive.core.model.errors import Missing
from twinhive.core.model.objects import TableKind
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.dump.batch_records import write_file_list
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.replication.dump.shards import TableRecord, encode_objects
from twinhive.statements.interop.hive_dump.file_lines import decode_entries, decode_entry
from twinhive.statements.interop.hive_dump.hive_dump_errors import incomplete, unusable
from twinhive.statements.interop.hive_dump.hive_dump_reading import HiveTable
from twinhive.statements.interop.hive_dump.hive_layout import HivePlaces
from twinhive.transfer.staged.staged_files import CopyItem

_MOST_OBJECTS = 2_000
_THREADS = 8

RecordOwner = tuple[TableRecord, str | None, str]
"""A record, the name of a partition in it (None: the table itself), and the directory of that."""


@dataclass
class TakenOver:
    """What came of the tables: the batches that were written, views, which refer to which, what is not replicated."""

    batches: list[Batch] = field(default_factory=list)
    views: list[TableRecord] = field(default_factory=list)
    left_out: list[LeftOutObject] = field(default_factory=list)
    foreign_keys: list[TablePair] = field(default_factory=list)


@dataclass(frozen=True)
class TableReading:
    """Write the tables of a dump of Hive, as of event `lo`, into a dump of ours.

    `hi` is the newest event that can be in them; `prefix` is how the batches are named.
    """

    hive_files: FileReader
    places: HivePlaces
    files: FileWriter
    layout: DumpLayout
    policy: Policy
    lo: int
    hi: int
    prefix: str = ""

    def take_over(self, tables: Iterable[HiveTable]) -> TakenOver:
        """Write shards and their lists of files. Raises Missing, ActNow for a list that is not as Hive writes it."""
        done = TakenOver()
        waiting: list[TableRecord] = []
        slices: list[Slice] = []
        for record, slice_ in self._pieces(tables, done):
            waiting.append(record)
            slices.append(slice_)
            if sum(len(one.partitions) + 1 for one in waiting) >= _MOST_OBJECTS:
                done.batches.append(self._write(waiting, slices, len(done.batches)))
                waiting, slices = [], []
        if waiting:
            done.batches.append(self._write(waiting, slices, len(done.batches)))
        return done

    def _pieces(self, tables: Iterable[HiveTable], done: TakenOver) -> Iterator[tuple[TableRecord, Slice]]:
        for whole in tables:
            table = whole.table
            if reason := self.policy.left_out(table):
                done.left_out.append(LeftOutObject(str(table.name), reason))
            elif table.kind is TableKind.VIEW:
                done.views.append(TableRecord(table, whole.partitions, True, self.lo, self.hi))
            else:
                done.foreign_keys += table.foreign_keys
                yield from self._slices(whole)

    def _slices(self, whole: HiveTable) -> Iterator[tuple[TableRecord, Slice]]:
        table = whole.table
        partitions = sorted(whole.partitions, key=lambda one: one.name(table.partition_keys))
        count = len(partitions)
        for first in range(0, max(count, 1), _MOST_OBJECTS):
            some = tuple(partitions[first : first + _MOST_OBJECTS])
            record = TableRecord(table, some, first == 0, self.lo, self.hi)
            yield record, Slice(table.name, first, first + len(some), count)

    def _write(self, records: list[TableRecord], slices: list[Slice], number: int) -> Batch:
        others = f" +{len(slices) - 1} tables" if len(slices) > 1 else ""
        batch = Batch(f"{self.prefix}b{number + 1:04d}", f"{slices[0].table}{others}", tuple(slices))
        owners = (owner for record in records for owner in _owners(record))
        items = [item for some in in_threads(self._items, owners, _THREADS) for item in some]
        self.files.write(self.layout.objects(batch.name), encode_objects(records))
        write_file_list(self.files, self.layout, batch.name, items, self.lo)
        return batch

    def _items(self, owner: RecordOwner) -> list[CopyItem]:
        record, partition, location = owner
        name = record.table.name
        path = self.places.files(name.database, name.table, partition)
        try:
            content = self.hive_files.read(path)
        except Missing as error:
            raise incomplete(
                self.places.directory,
                f"no {path}",
                "a list of files of each table and partition (a dump that was made with "
                "hive.repl.run.data.copy.tasks.on.target=false or of metadata alone has none)",
            ) from error
        entries = map(decode_entry, decode_entries(content, path))
        files = [SourceFile.of_event(entry, location, self.lo, path) for entry in entries]
        for file in files:
            if not file.checksum:
                raise unusable(f"the file {file.path} of {name}", "no checksum", "the checksum that says which it is")
        return [CopyItem.of(file, name, partition) for file in files]


def _owners(record: TableRecord) -> Iterator[RecordOwner]:
    table = record.table
    if not table.kind.has_logged_files:
        return
    if not table.partition_keys:
        yield record, None, table.location or ""
    for partition in record.partitions:
        yield record, partition.name(table.partition_keys), partition.location or ""
