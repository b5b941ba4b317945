"""Put a table's files together where nobody looks: copied, verified, and at their names below one directory.

A directory of work bears our mark. In it are `base`, verified copies named by what they are, and `<digest>/tree`, the
directories of the export or of the table, by the digest of all that is to be in them. So another try goes on where one
was cut off, and never with what something else has left.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from twinhive.core.model.errors import TryAgain
from twinhive.core.model.files import join, parent
from twinhive.core.model.untrusted_paths import place_below
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.threads.parallel_map import in_threads
from twinhive.transfer.engine.failure_kind import Cure
from twinhive.transfer.staged.batch_result import failed_copy
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.listing import list_files
from twinhive.transfer.staged.staged_files import CopyItem

THREADS = 16

Copy = Callable[[Sequence[CopyItem], str, str], CopyOutcome]
"""Copies items into a staging directory, for work of this name; failures are part of the outcome."""


@dataclass(frozen=True)
class TableTree:
    """Directories that are put together in a directory of work: their names, and the items that go into them.

    `content` is whatever else makes this tree another one than others.
    """

    work: str
    directories: tuple[str, ...]
    items: tuple[CopyItem, ...]
    content: bytes

    @cached_property
    def place(self) -> str:
        """Where this tree and what is known of it lie."""
        lines = "\n".join(sorted(item.to_line() for item in self.items))
        return join(self.work, hashlib.sha256(self.content + b"\0" + lines.encode()).hexdigest()[:16])

    @property
    def path(self) -> str:
        """The directory around the directories."""
        return join(self.place, "tree")

    @property
    def bytes(self) -> int:
        """How long the files are together."""
        return sum(item.length for item in self.items)


def missing_items(files: FileReader, tree: TableTree) -> list[CopyItem]:
    """Return the items that no earlier try has put in their places."""
    roots = [(one, place_below(tree.path, one)) for one in tree.directories]
    there = {(owner, relative) for owner, relative, _ in list_files(files, roots)}
    return [item for item in tree.items if (item.partition, item.relative) not in there]


def is_whole(files: FileReader, tree: TableTree) -> bool:
    """True when all directories and items are in their places: who builds the same tree may have taken it away."""
    places = [place_below(tree.path, one) for one in tree.directories]
    are_there = all(children is not None for _, children in files.list_directories(places))
    return are_there and not missing_items(files, tree)


def build(files: FileWriter, tree: TableTree, items: Sequence[CopyItem]) -> None:
    """Put copies of items in their places, and make all directories. Raises TryAgain for a copy that is gone."""
    moves = {place_below(tree.path, item.partition or "", item.relative): item for item in items}
    wanted = {parent(target) for target in moves} | {place_below(tree.path, one) for one in tree.directories}
    in_threads(files.make_directories, sorted(wanted), THREADS)
    in_threads(lambda move: _move(files, move[1], tree.work, move[0]), moves.items(), THREADS)


def _move(files: FileWriter, item: CopyItem, work: str, target: str) -> None:
    staged = item.staged_path(work)
    if files.rename(staged, target):
        return
    there = files.status(target)
    if there is None or there.length != item.length:
        raise TryAgain(
            f"the copy of {item.path} vanished before it was put in its place",
            found=f"neither {staged} nor {target}",
            expected="one of them",
            next_step="run the statement again; let one run at a time write to a directory or table",
        )


def has_moved(outcome: CopyOutcome) -> bool:
    """True when files failed only because they are not any more what was listed."""
    return bool(outcome.failures) and all(one.kind.cure is Cure.LIST for one in outcome.failures)


def raise_failures(what: str, outcome: CopyOutcome) -> None:
    """Raise TryAgain or ActNow that names the first failures, if there are any."""
    again = "run the statement again; what is copied is kept"
    if outcome.failures:
        raise failed_copy(what, outcome, f"mend what is said above, then {again}", again, lists_again=True)
