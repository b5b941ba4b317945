"""Put staged files together into table directories, and rename each whole directory into place.

A table's directory is built below staging, marked as ours while it is there, and appears at its
final place in one rename. Whatever stands at the final place without our mark is not touched.
"""

from collections.abc import Iterable

from twinhive.core.directory_marks.directories import mark_table
from twinhive.core.model.errors import ActNow, Foreign, TryAgain
from twinhive.core.model.files import parent
from twinhive.core.model.marks import DIRECTORY_MARK
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.text import Clear
from twinhive.core.model.untrusted_paths import place_below
from twinhive.core.ports import FileWriter, Lease
from twinhive.core.threads.parallel_map import Threads
from twinhive.replication.dump.shards import TableRecord
from twinhive.replication.replica.replica_locations import TablePlacement
from twinhive.transfer.staged.ownership import Ownership, directories_around
from twinhive.transfer.staged.staged_files import CopyItem

_THREADS = 16


def is_in_place(files: FileWriter, placement: TablePlacement, mark: str) -> bool:
    """True when the final directory is there and built by this dump's load; Foreign when by others."""
    if files.status(placement.directory) is None:
        return False
    found = files.attribute(placement.directory, DIRECTORY_MARK)
    if found == mark:
        return True
    raise Foreign(
        f"the directory of table {placement.replica.name} exists already",
        found=f"{placement.directory}, {DIRECTORY_MARK} = {found or '(not set)'}",
        expected=f"no such directory, or the mark {mark}",
        next_step=f"look what it is and move it away (hdfs dfs -mv '{placement.directory}' ...), "
        "then " + Clear("the task load"),
    )


def build(
    files: FileWriter,
    record: TableRecord,
    placement: TablePlacement,
    items: Iterable[CopyItem],
    staging: str,
    ownership: Ownership | None = None,
) -> None:
    """Rename one record's staged files into the directory that is being built."""
    moves = {}
    directories = {placement.building}
    partitions = {
        partition.name(record.table.partition_keys): placement.relative(partition) for partition in record.partitions
    }
    directories |= {place_below(placement.building, relative) for relative in partitions.values()}
    origins = {placement.building: record.table.location or ""}
    origins |= {
        place_below(placement.building, placement.relative(partition)): partition.location or ""
        for partition in record.partitions
    }
    for item in items:
        below = partitions[item.partition] if item.partition is not None else ""
        target = place_below(placement.building, below, item.relative)
        moves[target] = item
        directories.add(parent(target))
        if ownership is not None:
            for original, made in directories_around(item.path, item.relative, target):
                origins.setdefault(made, original)
    with Threads(_THREADS) as threads:
        threads.each(files.make_directories, sorted(directories))
        if ownership is not None:
            threads.each(lambda pair: ownership.give(pair[1], pair[0]), [pair for pair in origins.items() if pair[1]])
        threads.each(lambda move: _move(files, move[1], move[0], staging), moves.items())


def _move(files: FileWriter, item: CopyItem, target: str, staging: str) -> None:
    staged = item.staged_path(staging)
    if files.rename(staged, target):
        return
    # An earlier try may have brought it: what is being built is of this dump alone, and filled by renames.
    present = files.status(target)
    if present is None or (present.length != item.length and not item.is_event_content):
        raise ActNow(
            f"a staged file of table {item.table} is lost: {staged}",
            found=f"{target}: {'nothing' if present is None else f'{present.length} bytes'}",
            expected=f"{item.length} bytes, the copy of {item.path}",
            next_step=Clear("the copy tasks of this table with all tasks after them"),
        )


def move_in(files: FileWriter, placement: TablePlacement, mark: str, lease: Lease) -> None:
    """Mark a built directory and rename it to its final place. Raises TryAgain when it is at neither."""
    mark_table(files, placement.building, mark)
    files.make_directories(parent(placement.directory))
    lease.confirm()
    if not files.rename(placement.building, placement.directory) and not is_in_place(files, placement, mark):
        raise TryAgain(
            f"the directory of table {placement.replica.name} vanished before it was renamed into place",
            found=f"neither {placement.building} nor {placement.directory}",
            expected="one of them",
            next_step=RETRIES
            + "; if it then misses staged files, "
            + Clear("the copy tasks of this table with all tasks after them"),
        )
