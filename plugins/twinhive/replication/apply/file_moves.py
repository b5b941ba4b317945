"""Rename staged copies into the directories of the replica's tables."""

from collections.abc import Callable, Iterable, Sequence

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import ChecksumForm, FileStatus, parent
from twinhive.core.model.names import TableName
from twinhive.core.model.text import Clear
from twinhive.core.model.untrusted_paths import place_below
from twinhive.core.ports import FileReader, FileWriter, rename_or_make
from twinhive.core.threads.parallel_map import Threads
from twinhive.replication.apply.copy_identity import OwnCopies
from twinhive.transfer.staged.ownership import Ownership, directories_around, first_of_each
from twinhive.transfer.staged.staged_files import CopyItem

_THREADS = 8

Contents = tuple[str, tuple[SourceFile, ...]]
"""A directory, and the files that it gets."""


class Placing:
    """Place files of events. A file that is there already, and the same, was placed by an earlier try."""

    def __init__(
        self, files: FileWriter, source_files: FileReader, staging: str, ownership: Ownership | None = None
    ) -> None:
        self._files = files
        self._own = OwnCopies(files, source_files, staging)
        self._staging = staging
        self._made: set[str] = set()
        self._placed: set[str] = set()
        self._ownership = ownership
        self._origins: dict[str, str] = {}
        self._given: set[str] = set()
        self._threads = Threads(_THREADS)

    def comes_from(self, directory: str | None, origin: str | None) -> None:
        """Say which directory of the source a new one stands for: it gets that one's owner when it is made."""
        if self._ownership and directory and origin:
            self._origins[directory] = origin

    def place_ahead(self, contents: Sequence[Contents], own: Callable[[str], None]) -> None:
        """Place files of many actions into directories that nothing registered uses yet.

        `own` marks a directory before any file is in it: one whose table is frozen by then is known as ours.
        A file without a staged copy is left to the action that needs it, which says what is wrong. So is all of it when
        something is refused here: each action makes its own directories then, and nobody pays for another's.
        """
        moves = _moves(contents)
        directories = _directories(contents, moves)
        self._made = set()
        self._placed.clear()
        self._threads.each(self._files.make_directories, sorted(directories))
        self._threads.each(own, sorted({directory for directory, _ in contents}))
        self._give(contents, directories)
        self._made = directories
        self._threads.each(lambda move: self._move_ahead(*move), moves)

    def _move_ahead(self, file: SourceFile, target: str) -> None:
        if self._files.rename(self._staged(file), target):
            self._placed.add(target)

    def place(self, table: TableName, directory: str, files: Iterable[SourceFile]) -> None:
        """Make a directory and rename the copies of `files` into it. Raises ActNow when one is lost."""
        self.place_all(table, [(directory, tuple(files))])

    def place_all(self, table: TableName, contents: Sequence[Contents]) -> None:
        """Place the files of several directories, several at a time."""
        moves = _moves(contents)
        directories = _directories(contents, moves)
        new = directories - self._made
        self._threads.each(self._files.make_directories, sorted(new))
        self._give(contents, new)
        self._made |= directories
        self._threads.each(lambda move: self._move(table, *move), moves)

    def append_all(self, table: TableName, contents: Sequence[Contents]) -> None:
        """Place files into directories that readers see: no file of an event before all files of earlier ones."""
        self._made |= {directory for directory, _ in contents}
        for event_id in sorted({file.event_id for _, files in contents for file in files}):
            of_event = ((directory, _of_event(files, event_id)) for directory, files in contents)
            self.place_all(table, [(directory, files) for directory, files in of_event if files])

    def _give(self, contents: Sequence[Contents], new: set[str]) -> None:
        """Give new directories the owner of those that their files come from, or of which it was said."""
        if self._ownership is None:
            return
        around = (
            pair for file, target in _moves(contents) for pair in directories_around(file.path, file.relative, target)
        )
        found = {target: origin for target, origin in first_of_each(around).items() if target in new}
        found |= {directory: self._origins[directory] for directory, _ in contents if directory in self._origins}
        wanted = sorted((origin, target) for target, origin in found.items() if target not in self._given)
        ownership = self._ownership
        self._threads.each(lambda pair: ownership.give(*pair), wanted)
        self._given |= {target for _, target in wanted}

    def _move(self, table: TableName, file: SourceFile, target: str) -> None:
        # A directory in use is taken to be there: it is missing only where somebody has removed it.
        if target in self._placed or rename_or_make(self._files, self._staged(file), target):
            return
        found = self._files.status(target)
        if found is not None and self._is(found, file):
            return
        raise ActNow(
            f"a file of table {table} cannot be placed: {target}",
            found="nothing there, and no staged copy of it"
            if found is None
            else f"another file of {found.length} bytes",
            expected=f"the copy of {file.path} (event {file.event_id}, checksum {file.checksum})",
            next_step=Clear("the failed copy task of this run with all tasks after it")
            if found is None
            else f"somebody else writes to {parent(target)}; move that file away, then " + Clear("the task apply"),
        )

    def _staged(self, file: SourceFile) -> str:
        return CopyItem.of(file).staged_path(self._staging)

    def _is(self, there: FileStatus, file: SourceFile) -> bool:
        if file.checksum is None:
            return there.length == file.length
        known = self._files.checksum(there.path, ChecksumForm.IDENTITY) in (file.checksum, None)
        return known or self._own.is_copy(there, file, self._staged(file))


def _moves(contents: Sequence[Contents]) -> list[tuple[SourceFile, str]]:
    return [(file, place_below(directory, file.relative)) for directory, files in contents for file in files]


def _directories(contents: Sequence[Contents], moves: Sequence[tuple[SourceFile, str]]) -> set[str]:
    return {directory for directory, _ in contents} | {parent(target) for _, target in moves}


def _of_event(files: tuple[SourceFile, ...], event_id: int) -> tuple[SourceFile, ...]:
    return tuple(file for file in files if file.event_id == event_id)
