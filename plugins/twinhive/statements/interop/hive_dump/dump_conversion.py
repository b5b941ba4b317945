"""Take a dump of Hive over into a dump of our own, which copies, loads and applies as any other does.

Hive does not consolidate: objects of its bootstrap are as they were at some time after `begin`, and its replica is
*at* `begin` until the events after that have been replayed. A bootstrap during which nothing happened becomes a dump of
the kind `consolidate`, exact at that event; any other one becomes a `bootstrap`, which has to be consolidated with
the source's log before it can be loaded.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from twinhive.core.model.batches import Batch, Slice
from twinhive.core.model.changes.brought_files import files_of
from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.files import short_hash
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.hive.events.decoder import decode_event
from twinhive.replication.dump.batch_records import write_file_list
from twinhive.replication.dump.dump_layout import VIEWS, WHOLE_TABLES, DumpKind, DumpLayout
from twinhive.replication.dump.dump_store import Dump, open_dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.manifest import BaseContent, DumpManifest, LeftOutObject, WindowContent
from twinhive.replication.dump.publishing import begin_attempt, being_written, publish_dump
from twinhive.replication.dump.shards import encode_objects
from twinhive.statements.interop.hive_dump.event_reading import EventReading
from twinhive.statements.interop.hive_dump.hive_dump_reading import (
    THREADS,
    HiveDump,
    events_of,
    read_database,
    read_functions,
    read_tables,
)
from twinhive.statements.interop.hive_dump.table_reading import TableReading
from twinhive.transfer.staged.staged_files import CopyItem

_MOST_FILES = 2_000

PositionAt = Callable[[int], Position]


def convert(
    hive_files: FileReader,
    files: FileWriter,
    dump: HiveDump,
    policy: Policy,
    log_id: str,
    position_at: PositionAt = Position,
) -> Dump:
    """Return a dump in `policy.dumps` that says what Hive's says; one that was made of it before is returned as it is.

    `position_at` finds an event in the source's log; without it a log that was restored is not noticed. Raises
    Missing, ActNow, and then there is no dump.
    """
    kind = DumpKind.INCREMENTAL
    begin, end = position_at(dump.begin), position_at(dump.end)
    if dump.is_bootstrap:
        kind, end = DumpKind.CONSOLIDATE if dump.is_exact else DumpKind.BOOTSTRAP, begin
    layout = DumpLayout.of(policy.dumps, kind, begin.event_id, end.event_id)
    token = short_hash(dump.places.directory, 32)
    if files.status(layout.manifest) is not None:
        there = open_dump(files, layout)
        if there.manifest.token == token:
            return there
    manifest = DumpManifest(
        kind=kind,
        token=token,
        policy=policy.name,
        fingerprint=policy.fingerprint,
        log_id=log_id,
        begin=begin,
        end=end,
        database=Database(dump.database, None, None, {}, "{}"),
        batches=(),
        content=BaseContent() if dump.is_bootstrap else WindowContent(),
    )
    attempt = begin_attempt(files, policy, token)
    write = _write_objects if dump.is_bootstrap else _write_events
    with being_written(files, attempt):
        manifest = write(hive_files, files, dump, policy, attempt, manifest)
    return publish_dump(files, attempt, layout, manifest)


def acknowledge(files: FileWriter, dump: HiveDump) -> None:
    """Tell Hive that a dump of its own is loaded: its next REPL DUMP then dumps what came after it."""
    files.write(dump.places.loaded, b"")


def _write_objects(
    hive_files: FileReader,
    files: FileWriter,
    dump: HiveDump,
    policy: Policy,
    attempt: DumpLayout,
    manifest: DumpManifest,
) -> DumpManifest:
    database = read_database(hive_files, dump)
    reading = TableReading(hive_files, dump.places, files, attempt, policy, dump.begin, dump.end)
    taken = reading.take_over(read_tables(hive_files, dump, dump.places))
    files.write(attempt.objects(VIEWS), encode_objects(taken.views))
    return replace(
        manifest,
        database=database,
        batches=tuple(taken.batches),
        left_out=tuple(taken.left_out),
        content=BaseContent(
            views=len(taken.views),
            functions=tuple(read_functions(hive_files, dump)),
            foreign_keys=tuple(taken.foreign_keys),
        ),
    )


def _write_events(
    hive_files: FileReader,
    files: FileWriter,
    dump: HiveDump,
    policy: Policy,
    attempt: DumpLayout,
    manifest: DumpManifest,
) -> DumpManifest:
    found = in_threads(
        lambda place: EventReading(place.event_id, place.directory, hive_files.read).row(),
        events_of(hive_files, dump),
        THREADS,
    )
    rows = tuple(row for row in found if isinstance(row, EventRow))
    files.write(attempt.events, EventRange(manifest.begin, manifest.end, rows).pack())
    batches = [
        _write_files(files, attempt, number, items, dump.end)
        for number, items in enumerate(_cut(_items(rows)), start=1)
    ]
    places = dump.places.whole_tables
    reading = TableReading(hive_files, places, files, attempt, policy, dump.end, dump.end, WHOLE_TABLES)
    taken = reading.take_over(read_tables(hive_files, dump, places))
    whole = {slice_.table.table for batch in taken.batches for slice_ in batch.slices}
    left_out = (entry for entry in found if isinstance(entry, LeftOutObject))
    return replace(
        manifest,
        batches=(*batches, *taken.batches),
        left_out=(*left_out, *taken.left_out),
        events=len(rows),
        content=WindowContent(snapshots=tuple(sorted(whole))),
    )


def _items(rows: tuple[EventRow, ...]) -> Iterator[CopyItem]:
    for row in rows:
        for table, partition, file in files_of(decode_event(row)):
            if file.checksum:
                yield CopyItem.of(file, table, partition)


def _cut(items: Iterator[CopyItem]) -> Iterator[list[CopyItem]]:
    some: list[CopyItem] = []
    for item in items:
        some.append(item)
        if len(some) == _MOST_FILES:
            yield some
            some = []
    if some:
        yield some


def _write_files(files: FileWriter, attempt: DumpLayout, number: int, items: list[CopyItem], lo: int) -> Batch:
    names = sorted({item.table for item in items})
    slices = tuple(Slice(TableName.parse(name), 0, 0, 0) for name in names)
    label = f"events {items[0].event_id} to {items[-1].event_id}"
    batch = Batch(f"w{number:04d}", label, slices)
    write_file_list(files, attempt, batch.name, items, lo)
    return batch
