"""Read leaves of one side: what its metastore says of them, and the files that readers see."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import ChecksumForm, FileStatus
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table, TableKind
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, MetastoreReader, ReadPorts, if_there
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.replication.comparison.canonical_form import (
    Plain,
    canonical_constraints,
    canonical_partition,
    canonical_table,
    statistics,
)
from twinhive.replication.comparison.directory_fingerprints import LeafLook
from twinhive.replication.comparison.leaf_records import (
    NOT_READ,
    OWN_LEAF,
    LeafRecord,
    digest_of_content,
    digest_of_form,
    digest_of_look,
    digest_of_names,
    leaf_key,
)
from twinhive.transfer.staged.listing import files_below

PARTITIONS_AT_ONCE = 100_000
"""Places of so many partitions of a table are read by one call, of more by pages."""
PARTITIONS_OF_A_PAGE = 10_000
_ASKING = 8
OF_BYTES = "sha256:"
"""Begins what stands for bytes that were read, where a checksum of HDFS stands else."""
Located = Sequence[tuple[str, str]]
"""Names of leaves, with their directories."""


class SideRole(Enum):
    """Which of the two sides."""

    SOURCE = "source"
    REPLICA = "replica"


@dataclass(frozen=True)
class LeafState:
    """One leaf as it was read: its form, its files with their lengths, and with their checksums if they were asked for.

    `statistics` are what the metastore says that it counted: no part of what has to be equal.

    A file that is gone leaves all checksums unknown.
    """

    form: Plain
    files: Mapping[str, FileStatus]
    statistics: Mapping[str, str] = field(default_factory=dict)
    look: LeafLook | None = None
    checksums: Mapping[str, str] | None = None

    @property
    def lengths(self) -> dict[str, int]:
        """Return the files' lengths, by path below the leaf."""
        return {name: status.length for name, status in self.files.items()}

    def record(self, name: str) -> LeafRecord:
        """Return what is remembered of it."""
        content = NOT_READ if self.checksums is None else digest_of_content(self.checksums)
        looked = digest_of_look(self.look)
        return LeafRecord(leaf_key(name), digest_of_form(self.form), digest_of_names(self.lengths), content, looked)


@dataclass(frozen=True)
class Side:
    """One side of a policy; tables are called by their names at the source's, without a database.

    with_external   files of external tables are read as well, which follow no log
    """

    role: SideRole
    metastore: MetastoreReader
    files: FileReader
    policy: Policy
    with_external: bool = False

    @property
    def database(self) -> str:
        """The name of the database on this side."""
        policy = self.policy
        return (policy.source if self.role is SideRole.SOURCE else policy.replica).database

    def name(self, table: str) -> TableName:
        """Return the full name of a table on this side."""
        return TableName(self.database, table)

    def located(self, table: Table) -> Iterator[Located]:
        """Yield the leaves of a table with the directories whose files are ours to compare, '' for none of these.

        They come in pages: all partitions in one, of a table of very many some at a time.
        """
        yield [(OWN_LEAF, "" if table.partition_keys else self._place_of_files(table, table.location))]
        if not table.partition_keys:
            return
        with suppress(Missing):
            names = self.metastore.partition_names(table.name)
            if len(names) <= PARTITIONS_AT_ONCE:
                del names
                found = self.metastore.partition_locations(table)
                yield [(name, self._place_of_files(table, location)) for name, location in found]
                return
            for start in range(0, len(names), PARTITIONS_OF_A_PAGE):
                some = names[start : start + PARTITIONS_OF_A_PAGE]
                found = self.metastore.partition_locations_of(table, some)
                yield [(name, self._place_of_files(table, location)) for name, location in found]

    def read(
        self, table: Table, names: Sequence[str], looks: Mapping[str, LeafLook], wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, LeafState]]:
        """Yield the named leaves that are there, with checksums of the `wanted` ones. `looks` are by directory."""
        per_call = self.policy.options.partitions_per_call
        for start in range(0, len(names), per_call):
            yield from self._with_files(self._leaves(table, names[start : start + per_call]), looks, wanted)

    def _leaves(self, table: Table, names: Sequence[str]) -> dict[str, "_Leaf"]:
        found: dict[str, _Leaf] = {}
        if OWN_LEAF in names:
            place = "" if table.partition_keys else self._place_of_files(table, table.location)
            found[OWN_LEAF] = _Leaf(self.form_of_table(table), place, statistics(table.parameters))
        parts = [name for name in names if name != OWN_LEAF]
        with suppress(Missing):
            for one in self.metastore.partitions(table.name, parts) if parts else ():
                place, form = self._place_of_files(table, one.location), self.form_of_partition(one, table)
                found[one.name(table.partition_keys)] = _Leaf(form, place, statistics(one.parameters))
        return found

    def _with_files(
        self, leaves: Mapping[str, "_Leaf"], looks: Mapping[str, LeafLook], wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, LeafState]]:
        files = files_below(self.files, {name: leaf.place for name, leaf in leaves.items() if leaf.place})
        asked = [status.path for name in files if wanted(name) for status in files[name].values()]
        sums = self.checksums(asked)
        for name, leaf in leaves.items():
            there = files.get(name, {})
            found = {relative: sums.get(status.path) for relative, status in there.items()}
            known = {relative: value for relative, value in found.items() if value is not None}
            whole = known if wanted(name) and len(known) == len(found) else None
            yield name, LeafState(leaf.form, there, leaf.statistics, looks.get(leaf.place), whole)

    def checksums(self, paths: Sequence[str]) -> dict[str, str | None]:
        """Return checksums by path, None for a file that is gone. Where a file system has none, bytes are read."""
        return self._asked(self._checksum, paths)

    def digests(self, paths: Sequence[str]) -> dict[str, str | None]:
        """Read files, and return by path what stands for their bytes on either side; None for a file that is gone."""
        return self._asked(self._digest, paths)

    def _asked(self, of: Callable[[str], str], paths: Sequence[str]) -> dict[str, str | None]:
        def ask(some: Iterator[str]) -> list[tuple[str, str | None]]:
            return [(path, if_there(of, path)) for path in some]

        return {path: value for found in in_parallel(paths, _ASKING, ask, "verify") for path, value in found}

    def _checksum(self, path: str) -> str:
        found = self.files.checksum(path, ChecksumForm.COMPARISON)
        return self._digest(path) if found is None else found

    def _digest(self, path: str) -> str:
        return f"{OF_BYTES}{self.files.digest(path)}"

    def form_of_table(self, table: Table) -> Plain:
        """Return what is compared of a table without its partitions; constraints that nobody has read are read."""
        form = canonical_table(table)
        there = self.metastore.constraints(table.name) if table.constraints is None else table.constraints
        constraints = canonical_constraints(there)
        form |= {"constraints": constraints} if constraints else {}
        return form | self._placed(table, table.location, "")

    def form_of_partition(self, partition: Partition, table: Table) -> Plain:
        """Return what is compared of a partition's metadata."""
        return canonical_partition(partition) | self._placed(table, partition.location, str(partition.values))

    def _place_of_files(self, table: Table, location: str | None) -> str:
        """Return the directory whose files follow the log: those of managed tables, and of others if asked for."""
        if table.kind is TableKind.EXTERNAL and self.with_external:
            return location if location and location.startswith(f"{self.files.root}/") else ""
        return location or "" if table.kind.has_comparable_files else ""

    def _placed(self, table: Table, location: str | None, what: str) -> Plain:
        """Return where rows of an external table lie on the replica. Raises InvalidSettings for a place of nobody's."""
        if not table.is_external or location is None:
            return {}
        is_here = self.role is SideRole.REPLICA
        return {"location": location if is_here else self.policy.external.place(location, f"{table.name} {what}")}


@dataclass(frozen=True)
class _Leaf:
    """What the metastore says of a leaf; `place` is '' where no files are compared."""

    form: Plain
    place: str
    statistics: Mapping[str, str]


def sides_of(ports: ReadPorts, policy: Policy) -> tuple[Side, Side]:
    """Return source and replica."""
    return (
        Side(SideRole.SOURCE, ports.source, ports.source_files, policy),
        Side(SideRole.REPLICA, ports.replica, ports.replica_files, policy),
    )
