"""Find content of the source that no event tells of, by comparing directories, then files.

Spark appends to and overwrites existing partitions and unpartitioned tables without a word to the
metastore, and any writer can die between its files and its event. A directory whose file id and time
are what they were at the last accepted look has had no file added or removed.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import Usage, base_name, is_elsewhere, is_unfinished
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.replication.comparison.leaf_files import Leaf

Size = tuple[int, int]
"""How many files a leaf has, and their bytes."""


def leaves(source: MetastoreReader, root: str, tables: Iterable[Table]) -> Iterator[Leaf]:
    """Yield all leaves of managed tables; of partitions nothing is read but where they lie.

    What lies on another file system than `root`, as an archived partition does, cannot be listed: its table waits.
    """
    for table in tables:
        if not table.partition_keys:
            if table.location and not is_elsewhere(table.location, root):
                yield Leaf(table, None, table.location)
            continue
        # Dropped meanwhile: the event tells.
        with suppress(Missing):
            for name, location in source.partition_locations(table):
                if location and not is_elsewhere(location, root):
                    yield Leaf(table, name, location)


def sizes_of(some: Iterable[Leaf], counted: Mapping[str, Size]) -> dict[str, Usage]:
    """Return what tables hold, by their names: as their leaves were counted, by location, else by their statistics.

    A table of none of whose leaves anything is known is left out: Spark writes no statistics that say so.
    """
    sizes: dict[str, Usage] = {}
    for leaf in some:
        size = counted.get(leaf.location) or (None if leaf.name else _by_statistics(leaf.table.parameters))
        if size is not None:
            sum_ = sizes.get(leaf.table.name.table, Usage(0, 0, 0))
            sizes[leaf.table.name.table] = Usage(sum_.length + size[1], sum_.files + size[0], 0)
    return sizes


def _by_statistics(parameters: Parameters) -> Size | None:
    files, length = parameters.get("numFiles", ""), parameters.get("totalSize", "")
    return (int(files), int(length)) if files.isdigit() and length.isdigit() else None


def size_of(files: Mapping[str, SourceFile]) -> Size:
    """Count the content of a leaf."""
    return len(files), sum(file.length for file in files.values())


def unfinished_below(files: FileReader, leaf: Leaf) -> bool:
    """True while somebody seems to be writing: below the leaf, or at the top of its table."""
    places = {leaf.location, leaf.table.location or leaf.location}
    return any(
        is_unfinished(base_name(status.path))
        for _, children in files.list_directories(sorted(places))
        for status in children or ()
    )
