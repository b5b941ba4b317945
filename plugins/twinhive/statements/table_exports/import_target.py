"""The table that an import makes or fills: which directory goes where, and what is in the way there."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from twinhive.core.directory_marks.directories import MARKER
from twinhive.core.model.errors import AlreadyThere, LeaseHeld
from twinhive.core.model.files import join
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Partition, Table
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.core.threads.parallel_map import in_threads
from twinhive.statements.table_exports.export_metadata import DATA, Described
from twinhive.statements.table_exports.import_work import Placed
from twinhive.statements.table_exports.table_tree import THREADS

_AT_ONCE = 1_000
_EXTERNAL_TYPE, _MANAGED_TYPE = "EXTERNAL_TABLE", "MANAGED_TABLE"
_OF_THE_KIND = ("EXTERNAL", "external.table.purge", "TRANSLATED_TO_EXTERNAL")
_ACCURATE = "COLUMN_STATS_ACCURATE"
"""It speaks of statistics of columns too, which an export does not hold."""


@dataclass(frozen=True)
class ImportTarget:
    """What is imported into which table, at which place; `there` is None for a new one.

    in_place   an external table over the files of the export, which stay where they are
    """

    name: TableName
    described: Described
    there: Table | None
    location: str
    in_place: bool
    external: bool

    @property
    def is_partitioned(self) -> bool:
        """True for a table with partition keys."""
        return bool(self.described.table.partition_keys)

    @property
    def new_table(self) -> Table:
        """The table to create."""
        table = self.described.table
        parameters = {key: value for key, value in kept(table.parameters).items() if key not in _OF_THE_KIND}
        kind = {"EXTERNAL": "TRUE"} if self.external else {}
        typed = replace(table, table_type=_EXTERNAL_TYPE if self.external else _MANAGED_TYPE)
        return typed.at(self.name, self.location).with_parameters({**parameters, **kind})

    def new_partition(self, name: str, exported: Partition) -> Partition:
        """Return a partition to add."""
        return exported.at(self.name, self.place_of(name)).with_parameters(kept(exported.parameters))

    def place_of(self, name: str) -> str:
        """Return where a directory of the export goes."""
        return join(self.location, name) if self.is_partitioned else self.location

    def lies_at(self, one: Table | Partition, name: str = DATA) -> bool:
        """True for a partition that lies where its directory goes, and for the table itself."""
        place = self.location if name == DATA else self.place_of(name)
        return (one.location or "").rstrip("/") == place

    def in_pieces(self) -> Iterator[dict[str, Partition]]:
        """Yield the partitions by name, as many as one call takes."""
        named = sorted(
            ((self.described.name_of(one), one) for one in self.described.partitions), key=lambda pair: pair[0]
        )
        for start in range(0, len(named), _AT_ONCE):
            yield dict(named[start : start + _AT_ONCE])

    def gone(self, files: FileReader, placed: Placed, names: Collection[str]) -> list[str]:
        """Return those of the directories that are not, or not any more, what was put at their places."""
        are_there = in_threads(lambda name: self.is_at_its_place(files, name, placed[name]), names, THREADS)
        return sorted(name for name, is_there in zip(names, are_there, strict=True) if not is_there)

    def is_at_its_place(self, files: FileReader, name: str, file_id: int) -> bool:
        """True where a directory with this id is where a directory of the export goes."""
        there = files.status(self.place_of(name))
        return there is not None and there.file_id == file_id

    def used(self, metastore: MetastoreReader, names: Collection[str]) -> set[str]:
        """Return those of the directories that the metastore knows: of its partitions, or of the table."""
        table = metastore.table(self.name)
        if table is None:
            return set()
        keys = [key.lower() for key in table.partition_keys]
        fitting = sorted(name for name in names if [part.partition("=")[0] for part in name.split("/")] == keys)
        pieces = (fitting[start : start + _AT_ONCE] for start in range(0, len(fitting), _AT_ONCE))
        known = {one.name(table.partition_keys) for some in pieces for one in metastore.partitions(self.name, some)}
        return known if keys else {DATA}

    def refuse_there(
        self, metastore: MetastoreReader, files: FileReader, placed: Placed, living: Collection[int]
    ) -> None:
        """Raise AlreadyThere for partitions, rows or files in the way; what this import has placed is not.

        Raises LeaseHeld where they are of another import, one of `living`.
        """
        ours = {name for name in self.described.directories if name in placed} - set(
            self.gone(files, placed, [name for name in self.described.directories if name in placed])
        )
        self.refuse_partitions(metastore, ours)
        names = {self.place_of(name): name for name in self.described.directories if name not in ours}
        for place, page in files.list_pages(names):
            if not any(not child.path.endswith(f"/{MARKER}") for child in page or ()):
                continue
            there = files.status(place)
            if there is not None and there.file_id in living:
                raise LeaseHeld(
                    f"another import into {self.name} has put files at {place}",
                    found="one that is under way, or was killed within the last minutes",
                    expected="nothing there, or what an import has left that has ended",
                    next_step="wait until it has ended, then run the statement again",
                )
            partition = "" if names[place] == DATA else f"partition {names[place]} of "
            raise AlreadyThere(
                f"{partition}{self.name} cannot be imported: its directory is not empty",
                found=f"files at {place}",
                expected="nothing there, or an empty directory",
                next_step="import into a table without rows, under another name, or with another LOCATION",
            )

    def refuse_partitions(self, metastore: MetastoreReader, ours: Collection[str]) -> None:
        """Raise AlreadyThere for partitions that are there; those that are `ours` an earlier try has added."""
        if self.there is None:
            return
        found = []
        for some in self.in_pieces():
            for one in metastore.partitions(self.name, sorted(some)):
                name = self.described.name_of(one)
                if not ((self.in_place or name in ours) and self.lies_at(one, name)):
                    found.append(name)
        if found:
            raise self.already_there(found)

    def already_there(self, names: Sequence[str]) -> AlreadyThere:
        """Return what is said of partitions that are there."""
        return AlreadyThere(
            f"{len(names):,} partitions of {self.name} are there already",
            found=first_of(names, 3),
            expected="none of those that are imported; Hive refuses them too (error 10118)",
            next_step="import others (PARTITION (...)), or drop these partitions before",
        )


def kept(parameters: Parameters) -> Mapping[str, str]:
    """Return parameters without what an export does not hold."""
    return {key: value for key, value in parameters.items() if key != _ACCURATE}
