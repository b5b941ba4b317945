"""Let the metastore know of what an import has put in its places.

What it is told of was looked at in the call before, and is once more afterwards: an import that was frozen may have
lost its directories to another one. Then it takes back what it has just told, and does not end well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import AlreadyThere, TryAgain
from twinhive.core.model.files import ChecksumForm, join
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.objects import Partition
from twinhive.core.ports import FileWriter, children
from twinhive.core.ports.proved_writes import unproved
from twinhive.core.ports.table_writers import LoggedInsert, TableWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.statements.table_exports.export_metadata import DATA
from twinhive.statements.table_exports.import_compatibility import refuse_unfit
from twinhive.statements.table_exports.import_target import ImportTarget, kept
from twinhive.statements.table_exports.import_work import Placed
from twinhive.statements.table_exports.table_tree import THREADS, TableTree, all_files

_COUNTED = ("numFiles", "totalSize", "numRows", "rawDataSize", "numFilesErasureCoded")
Put = Callable[[Sequence[str]], None]
"""Puts directories at their places, if they are not there yet."""


@dataclass(frozen=True)
class Registration:
    """Tell a metastore of directories that are `placed`, or are about to be."""

    target: ImportTarget
    metastore: TableWriter
    files: FileWriter
    placed: Placed

    def add_partitions(self, put: Put = lambda names: None) -> None:
        """Let partitions be there, some hundred a call, but for those that an earlier try has added."""
        self._create()
        target = self.target
        for some in target.in_pieces():
            put(list(some))
            there = {target.described.name_of(one): one for one in self.metastore.partitions(target.name, list(some))}
            if elsewhere := [name for name, one in there.items() if not target.lies_at(one, name)]:
                raise target.already_there(elsewhere)
            added = [target.new_partition(name, one) for name, one in some.items() if name not in there]
            self._refuse_gone(target.gone(self.files, self.placed, some))
            if added:
                self.metastore.add_partitions(added)
            gone = target.gone(self.files, self.placed, some)
            self._drop_empty([one for one in added if target.described.name_of(one) in gone])
            self._refuse_gone(gone)

    def fill_table(self, put: Put, tree: TableTree) -> None:
        """Let the rows of a table be there: of a new one before it is, of an empty one with events that say so."""
        target = self.target
        if target.there is not None:
            self._count()
        put([DATA])
        self._refuse_gone(target.gone(self.files, self.placed, [DATA]))
        self._create()
        if target.there is not None:
            self._tell(tree)
        gone = target.gone(self.files, self.placed, [DATA])
        if gone and target.there is None and self._is_empty(DATA):
            unproved(self.metastore).drop_table(target.name, delete_data=False)
        self._refuse_gone(gone)

    def _create(self) -> None:
        """Create the table, unless it is there; another import of partitions into the same may have been faster."""
        target = self.target
        if target.there is not None:
            return
        try:
            self.metastore.create_table(target.new_table)
        except AlreadyThere:
            there = self.metastore.table(target.name)
            if there is None or not there.partition_keys or not target.lies_at(there):
                raise
            refuse_unfit(target.described.table, there, external=target.external, location=None)

    def _count(self) -> None:
        """Say how many rows there will be: who trusts the old counts would answer count(*) by them."""
        target = self.target
        there = self.metastore.table(target.name)
        if there is None or not target.lies_at(there):
            raise TryAgain(
                f"{target.name} has changed since the import looked at it",
                found=f"it lies at {there.location}" if there else "no such table",
                expected=f"the table at {target.location}",
                next_step="run the statement again",
            )
        counts = {key: value for key, value in target.described.table.parameters.items() if key in _COUNTED}
        self.metastore.alter_table(target.name, there.with_parameters({**kept(there.parameters), **counts}))

    def _tell(self, tree: TableTree) -> None:
        """Tell the log of the files, some thousand an event."""

        def logged(path: str) -> tuple[str, str | None]:
            return path, self.files.checksum(path, ChecksumForm.IDENTITY)

        for some in all_files(self.files, tree):
            paths = [join(self.target.location, item.relative) for item in some]
            files = tuple(in_threads(logged, paths, THREADS))
            self.metastore.fire_inserts(self.target.name, [LoggedInsert((), files, replaces=False)])

    def _drop_empty(self, added: Sequence[Partition]) -> None:
        """Take back what was just told of directories that are not there: the call came after the lease was lost."""
        target = self.target
        empty = sorted(name for one in added if self._is_empty(name := target.described.name_of(one)))
        now = {target.described.name_of(one): one for one in self.metastore.partitions(target.name, empty)}
        if names := [name for name, one in now.items() if target.lies_at(one, name)]:
            unproved(self.metastore).drop_partitions(target.name, names, delete_data=False)

    def _is_empty(self, name: str) -> bool:
        """True where no file is at a place; the metastore makes a directory that is not there."""
        return not children(self.files, self.target.place_of(name))

    def _refuse_gone(self, gone: Sequence[str]) -> None:
        if gone:
            raise TryAgain(
                f"{len(gone):,} directories of {self.target.name} are not where this import has put them",
                found=first_of(gone, 3),
                expected="nobody who takes them away",
                next_step="run the statement again; if it is not another import that removes them, end that before",
            )
