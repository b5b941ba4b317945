"""Carry an import out: copy, put directories in their places, tell the metastore.

Files are copied beside the table, and each directory is renamed to its place when all of them are whole; only then the
metastore hears of it. Cut off anywhere, the same statement goes on: it knows the directories that it has placed by
their ids, not by their names.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from twinhive.core.directory_marks.directories import MARKER, Mark, Owned, Purpose, claim, foreign, proven
from twinhive.core.model.errors import AlreadyThere, Missing, Refused, TryAgain
from twinhive.core.model.files import ChecksumForm, FileStatus, directory_around, join, short_hash
from twinhive.core.model.human_readable import Say, first_of, readable
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Partition, Table
from twinhive.core.ports import FileReader, FileWriter, MetastoreReader, children
from twinhive.core.ports.table_writers import LoggedInsert, TableWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.statements.table_exports.export_metadata import DATA, Described
from twinhive.statements.table_exports.exported_table import listed_items
from twinhive.statements.table_exports.table_tree import THREADS, Copy, TableTree, build, missing_items, raise_failures

_AT_ONCE = 1_000
_EXTERNAL_TYPE, _MANAGED_TYPE = "EXTERNAL_TABLE", "MANAGED_TABLE"
_OF_THE_KIND = ("EXTERNAL", "external.table.purge", "TRANSLATED_TO_EXTERNAL")
_ACCURATE = "COLUMN_STATS_ACCURATE"
"""It speaks of statistics of columns too, which an export does not hold."""
_COUNTED = ("numFiles", "totalSize", "numRows", "rawDataSize", "numFilesErasureCoded")
_PLACED = "placing.json"
Placed = Mapping[str, int]
"""Ids of directories that are, or will be, renamed to their places, by their names in the export."""


@dataclass(frozen=True)
class Imported:
    """What was imported: partitions (0 for a table without), files and bytes; none were copied of a table in place."""

    table: TableName
    location: str
    partitions: int
    files: int
    bytes: int


@dataclass(frozen=True)
class Importing:
    """An import that was looked at: what comes from where, into which table; `there` is None for a new one."""

    directory: str
    described: Described
    name: TableName
    there: Table | None
    location: str
    in_place: bool
    external: bool

    def plan(self, metastore: MetastoreReader, exported: FileReader, target: FileReader) -> list[str]:
        """Return what `run` would do. Raises what it would raise; nothing is changed."""
        new = f"{'external' if self.external else 'managed'} table {self.name} at {self.location}"
        if self.in_place:
            self._refuse_partitions(metastore, {})
            return [f"would make {new}, over the files of the export: nothing is copied", *self._counted()]
        if problem := foreign(target, self._work, self._mark, _of_nobody):
            raise problem
        tree = self._tree(exported)
        self._refuse_there(metastore, target, _placed(target, tree))
        into = f"into table {self.name} at {self.location}" if self.there else f"as a new {new}"
        copied = f"{len(tree.items):,} files with {readable(tree.bytes)} would be copied"
        return [f"would import {self.directory} {into}", *self._counted(), copied]

    def run(self, metastore: TableWriter, exported: FileReader, target: FileWriter, copy: Copy, say: Say) -> Imported:
        """Import it. Raises ActNow with nothing changed, TryAgain with what is done kept for another try."""
        partitions = len(self.described.partitions)
        if self.in_place:
            self._refuse_partitions(metastore, {})
            self._create(metastore)
            self._register(metastore)
            return Imported(self.name, self.location, partitions, 0, 0)
        tree = self._tree(exported)
        placed = _placed(target, tree)
        if before := proven(target, self._work, self._mark, _of_nobody):
            self._take_back(metastore, target, before, tree)
        self._refuse_there(metastore, target, placed)
        owned = claim(target, self._work, self._mark, _of_nobody)
        if not placed:
            missing = missing_items(target, tree)
            say(f"{self.name}: {len(missing):,} of {len(tree.items):,} files to copy")
            raise_failures(f"import into {self.name}", copy(missing, self._work, f"import into {self.name}"))
            build(target, tree, missing)
            placed = self._keep_placed(target, tree)
        if self.described.table.partition_keys:
            self._create(metastore)
            in_threads(lambda name: self._put(target, tree, name, placed), sorted(placed), THREADS)
            self._register(metastore)
        else:
            self._fill(metastore, target, tree, placed)
        owned.discard()
        return Imported(self.name, self.location, partitions, len(tree.items), tree.bytes)

    def _counted(self) -> list[str]:
        if not self.described.table.partition_keys:
            return []
        return [f"{len(self.described.partitions):,} partitions would be added"]

    def _create(self, metastore: TableWriter) -> None:
        if self.there is None:
            metastore.create_table(self._table())

    def _register(self, metastore: TableWriter) -> None:
        """Let partitions be there, some hundred a call, but for those that an earlier try has added."""
        for some in self._in_pieces():
            there = {self.described.name_of(one) for one in metastore.partitions(self.name, sorted(some))}
            added = [
                one.at(self.name, self._place_of(name)).with_parameters(_kept(one.parameters))
                for name, one in some.items()
                if name not in there
            ]
            if added:
                metastore.add_partitions(added)

    def _fill(self, metastore: TableWriter, target: FileWriter, tree: TableTree, placed: Placed) -> None:
        """Let the rows of a table be there: of a new one before it is, of an empty one with an event that says so."""
        if self.there is not None:
            # Before the rows: who trusts the old counts would answer count(*) by them.
            counted = {key: value for key, value in self.described.table.parameters.items() if key in _COUNTED}
            altered = self.there.with_parameters({**_kept(self.there.parameters), **counted})
            metastore.alter_table(self.name, altered)
        self._put(target, tree, DATA, placed)
        self._create(metastore)
        if self.there is not None and tree.items:
            files = [join(self.location, item.relative) for item in tree.items]
            logged = tuple((path, target.checksum(path, ChecksumForm.IDENTITY)) for path in files)
            metastore.fire_inserts(self.name, [LoggedInsert((), logged, replaces=False)])

    def _put(self, target: FileWriter, tree: TableTree, name: str, placed: Placed) -> None:
        """Rename a directory to its place, where nothing or an empty directory is."""
        source, place = join(tree.path, name), self._place_of(name)
        there = target.status(place)
        if there is not None and there.file_id == placed[name]:
            return
        target.make_directories(directory_around(place))
        if not (_is_free(target, place, there) and target.rename(source, place)):
            raise TryAgain(
                f"a directory of {self.name} could not be put at {place}",
                found="something that came there meanwhile, or another import of the same",
                expected="nothing there",
                next_step="look what it is; then run the statement again",
            )

    def _take_back(self, metastore: MetastoreReader, target: FileWriter, owned: Owned, tree: TableTree) -> None:
        """Remove what an import of something else into the same table has placed, and was cut off before it showed."""
        for child in children(target, owned.directory):
            path = join(child.path, _PLACED)
            if child.path == tree.place or not child.is_directory or target.status(path) is None:
                continue
            for name, file_id in json.loads(target.read(path)).items():
                place = self._place_of(name)
                if _is(target, place, file_id) and not self._is_used(metastore, name):
                    target.rename(place, join(child.path, f"back-{file_id}"))
            owned.discard(child.path)

    def _is_used(self, metastore: MetastoreReader, name: str) -> bool:
        if self.described.table.partition_keys and name != DATA:
            return bool(metastore.partitions(self.name, [name]))
        return self.there is not None

    def _refuse_there(self, metastore: MetastoreReader, target: FileReader, placed: Placed) -> None:
        """Raise AlreadyThere for partitions, rows or files in the way; what this import has placed is not."""
        ours = {name: place for name, place in self._places() if name in placed and _is(target, place, placed[name])}
        self._refuse_partitions(metastore, ours)
        names = {place: name for name, place in self._places() if name not in ours}
        for place, page in target.list_pages(names):
            if any(not child.path.endswith(f"/{MARKER}") for child in page or ()):
                partition = "" if names[place] == DATA else f"partition {names[place]} of "
                raise AlreadyThere(
                    f"{partition}{self.name} cannot be imported: its directory is not empty",
                    found=f"files at {place}",
                    expected="nothing there, or an empty directory",
                    next_step="import into a table without rows, under another name, or with another LOCATION",
                )

    def _refuse_partitions(self, metastore: MetastoreReader, ours: Mapping[str, str]) -> None:
        if self.there is None:
            return
        found = []
        for some in self._in_pieces():
            for one in metastore.partitions(self.name, sorted(some)):
                name = self.described.name_of(one)
                known = self._place_of(name) if self.in_place else ours.get(name)
                if known is None or (one.location or "").rstrip("/") != known:
                    found.append(name)
        if found:
            raise AlreadyThere(
                f"{len(found):,} partitions of {self.name} are there already",
                found=first_of(found, 3),
                expected="none of those that are imported; Hive refuses them too (error 10118)",
                next_step="import others (PARTITION (...)), or drop these partitions before; nothing was copied",
            )

    def _in_pieces(self) -> Iterator[dict[str, Partition]]:
        named = sorted(
            ((self.described.name_of(one), one) for one in self.described.partitions), key=lambda pair: pair[0]
        )
        for start in range(0, len(named), _AT_ONCE):
            yield dict(named[start : start + _AT_ONCE])

    def _places(self) -> Iterator[tuple[str, str]]:
        return ((name, self._place_of(name)) for name in self.described.directories)

    def _place_of(self, name: str) -> str:
        return join(self.location, name) if self.described.table.partition_keys else self.location

    def _tree(self, exported: FileReader) -> TableTree:
        places = {name: join(self.directory, name) for name in self.described.directories}
        gone = sorted(place for place, page in exported.list_pages(list(places.values())) if page is None)
        if gone:
            raise Missing(
                f"the export {self.directory} is not whole",
                found=f"no directory {first_of(gone, 3)}",
                expected="a directory with the files of the table, or of each partition",
                next_step="export the table again",
            )
        items = tuple(listed_items(exported, self.name, places))
        content = f"{self.name}\0{self.location}\0".encode() + self.described.encode()
        return TableTree(self._work, tuple(places), items, content)

    def _keep_placed(self, target: FileWriter, tree: TableTree) -> dict[str, int]:
        """Write down the ids of the directories before the first is renamed: they keep them."""
        found = {}
        for name in tree.directories:
            status = target.status(join(tree.path, name))
            if status is None:
                raise TryAgain(
                    f"what was copied for {self.name} vanished before it was put in its place",
                    found=f"no {join(tree.path, name)}",
                    expected="what this import has written",
                    next_step="run the statement again; let one run at a time import the same",
                )
            found[name] = status.file_id
        target.write(_list_of_placed(tree), json.dumps(found).encode())
        return found

    def _table(self) -> Table:
        table = self.described.table
        parameters = {key: value for key, value in _kept(table.parameters).items() if key not in _OF_THE_KIND}
        kind = {"EXTERNAL": "TRUE"} if self.external else {}
        typed = replace(table, table_type=_EXTERNAL_TYPE if self.external else _MANAGED_TYPE)
        return typed.at(self.name, self.location).with_parameters({**parameters, **kind})

    @property
    def _work(self) -> str:
        """What is imported is put together in: beside the table's directory, so that renames show it."""
        return join(directory_around(self.location), f".twinhive-import-{short_hash(str(self.name))}")

    @property
    def _mark(self) -> Mark:
        return Mark(Purpose.IMPORT, str(self.name))


def _placed(files: FileReader, tree: TableTree) -> dict[str, int]:
    path = _list_of_placed(tree)
    return {} if files.status(path) is None else dict(json.loads(files.read(path)))


def _list_of_placed(tree: TableTree) -> str:
    return join(tree.place, _PLACED)


def _is_free(files: FileWriter, place: str, there: FileStatus | None) -> bool:
    """Take an empty directory out of the way; False for one that has become anything else."""
    try:
        return there is None or files.delete_file(place)
    except Refused:
        return False


def _is(files: FileReader, place: str, file_id: int) -> bool:
    there = files.status(place)
    return there is not None and there.file_id == file_id


def _kept(parameters: Parameters) -> dict[str, str]:
    return {key: value for key, value in parameters.items() if key != _ACCURATE}


def _of_nobody(files: FileReader, directory: str) -> bool:
    return False
