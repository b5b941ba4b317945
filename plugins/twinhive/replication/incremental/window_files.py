"""Which files a window's events need copied, and where they may be by now."""

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import replace

from twinhive.core.model.batches import Batch, Slice
from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.brought_files import files_of
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.files import parent
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, SourcePorts
from twinhive.core.threads.parallel_map import Threads, in_threads
from twinhive.replication.dump.batch_records import write_file_list
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.notification_log.moved_files import Moves, moves_after
from twinhive.transfer.staged.event_source import kept_path
from twinhive.transfer.staged.staged_files import CopyItem

_THREADS = 8
_ASKED_TOGETHER = 500
_ASKED_ALONE = 50
"""Up to so many files of one directory are asked for one by one."""


def event_items(
    ports: SourcePorts, policy: Policy, events: list[Event], aside: Set[str], end: Position
) -> Iterator[CopyItem]:
    """Yield what the events of a window up to `end` need copied, with lengths as far as files are still in place.

    Events of tables that are `aside`, frozen or resynced, are not applied and need nothing.
    """
    applied = [event for event in events if not aside & policy.followed(tables_of(event.change))]
    wanted = [one for event in applied for one in files_of(event) if one[2].checksum]
    lengths = lengths_of(ports.source_files, [file.path for _, _, file in wanted])
    moves = list(events)
    if some_are_nowhere(ports.source_files, [file for _, _, file in wanted if file.path not in lengths]):
        # Only now is it worth reading on to the newest event: renames after the window have carried files along.
        moves += moves_after(ports.source, policy, end)
    moved = Moves(moves)
    for table, partition, file in wanted:
        item = CopyItem.of(replace(file, length=lengths.get(file.path, 0)), table, partition)
        yield item if file.path in lengths else replace(item, elsewhere=tuple(moved.later_places(item)))


def some_are_nowhere(files: FileReader, absent: list[SourceFile]) -> bool:
    """True when a file that is not at its path is not in the change manager either."""
    kept = [kept_path(file.cmroot, file.path, file.checksum) for file in absent if file.cmroot and file.checksum]
    if len(kept) < len(absent):
        return True
    with Threads(_THREADS) as threads:
        pages = (kept[start : start + _ASKED_TOGETHER] for start in range(0, len(kept), _ASKED_TOGETHER))
        return any(None in threads.each(files.status, some) for some in pages)


def lengths_of(files: FileReader, paths: list[str]) -> dict[str, int]:
    """Return the lengths of those files that are there; a directory is listed only when many of its files are wanted.

    What a table has besides, a million small files, say, must not cost anything.
    """
    wanted = set(paths)
    by_directory = Counter(map(parent, wanted))
    alone = [path for path in wanted if by_directory[parent(path)] <= _ASKED_ALONE]
    statuses = in_threads(files.status, alone, _THREADS)
    found = {path: status.length for path, status in zip(alone, statuses, strict=True) if status}
    listed = sorted(directory for directory, count in by_directory.items() if count > _ASKED_ALONE)
    for _, page in files.list_pages(listed):
        found |= {status.path: status.length for status in page or () if status.path in wanted}
    return found


def write_event_batches(
    ports: SourcePorts, policy: Policy, layout: DumpLayout, items: list[CopyItem], end: Position
) -> tuple[Batch, ...]:
    """Write a window's files into its dump, in batches; return the batches."""
    batches = []
    for number, some in enumerate(_cut(items, policy), start=1):
        batch = Batch(f"w{number:04d}", _label_of(some), _slices_of(some))
        write_file_list(ports.dump_files, layout, batch.name, some, end.event_id)
        batches.append(batch)
    return tuple(batches)


def _cut(items: list[CopyItem], policy: Policy) -> Iterator[list[CopyItem]]:
    """Cut items, in their order, into batches of so many files or bytes as the policy says."""
    some: list[CopyItem] = []
    length = 0
    for item in items:
        if some and (len(some) >= policy.options.batch_objects or length >= policy.options.batch_bytes):
            yield some
            some, length = [], 0
        some.append(item)
        length += item.length
    if some:
        yield some


def _label_of(items: list[CopyItem]) -> str:
    """Name a batch for people."""
    tables = sorted({item.table for item in items})
    events = f"events {items[0].event_id} to {items[-1].event_id}"
    others = f" +{len(tables) - 1} tables" if len(tables) > 1 else ""
    return f"{tables[0]}{others} ({events})"


def _slices_of(items: list[CopyItem]) -> tuple[Slice, ...]:
    """Return the tables of a batch."""
    return tuple(Slice(TableName.parse(table), 0, 0, 0) for table in sorted({item.table for item in items}))
