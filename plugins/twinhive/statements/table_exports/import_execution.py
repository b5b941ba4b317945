"""Carry an import out: copy, put directories in their places, tell the metastore.

Files are copied beside the table, and each directory is renamed to its place when all of them are whole; only then the
metastore hears of it. Cut off anywhere, the same statement goes on: it knows the directories that it has placed by
their ids, not by their names.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from twinhive.core.directory_marks.directories import Owned, foreign
from twinhive.core.model.errors import Missing, Refused, TryAgain, TwinhiveError
from twinhive.core.model.files import FileStatus, directory_around, join
from twinhive.core.model.human_readable import Say, first_of, readable
from twinhive.core.model.names import TableName
from twinhive.core.ports import FileReader, FileWriter, Lease, LeaseKeeper, MetastoreReader
from twinhive.core.ports.proved_writes import proved, proving_keeper
from twinhive.core.ports.table_writers import TableWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.statements.table_exports.export_metadata import DescriptionState, description_state
from twinhive.statements.table_exports.exported_table import KeepFiles, PartitionSpec, listed_items
from twinhive.statements.table_exports.import_registration import Registration
from twinhive.statements.table_exports.import_target import ImportTarget
from twinhive.statements.table_exports.import_work import ImportWork, Placed, placed_in, read_placed, write_placed
from twinhive.statements.table_exports.listed_files import ListingSums, NewList, counted
from twinhive.statements.table_exports.table_tree import (
    THREADS,
    TREE,
    Copy,
    TableTree,
    build,
    copy_files,
    is_whole,
    is_work,
    raise_failures,
    take_list,
)


@dataclass(frozen=True)
class Imported:
    """What was imported: partitions (0 for a table without), files and bytes; none were copied of a table in place."""

    table: TableName
    location: str
    partitions: int
    files: int
    bytes: int


@dataclass(frozen=True)
class ImportTools:
    """What an import runs with; `files` and `leases` are of the table's file system, `holder` says who runs it."""

    metastore: TableWriter
    exported: FileReader
    files: FileWriter
    leases: LeaseKeeper
    holder: Mapping[str, str]
    copy: Copy
    say: Say


@dataclass(frozen=True)
class Importing:
    """An import that was looked at: of which export, known by its description, what becomes what."""

    directory: str
    described_as: DescriptionState | None
    spec: PartitionSpec
    target: ImportTarget

    def plan(self, metastore: MetastoreReader, exported: FileReader, files: FileReader) -> list[str]:
        """Return what `run` would do. Raises what it would raise; nothing is changed."""
        target = self.target
        new = f"{'external' if target.external else 'managed'} table {target.name} at {target.location}"
        partitions = [f"{len(target.described.partitions):,} partitions would be added"]
        counts = partitions if target.is_partitioned else []
        if target.in_place:
            target.refuse_partitions(metastore, ())
            return [f"would make {new}, over the files of the export: nothing is copied", *counts]
        if problem := foreign(files, self._work.directory, self._work.mark, is_work):
            raise problem
        tree = self._tree(exported, counted)
        target.refuse_there(metastore, files, read_placed(files, tree.place), ())
        into = f"into table {target.name} at {target.location}" if target.there else f"as a new {new}"
        copied = f"{tree.listed.files:,} files with {readable(tree.listed.bytes)} would be copied"
        return [f"would import {self.directory} {into}", *counts, copied]

    def run(self, tools: ImportTools) -> Imported:
        """Import it. Raises ActNow with nothing changed, TryAgain with what is done kept for another try."""
        target = self.target
        if target.in_place:
            self._register_in_place(tools)
            return Imported(target.name, target.location, len(target.described.partitions), 0, 0)
        leases = proving_keeper(tools.leases)
        tools = replace(tools, leases=leases, metastore=proved(tools.metastore, leases))
        with self._work.under_way(tools.files, leases, tools.holder) as (owned, lease):
            listed = self._brought_over(tools, owned, lease)
        partitions = len(target.described.partitions)
        return Imported(target.name, target.location, partitions, listed.files, listed.bytes)

    def _brought_over(self, tools: ImportTools, owned: Owned, lease: Lease) -> ListingSums:
        target, files, label = self.target, tools.files, f"import into {self.target.name}"
        listing = NewList(owned)
        try:
            tree = self._tree(tools.exported, listing.write)
            self._take_back_own(tools, owned, tree)
            living = self._work.others(
                files, tools.leases, tools.holder, lambda place, placed: self._take_back(tools, place, placed)
            )
            placed = self._placed_before(tools, owned, tree)
            target.refuse_there(tools.metastore, files, placed, living)
        except TwinhiveError:
            with suppress(TwinhiveError):
                listing.discard()
            raise
        take_list(owned, tree, listing)
        if not placed:
            tools.say(f"{target.name}: {tree.listed.files:,} files to copy")
            raise_failures(label, copy_files(files, tree, tools.copy, label))
            build(files, tree, tools.copy, label)
            self._refuse_replaced(tools.exported)
            lease.confirm()
            placed = self._keep_placed(owned, tree)

        def put(names: Sequence[str]) -> None:
            lease.confirm()
            in_threads(lambda name: self._put(files, tree, name, placed), names, THREADS)

        registration = Registration(target, tools.metastore, files, placed)
        if target.is_partitioned:
            registration.add_partitions(put)
        else:
            registration.fill_table(put, tree)
        return tree.listed

    def _register_in_place(self, tools: ImportTools) -> None:
        target = self.target
        names = list(target.described.directories)
        statuses = in_threads(tools.exported.status, map(target.place_of, names), THREADS)
        found = dict(zip(names, statuses, strict=True))
        self._refuse_replaced(tools.exported)
        self._refuse_lacking([target.place_of(name) for name, status in found.items() if status is None])
        target.refuse_partitions(tools.metastore, ())
        placed = {name: status.file_id for name, status in found.items() if status is not None}
        Registration(target, tools.metastore, tools.files, placed).add_partitions()
        self._refuse_replaced(tools.exported)

    def _put(self, files: FileWriter, tree: TableTree, name: str, placed: Placed) -> None:
        """Rename a directory to its place, where nothing or an empty directory is."""
        source, place = join(tree.path, name), self.target.place_of(name)
        there = files.status(place)
        if there is not None and there.file_id == placed[name]:
            return
        files.make_directories(directory_around(place))
        if not (_is_free(files, place, there) and files.rename(source, place)):
            raise TryAgain(
                f"a directory of {self.target.name} could not be put at {place}",
                found="something that came there meanwhile, or another import of the same",
                expected="nothing there",
                next_step="look what it is; then run the statement again",
            )

    def _take_back_own(self, tools: ImportTools, owned: Owned, tree: TableTree) -> None:
        """Take back what an earlier try of this statement has placed of another state of the export."""
        for place, placed in placed_in(tools.files, owned.directory):
            if place != tree.place:
                self._take_back(tools, place, placed)
                owned.discard(place)

    def _placed_before(self, tools: ImportTools, owned: Owned, tree: TableTree) -> Placed:
        """Return what an earlier try has placed, or was about to; nothing where that is gone: then it begins anew."""
        files, placed = tools.files, read_placed(tools.files, tree.place)
        for name in self.target.gone(files, placed, placed):
            there = files.status(join(tree.path, name))
            if there is None or there.file_id != placed[name]:
                self._take_back(tools, tree.place, placed)
                owned.discard(tree.place)
                return {}
        return placed

    def _take_back(self, tools: ImportTools, place: str, placed: Placed) -> bool:
        """Put back into its tree what an import has placed that was cut off before it showed it.

        False where some of it shows, and it had not ended: the same statement, run again, goes on with that.
        """
        target = self.target
        there = placed.keys() - set(target.gone(tools.files, placed, placed))
        used = target.used(tools.metastore, there) & there
        proving_keeper(tools.leases).prove()
        for name in there - used:
            tools.files.rename(target.place_of(name), join(place, TREE, name))
        return not used or (target.is_partitioned and used == placed.keys())

    def _tree(self, exported: FileReader, keep: KeepFiles) -> TableTree:
        """List the files of the export that was described. Raises Missing, and TryAgain where it is another one."""
        target, gone = self.target, list[str]()
        places = {name: join(self.directory, name) for name in target.described.directories}
        listed = keep(listed_items(exported, target.name, places, gone.append))
        self._refuse_replaced(exported)
        self._refuse_lacking([places[name] for name in gone])
        content = f"{target.name}\0{target.location}\0".encode() + target.described.encode()
        return TableTree(self._work.directory, tuple(places), listed, content)

    def _refuse_lacking(self, gone: Sequence[str]) -> None:
        if gone:
            raise Missing(
                f"the export {self.directory} is not whole",
                found=f"no directory {first_of(sorted(gone), 3)}",
                expected="a directory with the files of the table, or of each partition",
                next_step="export the table again",
            )

    def _refuse_replaced(self, exported: FileReader) -> None:
        """Raise TryAgain where the export is not the one any more whose description was read."""
        now = description_state(exported, self.directory)
        if now != self.described_as:
            raise TryAgain(
                f"the export {self.directory} was replaced while it was imported",
                found=str(now or "no description"),
                expected=f"{self.described_as}, as it was when it was read",
                next_step="run the statement again",
            )

    def _keep_placed(self, owned: Owned, tree: TableTree) -> dict[str, int]:
        """Write down the ids of the directories before the first is renamed: they keep them."""
        files = owned.files
        places = [join(tree.path, name) for name in tree.directories]
        statuses = in_threads(files.status, places, THREADS)
        found = {name: there.file_id for name, there in zip(tree.directories, statuses, strict=True) if there}
        if len(found) < len(places) or not is_whole(files, tree):
            owned.discard(tree.place)
            raise TryAgain(
                f"what was copied for {self.target.name} vanished before it was put in its place",
                found=f"something else at {tree.path} than the files that were listed",
                expected="what this import has written",
                next_step="run the statement again; let one run at a time import the same",
            )
        write_placed(files, tree.place, found)
        return found

    @property
    def _work(self) -> ImportWork:
        """Where it is put together. The same statement, run again, finds the same."""
        target = self.target
        said = sorted((key.lower(), value) for key, value in self.spec.items())
        return ImportWork(target.name, target.location, f"{self.directory} {said} {target.external}")


def _is_free(files: FileWriter, place: str, there: FileStatus | None) -> bool:
    """Take an empty directory out of the way; False for one that has become anything else."""
    try:
        return there is None or files.delete_file(place)
    except Refused:
        return False
