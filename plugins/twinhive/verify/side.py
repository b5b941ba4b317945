"""Read leaves of one side: what its metastore says of them, and the files that readers see."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from twinhive.model.equality.canonical import (
    Plain,
    canonical_constraints,
    canonical_partition,
    canonical_table,
)
from twinhive.model.equality.records import (
    NOT_READ,
    OWN_LEAF,
    LeafRecord,
    digest_of_content,
    digest_of_form,
    digest_of_look,
    digest_of_names,
    leaf_key,
)
from twinhive.model.errors import Missing
from twinhive.model.files import ChecksumForm, FileStatus
from twinhive.model.names import TableName
from twinhive.model.objects import Partition, Table, TableKind
from twinhive.model.policy import Policy
from twinhive.ports import FileReader, MetastoreReader, ReadPorts
from twinhive.transfer.staged.listing import list_files
from twinhive.transfer.staged.workers import in_parallel

_ASKING = 8
Look = tuple[int, int]


class SideRole(Enum):
    """Which of the two sides."""

    SOURCE = "source"
    REPLICA = "replica"


@dataclass(frozen=True)
class LeafState:
    """One leaf as it was read: its form, its files with their lengths, and with their checksums if they were asked for.

    A checksum that the file system does not have leaves all of them unknown.
    """

    form: Plain
    files: Mapping[str, FileStatus]
    look: Look | None = None
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
    """One side of a policy; tables are called by their names at the source's, without a database."""

    role: SideRole
    metastore: MetastoreReader
    files: FileReader
    policy: Policy

    @property
    def database(self) -> str:
        """The name of the database on this side."""
        policy = self.policy
        return (policy.source if self.role is SideRole.SOURCE else policy.replica).database

    def name(self, table: str) -> TableName:
        """Return the full name of a table on this side."""
        return TableName(self.database, table)

    def located(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return the leaves of a table with the directories whose files are ours to compare, '' for none of these."""
        own = (OWN_LEAF, "" if table.partition_keys else _place_of_files(table, table.location))
        if not table.partition_keys:
            return [own]
        try:
            found = self.metastore.partition_locations(table)
        except Missing:
            return [own]
        return [own, *((name, _place_of_files(table, location)) for name, location in found)]

    def read(
        self, table: Table, names: Sequence[str], looks: Mapping[str, Look], wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, LeafState]]:
        """Yield the named leaves that are there, with checksums of the `wanted` ones. `looks` are by directory."""
        per_call = self.policy.options.partitions_per_call
        for start in range(0, len(names), per_call):
            forms, places = self._forms(table, names[start : start + per_call])
            yield from self._with_files(forms, places, looks, wanted)

    def _forms(self, table: Table, names: Sequence[str]) -> tuple[dict[str, Plain], dict[str, str]]:
        forms: dict[str, Plain] = {}
        places: dict[str, str] = {}
        if OWN_LEAF in names:
            forms[OWN_LEAF] = self._form_of_table(table)
            places[OWN_LEAF] = "" if table.partition_keys else _place_of_files(table, table.location)
        parts = [name for name in names if name != OWN_LEAF]
        with suppress(Missing):
            for one in self.metastore.partitions(table.name, parts) if parts else ():
                name = one.name(table.partition_keys)
                forms[name] = self._form_of_partition(one, table)
                places[name] = _place_of_files(table, one.location)
        return forms, places

    def _with_files(
        self,
        forms: Mapping[str, Plain],
        places: Mapping[str, str],
        looks: Mapping[str, Look],
        wanted: Callable[[str], bool],
    ) -> Iterator[tuple[str, LeafState]]:
        files: dict[str, dict[str, FileStatus]] = {name: {} for name in forms}
        roots = [(name, place) for name, place in places.items() if place]
        for name, relative, status in list_files(self.files, roots):
            files[name][relative] = status
        asked = [(name, status) for name in forms if wanted(name) for status in files[name].values()]
        sums = self.checksums([status for _, status in asked])
        for name, form in forms.items():
            found = {relative: sums[status.path] for relative, status in files[name].items() if status.path in sums}
            known = {relative: value for relative, value in found.items() if value is not None}
            whole = wanted(name) and len(known) == len(files[name])
            yield name, LeafState(form, files[name], looks.get(places[name]), known if whole else None)

    def checksums(self, files: Sequence[FileStatus]) -> dict[str, str | None]:
        """Return checksums by path, None for a file that is gone, or that has none."""

        def ask(some: Iterator[FileStatus]) -> list[tuple[str, str | None]]:
            return [(one.path, self._checksum(one.path)) for one in some]

        return {path: value for found in in_parallel(files, _ASKING, ask, "verify") for path, value in found}

    def _checksum(self, path: str) -> str | None:
        try:
            return self.files.checksum(path, ChecksumForm.COMPARISON)
        except Missing:
            return None

    def _form_of_table(self, table: Table) -> Plain:
        form = canonical_table(table)
        constraints = canonical_constraints(self.metastore.constraints(table.name))
        form |= {"constraints": constraints} if constraints else {}
        return form | self._placed(table, table.location, "")

    def _form_of_partition(self, partition: Partition, table: Table) -> Plain:
        return canonical_partition(partition) | self._placed(table, partition.location, str(partition.values))

    def _placed(self, table: Table, location: str | None, what: str) -> Plain:
        """Return where rows of an external table lie on the replica. Raises InvalidSettings for a place of nobody's."""
        if not table.is_external or location is None:
            return {}
        is_here = self.role is SideRole.REPLICA
        return {"location": location if is_here else self.policy.external.place(location, f"{table.name} {what}")}


def sides_of(ports: ReadPorts, policy: Policy) -> tuple[Side, Side]:
    """Return source and replica."""
    return (
        Side(SideRole.SOURCE, ports.source, ports.source_files, policy),
        Side(SideRole.REPLICA, ports.replica, ports.replica_files, policy),
    )


def _place_of_files(table: Table, location: str | None) -> str:
    """Return the directory whose files follow the log: those of managed tables."""
    return location or "" if table.kind is TableKind.MANAGED else ""
