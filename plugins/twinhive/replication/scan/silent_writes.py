"""Find content of the source that no event tells of, by comparing directories, then files.

Spark appends to and overwrites existing partitions and unpartitioned tables without a word to the
metastore, and any writer can die between its files and its event. A directory whose file id and time
are what they were at the last accepted look has had no file added or removed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.model.changes.contents import FilesByPath, SourceFile
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import ChecksumForm, Usage, base_name, is_elsewhere, is_unfinished
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, MetastoreReader, ReadPorts
from twinhive.core.ports.same_content import have_same_content
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.transfer.staged.listing import list_files

Size = tuple[int, int]
"""How many files a leaf has, and their bytes."""
_COMPARING = 16


@dataclass(frozen=True)
class Leaf:
    """A table without partitions, or one partition: what has files of its own."""

    table: Table
    name: str | None
    """The partition's name, None for a table."""
    location: str

    def __str__(self) -> str:
        return f"{self.table.name}{f' {self.name}' if self.name else ''}"


@dataclass(frozen=True)
class Difference:
    """What the replica lacks of a leaf (`added`), and what it has too much or otherwise (`removed`, `changed`)."""

    leaf: Leaf
    files: Mapping[str, SourceFile]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def only_adds(self) -> bool:
        """True when placing the added files is all there is to do."""
        return not self.removed and not self.changed

    @property
    def wanted(self) -> tuple[SourceFile, ...]:
        """The files that have to be copied: the new ones, or all, when the content is replaced."""
        return tuple(self.files[name] for name in (self.added if self.only_adds else self.files))

    def __str__(self) -> str:
        return f"{self.leaf}: {len(self.added)} files added, {len(self.removed)} removed, {len(self.changed)} changed"


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


def contents(files: FileReader, places: Mapping[str, str]) -> dict[str, dict[str, SourceFile]]:
    """List the files below the directories `places` names, by the names of the places and by relative path."""
    found: dict[str, dict[str, SourceFile]] = {name: {} for name in places}
    for name, relative, status in list_files(files, list(places.items())):
        found[name][relative] = SourceFile.of_listing(status, relative)
    return found


def replica_places(ports: ReadPorts, policy: Policy, some: Iterable[Leaf]) -> dict[str, str]:
    """Return where the replica keeps leaves, by their locations at the source; those it lacks are left out."""
    by_table: dict[TableName, list[Leaf]] = defaultdict(list)
    for leaf in some:
        by_table[leaf.table.name].append(leaf)
    places: dict[str, str] = {}
    for name, of_table in by_table.items():
        table = ports.replica.table(policy.on_replica(name))
        if table is None or table.partition_keys != of_table[0].table.partition_keys:
            continue
        if not table.partition_keys and table.location:
            places[of_table[0].location] = table.location
            continue
        wanted = {leaf.name: leaf.location for leaf in of_table if leaf.name}
        for partition in ports.replica.partitions(table.name, sorted(wanted)):
            if partition.location:
                places[wanted[partition.name(table.partition_keys)]] = partition.location
    return places


def compare(
    ports: ReadPorts, some: Sequence[Leaf], here: Mapping[str, FilesByPath], there: Mapping[str, FilesByPath]
) -> list[Difference]:
    """Compare the files of leaves at the source (`here`) with the replica's (`there`); return those that differ."""
    pairs = (
        (leaf, name, here[leaf.location][name], there[leaf.location][name])
        for leaf in some
        for name in sorted(here[leaf.location].keys() & there[leaf.location].keys())
    )

    def differing(some: Iterable[tuple[Leaf, str, SourceFile, SourceFile]]) -> list[tuple[str, str]]:
        return [(leaf.location, name) for leaf, name, one, other in some if not _equal(ports, one, other)]

    changed: dict[str, list[str]] = defaultdict(list)
    for found in in_parallel(pairs, _COMPARING, differing, "compare"):
        for location, name in found:
            changed[location].append(name)
    differences = (_difference(leaf, here[leaf.location], there[leaf.location], changed) for leaf in some)
    return [one for one in differences if one.added or one.removed or one.changed]


def _difference(leaf: Leaf, here: FilesByPath, there: FilesByPath, changed: Mapping[str, Sequence[str]]) -> Difference:
    added, removed = here.keys() - there.keys(), there.keys() - here.keys()
    return Difference(
        leaf, here, tuple(sorted(added)), tuple(sorted(removed)), tuple(sorted(changed.get(leaf.location, ())))
    )


def _equal(ports: ReadPorts, here: SourceFile, there: SourceFile) -> bool:
    if here.length != there.length:
        return False
    try:
        one = ports.source_files.checksum(here.path, ChecksumForm.COMPARISON)
        other = ports.replica_files.checksum(there.path, ChecksumForm.COMPARISON)
        if one is None or other is None:
            return have_same_content(ports.source_files, here.path, ports.replica_files, there.path)
        # Of other types they differ: no bytes are read for that each day, the file is copied again with the source's.
        return one == other
    except Missing:
        # Gone since it was listed: what is there is not settled.
        return False
