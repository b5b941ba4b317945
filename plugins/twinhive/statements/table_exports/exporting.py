"""EXPORT TABLE: a directory with the table as of one event, that is there whole or not at all.

Unlike Hive's, which writes its description first and file after file into the directory: here it is put together
beside that, and renamed when all is in it. Cut off anywhere, the same statement goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, foreign
from twinhive.core.model.errors import ActNow, AlreadyThere, TryAgain, Unexplained
from twinhive.core.model.files import FileStatus, base_name, directory_around, is_below, join, qualified, short_hash
from twinhive.core.model.human_readable import Say, readable
from twinhive.core.model.names import TableName
from twinhive.core.ports import FileReader, FileWriter, MetastoreReader, children
from twinhive.statements.table_exports.export_metadata import METADATA, Described, read_description
from twinhive.statements.table_exports.exported_table import KeepFiles, TableFiles, read_table_files
from twinhive.statements.table_exports.listed_files import NewList, counted
from twinhive.statements.table_exports.table_tree import (
    Copy,
    TableTree,
    build,
    claim_work,
    copy_files,
    has_moved,
    is_whole,
    is_work,
    raise_failures,
    take_list,
)

_MOST_ROUNDS = 5


@dataclass(frozen=True)
class Exported:
    """What an export holds: partitions (0 for a table without), files, bytes, as of an event of the source's log."""

    directory: str
    event_id: int
    partitions: int
    files: int
    bytes: int


@dataclass(frozen=True)
class ExportTable:
    """Export a table, or its partitions with some values, to a directory, a full URI.

    `overwrites`: an export that is there is replaced; anything else is refused as ever.
    """

    table: TableName
    directory: str
    spec: Mapping[str, str] = field(default_factory=dict)
    overwrites: bool = False

    def plan(self, metastore: MetastoreReader, source: FileReader, target: FileReader) -> list[str]:
        """Return what `run` would do. Raises what it would raise; nothing is changed."""
        there = self._refuse_target(target)
        if problem := foreign(target, self.work, self._mark, is_work):
            raise problem
        found = self._read(metastore, source, counted)
        sums = self._sums(found)
        what = f"{sums.partitions:,} partitions, " if found.described.table.partition_keys else ""
        replaced = [f"would replace the export that is at {self.directory}"] if there else []
        return [
            *replaced,
            f"would export {self.table} as of event {sums.event_id} to {self.directory}",
            f"{what}{sums.files:,} files with {readable(sums.bytes)} would be copied",
        ]

    def run(self, metastore: MetastoreReader, source: FileReader, target: FileWriter, copy: Copy, say: Say) -> Exported:
        """Export it. Raises ActNow with nothing changed, TryAgain with the copies kept for another try."""
        self._refuse_target(target)
        self._read_around(target)
        owned, label = claim_work(target, self.work, self._mark), f"export of {self.table}"
        for _ in range(_MOST_ROUNDS):
            listing = NewList(owned)
            found = self._read(metastore, source, listing.write)
            tree = TableTree(self.work, tuple(found.places), found.listed, found.described.encode())
            take_list(owned, tree, listing)
            say(f"{self.table} as of event {found.event_id}: {found.listed.files:,} files to copy")
            outcome = copy_files(target, tree, copy, label)
            if not has_moved(outcome):
                raise_failures(label, outcome)
                build(target, tree, copy, label)
                target.write(join(tree.path, METADATA), found.described.encode())
                shown = self._show(target, owned, tree)
                self._finish(target, owned, shown)
                return self._sums(found)
            say(f"{self.table} has changed while it was copied; it is read again")
        raise TryAgain(
            f"{self.table} changes faster than it can be copied",
            found=f"files that were gone or changed in each of {_MOST_ROUNDS} rounds",
            expected="a round without",
            next_step="run the statement again when less is written; what is copied is kept",
        )

    def _read(self, metastore: MetastoreReader, source: FileReader, keep: KeepFiles) -> TableFiles:
        def refuse(described: Described, places: Mapping[str, str]) -> None:
            table = described.table
            for name, place in {table.name.table: qualified(table.location or "", source.root), **places}.items():
                if self.directory == place or is_below(self.directory, place) or is_below(place, self.directory):
                    raise ActNow(
                        f"{self.table} cannot be exported to {self.directory}",
                        found=f"its own files lie at {place} ({name})",
                        expected="a directory apart from the table's",
                        next_step="name another directory",
                    )

        return read_table_files(metastore, source, self.table, self.spec, refuse, keep)

    def _show(self, target: FileWriter, owned: Owned, tree: TableTree) -> int:
        """Rename the tree to its directory, and return its file id; what is replaced is out of the way meanwhile."""
        # An earlier try may have been cut off after it had moved the old export aside.
        self._take_replaced(target, owned)
        if not is_whole(target, tree):
            owned.discard(tree.place)
            raise self._another_came("another export of the same, which has taken what was put together")
        shown, replaced = _file_id(target, tree.path), self._moved_aside(target)
        if shown is None or not target.rename(tree.path, self.directory):
            if self._is_aside(target, replaced):
                target.rename(self._aside, self.directory)
            raise self._another_came("something that came there meanwhile, or another export to the same directory")
        if self._is_aside(target, replaced):
            self._take_replaced(target, owned)
        return shown

    def _moved_aside(self, target: FileWriter) -> int | None:
        """Make room at the directory; return the file id of the export that was moved aside, None without one."""
        if self._refuse_target(target):
            if not target.rename(self.directory, self._aside):
                raise self._in_the_way("something that could not be moved aside")
            return _file_id(target, self._aside)
        if target.status(self.directory) is not None:
            target.delete_file(self.directory)
        return None

    def _is_aside(self, target: FileReader, replaced: int | None) -> bool:
        """True where what this export has moved aside still is: another one moves what it replaces there, too."""
        return replaced is not None and _file_id(target, self._aside) == replaced

    def _finish(self, target: FileWriter, owned: Owned, shown: int) -> None:
        """Clean up, unless another export has just moved this one aside: it goes on with what is in the work."""
        if _file_id(target, self._aside) is None:
            owned.discard()
        if _file_id(target, self.directory) != shown:
            raise self._another_came("another export to the same directory, which replaces this one")

    @property
    def _aside(self) -> str:
        """Where what is replaced lies, by whichever export, until it is taken away."""
        return join(self.work, "replaced")

    def _take_replaced(self, target: FileReader, owned: Owned) -> None:
        """Take what was replaced to the trash, if it is there: people may miss it, as nothing else in the work."""
        if target.status(self._aside) is not None:
            owned.take_away(self._aside)

    def _another_came(self, found: str) -> TryAgain:
        return TryAgain(
            f"{self.table} was copied, and could not be put at {self.directory}",
            found=found,
            expected="nothing there",
            next_step="look what it is; then run the statement again",
        )

    def _refuse_target(self, target: FileReader) -> bool:
        """Return whether an export is there that is to be replaced. Raises AlreadyThere for anything else there."""
        there = target.status(self.directory)
        if there is None:
            return False
        if not there.is_directory:
            raise self._in_the_way("a file")
        inside = children(target, there.path)
        if not inside:
            return False
        is_export = self._is_export(target, inside)
        if not (self.overwrites and is_export):
            found = f"{len(inside)} files or directories, and no export, or not that alone"
            raise self._in_the_way("an export" if is_export else found)
        return True

    def _is_export(self, target: FileReader, inside: Sequence[FileStatus]) -> bool:
        """True for an export and nothing beside it: other things have files called `_metadata` too, as Parquet's."""
        try:
            described = read_description(target, self.directory)
        except Unexplained:
            raise
        except ActNow:
            return False
        known = {METADATA, *(name.partition("/")[0] for name in described.directories)}
        return all(base_name(child.path) in known for child in inside)

    def _in_the_way(self, found: str) -> AlreadyThere:
        return AlreadyThere(
            f"{self.table} cannot be exported to {self.directory}",
            found=found,
            expected="nothing there, or an empty directory",
            next_step="name another directory; WITH ('overwrite'='true') replaces an export, and nothing else",
        )

    def _read_around(self, target: FileWriter) -> None:
        around = directory_around(self.directory)
        if (there := target.status(around)) is None:
            target.make_directories(around)
        elif not there.is_directory:
            raise self._in_the_way(f"{around} is a file")

    def _sums(self, found: TableFiles) -> Exported:
        partitions = len(found.described.partitions)
        return Exported(self.directory, found.event_id, partitions, found.listed.files, found.listed.bytes)

    @property
    def work(self) -> str:
        """What the export is put together in: beside its directory, so that one rename shows it."""
        return join(directory_around(self.directory), f".twinhive-export-{short_hash(self.directory)}")

    @property
    def _mark(self) -> Mark:
        return Mark(Purpose.EXPORT, self.directory)


def _file_id(files: FileReader, path: str) -> int | None:
    """Return what tells a directory from another one of its name, None where nothing is."""
    there = files.status(path)
    return None if there is None else there.file_id
