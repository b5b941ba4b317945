"""Compare the files of a table or of partitions on both sides, file by file."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.changes.contents import FilesByPath, SourceFile
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, ReadPorts
from twinhive.core.ports.same_content import have_same_content
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.transfer.staged.listing import list_files

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


@dataclass(frozen=True)
class ComparedLeaves:
    """The source's files of the leaves that the replica has, by their locations at the source; and what differs."""

    files: Mapping[str, FilesByPath]
    differences: tuple[Difference, ...]


def contents(files: FileReader, places: Mapping[str, str]) -> dict[str, dict[str, SourceFile]]:
    """List the files below the directories `places` names, by the names of the places and by relative path."""
    found: dict[str, dict[str, SourceFile]] = {name: {} for name in places}
    for name, relative, status in list_files(files, list(places.items())):
        found[name][relative] = SourceFile.of_listing(status, relative)
    return found


def compare_leaves(ports: ReadPorts, policy: Policy, some: Sequence[Leaf]) -> ComparedLeaves:
    """Compare those leaves that the replica has, file by file: lengths, then checksums."""
    places = _replica_places(ports, policy, some)
    here = contents(ports.source_files, {place: place for place in places})
    there = contents(ports.replica_files, places)
    both = [leaf for leaf in some if leaf.location in places]
    return ComparedLeaves(here, tuple(_differences(ports, both, here, there)))


def _replica_places(ports: ReadPorts, policy: Policy, some: Iterable[Leaf]) -> dict[str, str]:
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


def _differences(
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
