"""Rename staged copies into the directories of the replica's tables."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from twinhive.copying.items import item_of
from twinhive.domain.contents import SourceFile
from twinhive.domain.errors import ActNow
from twinhive.domain.files import ChecksumForm, join, parent
from twinhive.domain.names import TableName
from twinhive.ports import FileWriter

_THREADS = 8

Move = tuple[SourceFile, str]


class Placing:
    """Place files of events. A file that is there already, and the same, was placed by an earlier try."""

    def __init__(self, files: FileWriter, staging: str) -> None:
        self._files = files
        self._staging = staging
        self._made: set[str] = set()

    def place(self, table: TableName, directory: str, files: Iterable[SourceFile]) -> None:
        """Make a directory and rename the copies of `files` into it. Raises ActNow when one is lost."""
        self.place_all(table, [(directory, tuple(files))])

    def place_all(self, table: TableName, contents: Sequence[tuple[str, tuple[SourceFile, ...]]]) -> None:
        """Place the files of several directories, several at a time."""
        moves = [(file, join(directory, file.relative)) for directory, files in contents for file in files]
        directories = {directory for directory, _ in contents} | {parent(target) for _, target in moves}
        self._each(self._files.make_directories, sorted(directories - self._made))
        self._made |= directories
        self._each(lambda move: self._move(table, *move), moves)

    def append_all(self, table: TableName, contents: Sequence[tuple[str, tuple[SourceFile, ...]]]) -> None:
        """Place files into directories that readers see: no file of an event before all files of earlier ones."""
        for event_id in sorted({file.event_id for _, files in contents for file in files}):
            of_event = ((directory, _of_event(files, event_id)) for directory, files in contents)
            self.place_all(table, [(directory, files) for directory, files in of_event if files])

    def _each(self, do, things: Sequence) -> None:  # type: ignore[no-untyped-def,type-arg]
        if len(things) < 2:
            for thing in things:
                do(thing)
            return
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(do, things))

    def _move(self, table: TableName, file: SourceFile, target: str) -> None:
        staged = item_of(file, table, None).staged_path(self._staging)
        if self._files.rename(staged, target):
            return
        found = self._files.status(target)
        if found is not None and self._is(target, file, found.length):
            return
        raise ActNow(
            f"a file of table {table} cannot be placed: {target}",
            found="nothing there, and no staged copy of it"
            if found is None
            else f"another file of {found.length} bytes",
            expected=f"the copy of {file.path} (event {file.event_id}, checksum {file.checksum})",
            next_step="clear the failed copy task of this run with all tasks after it"
            if found is None
            else f"somebody else writes to {parent(target)}; move that file away, then clear the task apply",
        )

    def _is(self, path: str, file: SourceFile, length: int) -> bool:
        if file.checksum is None:
            return length == file.length
        return self._files.checksum(path, ChecksumForm.IDENTITY) in (file.checksum, None)


def _of_event(files: tuple[SourceFile, ...], event_id: int) -> tuple[SourceFile, ...]:
    return tuple(file for file in files if file.event_id == event_id)
