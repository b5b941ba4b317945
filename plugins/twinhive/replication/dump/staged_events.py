"""Which files of a batch of a window are needed, and which of them staging does not hold."""

from collections.abc import Sequence

from twinhive.core.ports import FileReader
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.shards import unpack_lines
from twinhive.transfer.staged.staged_files import CopyItem, event_directory, remaining

_DIRECTORIES_A_CALL = 100


def needed_items(files: FileReader, dump: Dump, batch: str, position: int) -> list[CopyItem]:
    """Return the files of a batch that a replica at an event still needs."""
    lines = unpack_lines(files.read(dump.layout.files(batch)))
    return list(remaining(map(CopyItem.from_line, lines), position))


def absent_events(files: FileReader, staging: str, items: Sequence[CopyItem]) -> list[int]:
    """Return the events of those files that are not staged, one for each; files of no event are not looked for."""
    events = sorted({item.event_id for item in items})
    there = set()
    for start in range(0, len(events), _DIRECTORIES_A_CALL):
        some = [event_directory(staging, event_id) for event_id in events[start : start + _DIRECTORIES_A_CALL]]
        there |= {one.path for _, found in files.list_directories(some) for one in found or ()}
    return [item.event_id for item in items if item.staged_path(staging) not in there]
