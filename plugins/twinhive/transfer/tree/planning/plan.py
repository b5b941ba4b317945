"""All that a copy is going to do, by phase, in files: ten million actions need no more memory than a few."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType

from twinhive.core.model.files import is_below
from twinhive.core.model.table_formats import DELTA_LOG, is_of_log, table_of_log
from twinhive.transfer.tree.listing.spool import Spool
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction

EXAMPLES = 1000
"""So many conflicts and unreadable paths are kept, and all of them counted."""

LogFile = tuple[str, int, int, int]
"""A file in a table's log, as the source lists it: relative path, length, time, id."""

_NOT_ON_FILES = (ActionKind.SKIP, ActionKind.DELETE, ActionKind.MAKE_DIRECTORY)
_SMALLEST_CLASS_BITS = 16  # below 64 KiB only the number of files counts
_CLASSES = 13  # each holds files up to four times as large as the one before, the last one all from 256 GiB


@dataclass(frozen=True)
class Conflict:
    """A path that cannot be made equal: what each side has there, and what a person can do."""

    path: str
    source: str
    target: str
    next_step: str


@dataclass(frozen=True)
class Unreadable:
    """A directory of the source that could not be listed, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Move:
    """A rename at the target before anything is copied. Paths are relative, numbers are unique.

    None for its target: a deletion of what something else takes the name of.
    """

    number: int
    relative: str
    target: str | None


@dataclass
class Totals:
    """What a plan holds.

    files          by kind, those that stay as they are included; of DELETE also directories, each with all below it
    new_directories, directories   those to be made, and all that were listed at the source
    vanished       directories of the source that were gone when they were to be listed
    """

    files: dict[ActionKind, Tally] = field(default_factory=lambda: {kind: Tally() for kind in ActionKind})
    new_directories: int = 0
    directories: int = 0
    excluded: int = 0
    vanished: int = 0
    conflicts: int = 0
    unreadable: int = 0

    @property
    def on_files(self) -> Tally:
        """What `Plan.copies` and `Plan.logs` hold."""
        total = Tally()
        for kind, tally in self.files.items():
            if kind not in _NOT_ON_FILES:
                total += tally
        return total

    @property
    def deletes(self) -> int:
        """Paths to be deleted at the target."""
        return self.files[ActionKind.DELETE].files + self.files[ActionKind.DELETE].directories


class Plan:
    """What is to be done. Planning adds to it; then each phase is read, in this order:

    moves, leftovers, directories, copies, logs, attributes, deletes.

    Of files in the logs of tables only those are taken that are `known`, None: all. `seen` are those that there were.
    `written` are the directories of tables whose logs have others: nothing is deleted there, for what the newest
    version does not name may be named by the newest that the target gets.
    """

    def __init__(self, known: "frozenset[LogFile] | None" = None) -> None:
        self.totals = Totals()
        self.seen: set[LogFile] = set()
        self.written: set[str] = set()
        self._known = known
        self.conflicts: list[Conflict] = []
        self.unreadable: list[Unreadable] = []
        self.unreadable_roots: list[Unreadable] = []
        self.emptied: list[str] = []
        """Sources without any content, whose copies have something to delete."""
        self.moves: tuple[Move, ...] = ()
        """In the order in which they are moved aside: what lies deeper comes first."""
        self.replaced: dict[str, FileAction] = {}
        """Directories that new ones of their names take the places of, by their paths; not more than a difference has.
        """
        self._open = ExitStack()
        self._leftovers = self._spool()
        self._new_roots = self._spool()
        self._directories = self._spool()
        self._by_size = [self._spool() for _ in range(_CLASSES)]
        self._logs: list[FileAction] = []
        self._attributes = self._spool()
        self._deletes = self._spool()

    def __enter__(self) -> "Plan":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delete the temporary files."""
        self._open.close()

    @property
    def placings(self) -> list[Move]:
        """The moves that are renames, in the order in which they are moved into place: parents come first."""
        return sorted((move for move in self.moves if move.target is not None), key=lambda move: move.target or "")

    @property
    def clears_names(self) -> bool:
        """True when something is deleted because something else takes its name."""
        return bool(self.replaced) or any(move.target is None for move in self.moves)

    @property
    def changes(self) -> int:
        """How many things are to be done."""
        spools = (self._leftovers, self._directories, *self._by_size, self._attributes, self._deletes)
        return len(self.moves) + len(self.replaced) + len(self._logs) + sum(map(len, spools))

    def leftovers(self) -> Iterator[FileAction]:
        """Yield what an earlier run has left in `Places.tree` and is not wanted: deleted for good, and first."""
        return map(FileAction.from_line, self._leftovers)

    def new_roots(self, *, of_logs: bool | None = None) -> Iterator[str]:
        """Yield the relative paths of the topmost new directories, each renamed into place when it is complete.

        They are those of logs, or all others, or both.
        """
        return (root for root in map(json.loads, self._new_roots) if of_logs in (None, is_of_log(root)))

    def directories(self) -> Iterator[FileAction]:
        """Yield the directories to be made, parents first."""
        return map(FileAction.from_line, self._directories)

    def copies(self) -> Iterator[str]:
        """Yield the lines of all actions on files but those of `logs`, about the largest first."""
        for spool in reversed(self._by_size):
            yield from spool

    def logs(self) -> Iterator[str]:
        """Yield the lines of actions on files in logs that readers see, in the order in which the source got them."""
        for action in sorted(self._logs, key=_log_order):
            yield action.to_line()

    def attributes(self) -> Iterator[FileAction]:
        """Yield the directories, new ones as well, whose attributes are to be set: what lies deeper comes first."""
        return map(FileAction.from_line, reversed(self._attributes))

    def deletes(self, *, of_logs: bool | None = None) -> Iterator[FileAction]:
        """Yield what is to be deleted at the target: topmost paths, each with all below it; as `new_roots`."""
        for action in map(FileAction.from_line, self._deletes):
            if of_logs in (None, is_of_log(action.relative)) and not self._is_written(action.relative):
                yield action

    def add_file(self, action: FileAction) -> None:
        """Add something to do with a file of the source."""
        length = action.length
        if is_of_log(action.relative):
            if self._known is not None and _log_file(action) not in self._known:
                self.written.add(table_of_log(action.relative))
                return
            self.seen.add(_log_file(action))
        self.totals.files[action.kind].add(length)
        if action.new_root is None and is_of_log(action.relative):
            self._logs.append(action)
            return
        size = 0 if action.kind is ActionKind.ATTRIBUTES else (length.bit_length() - _SMALLEST_CLASS_BITS + 1) // 2
        self._by_size[min(max(size, 0), _CLASSES - 1)].add(action.to_line())

    def add_directory(self, action: FileAction) -> None:
        """Add a directory to be made, and renamed into place when it is its own new root."""
        self.totals.new_directories += 1
        self._directories.add(action.to_line())
        if action.new_root and action.new_root == action.relative:
            self.add_new_root(action.relative)

    def add_new_root(self, relative: str) -> None:
        """Add a topmost new directory; '' is the base."""
        self._new_roots.add(json.dumps(relative))

    def add_attributes(self, action: FileAction) -> None:
        """Add a directory whose attributes are to be set; a parent is added before what is below it."""
        self._attributes.add(action.to_line())

    def add_delete(self, action: FileAction) -> None:
        """Add a path to be deleted: at the target, or, with a new root, what an earlier run has left."""
        if action.new_root is not None:
            self._leftovers.add(action.to_line())
            return
        found = action.target
        self.totals.files[ActionKind.DELETE].add(
            found.length if found else 0, is_directory=bool(found and found.is_directory)
        )
        self._deletes.add(action.to_line())

    def add_replaced(self, action: FileAction) -> None:
        """Add a directory that stays until a new one of its name is complete, and is deleted then."""
        self.replaced[action.relative] = action

    def add_conflict(self, conflict: Conflict) -> None:
        """Add a path that cannot be made equal."""
        self.totals.conflicts += 1
        if len(self.conflicts) < EXAMPLES:
            self.conflicts.append(conflict)

    def add_unreadable(self, path: str, reason: str, *, is_root: bool = False) -> None:
        """Add a directory of the source, or a source itself, that could not be listed."""
        self.totals.unreadable += 1
        if is_root:
            self.unreadable_roots.append(Unreadable(path, reason))
        if len(self.unreadable) < EXAMPLES:
            self.unreadable.append(Unreadable(path, reason))

    def _is_written(self, relative: str) -> bool:
        return any(not table or is_below(relative, table) for table in self.written)

    def _spool(self) -> Spool:
        spool = Spool()
        self._open.callback(spool.close)
        return spool


def _log_file(action: FileAction) -> LogFile:
    assert action.source is not None
    return action.relative, action.source.length, action.source.modified_ms, action.source.file_id


def _log_order(action: FileAction) -> tuple[int, int, str]:
    """Return the key by which files of logs are sorted: as their names say, or, where names do not say it, by time.

    Delta's versions have ascending names, its checkpoints those of their versions, and what a checkpoint names lies
    deeper; `_last_checkpoint` comes after all.
    """
    assert action.source is not None
    relative = action.relative
    if DELTA_LOG in relative.split("/"):
        return 0, -relative.count("/"), relative
    return 1, action.source.modified_ms, relative
