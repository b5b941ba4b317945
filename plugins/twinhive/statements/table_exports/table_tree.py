"""Put a table's files together where nobody looks: copied, verified, and at their names below one directory.

A directory of work bears our mark. In it are `base`, verified copies named by what they are, and for each tree, by the
digest of all that is to be in it, `<digest>/files`, the list of its files in pieces, and `<digest>/tree`, the
directories of the export or of the table. So another try goes on where one was cut off, and never with what something
else has left.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from twinhive.core.directory_marks.directories import Mark, Owned, claim, final_name
from twinhive.core.model.errors import Missing, TryAgain
from twinhive.core.model.files import base_name, join, parent
from twinhive.core.model.untrusted_paths import place_below
from twinhive.core.ports import FileReader, FileWriter, children, rename_into
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.core.threads.parallel_map import in_threads
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.statements.table_exports.listed_files import (
    ListingSums,
    ListingTally,
    NewList,
    done,
    is_done,
    items_of,
    pieces,
)
from twinhive.transfer.engine.failure_kind import Cure
from twinhive.transfer.staged.batch_result import failed_copy
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.listing import list_files
from twinhive.transfer.staged.staged_files import CopyItem

THREADS = 16
TREE = "tree"
_AT_ONCE = 5_000
_FORMAT = b"2"
"""Of what lies in a directory of work; a tree of another one is another tree."""
_OURS = re.compile(
    r"base|tmp|lease|replaced|list-[0-9a-f]{32}|[0-9a-f]{16}|files\.jsonl\.gz|result\.json.*|_nothing_before"
)
"""What a directory of work may hold."""

Copy = Callable[[Iterable[CopyItem], str, str], CopyOutcome]
"""Copies items into a staging directory, for work of this name; failures are part of the outcome."""


@dataclass(frozen=True)
class TableTree:
    """Directories that are put together in a directory of work: their names, and what is listed of their files.

    `content` is whatever else makes this tree another one than others.
    """

    work: str
    directories: tuple[str, ...]
    listed: ListingSums
    content: bytes

    @lazy_property
    def place(self) -> str:
        """Where this tree and what is known of it lie."""
        content = b"\0".join((_FORMAT, self.content, self.listed.digest.encode()))
        return join(self.work, hashlib.sha256(content).hexdigest()[:16])

    @property
    def path(self) -> str:
        """The directory around the directories."""
        return join(self.place, TREE)

    @property
    def lists(self) -> str:
        """Where the list of the files lies."""
        return join(self.place, "files")

    def place_of(self, item: CopyItem) -> str:
        """Return where a file belongs. Raises ActNow for one whose name leads elsewhere."""
        return place_below(self.path, item.partition or "", item.relative)


def claim_work(files: FileWriter, directory: str, mark: Mark) -> Owned:
    """Make a directory of work, or find it. Raises Foreign."""
    try:
        return claim(files, directory, mark, is_work)
    except Missing:  # another run has ended, and removed it in this very moment
        return claim(files, directory, mark, is_work)


def is_work(files: FileReader, directory: str) -> bool:
    """True for a directory that holds what only a copy writes into its work, and nothing else.

    Such a one has lost its mark: another run has ended and removed it, while one that still copied wrote into it.
    """
    names = [final_name(base_name(child.path)) for child in children(files, directory)]
    return bool(names) and all(_OURS.fullmatch(name) for name in names)


def take_list(owned: Owned, tree: TableTree, new: NewList) -> None:
    """Let a list be that of its tree; where an earlier try has left one it goes on with that."""
    files = owned.files
    if files.status(tree.path) is None and any(map(is_done, pieces(files, tree.lists))):
        # What was built has been shown, and taken away since.
        owned.discard(tree.place)
    if not rename_into(files, new.directory, tree.lists):
        new.discard()


def copy_files(files: FileWriter, tree: TableTree, copy: Copy, label: str) -> CopyOutcome:
    """Copy all files that no earlier try has put in their places."""
    outcome = CopyOutcome()
    for piece in pieces(files, tree.lists):
        if not is_done(piece):
            copied = copy(_missing(files, tree, items_of(files, piece)), tree.work, label)
            outcome = CopyOutcome.merged([outcome, copied]).thinned()
    return outcome


def build(files: FileWriter, tree: TableTree, copy: Copy, label: str) -> None:
    """Put copies in their places, and make all directories. Raises TryAgain for a copy that is gone."""
    in_threads(files.make_directories, [place_below(tree.path, one) for one in tree.directories], THREADS)
    for piece in pieces(files, tree.lists):
        if not is_done(piece):
            for some in _chunks(items_of(files, piece)):
                _place(files, tree, some, copy, label)
            files.rename(piece, done(piece))


def is_whole(files: FileReader, tree: TableTree) -> bool:
    """True when all directories and files are in their places: who builds the same tree may have taken it away."""
    gone: list[str] = []
    tally = ListingTally()
    places = [(one, place_below(tree.path, one)) for one in tree.directories]
    for owner, relative, status in list_files(files, places, gone.append):
        tally.name(owner, relative, status.length)
    return not gone and tally.listed.names == tree.listed.names


def all_files(files: FileWriter, tree: TableTree) -> Iterator[list[CopyItem]]:
    """Yield all files of a tree, some at a time."""
    for piece in pieces(files, tree.lists):
        yield from _chunks(items_of(files, piece))


def has_moved(outcome: CopyOutcome) -> bool:
    """True when files failed only because they are not any more what was listed."""
    return bool(outcome.failures) and all(one.kind.cure is Cure.LIST for one in outcome.failures)


def raise_failures(what: str, outcome: CopyOutcome) -> None:
    """Raise TryAgain or ActNow that names the first failures, if there are any."""
    again = "run the statement again; what is copied is kept"
    if outcome.failures:
        raise failed_copy(what, outcome, f"mend what is said above, then {again}", again, lists_again=True)


def _chunks(items: Iterator[CopyItem]) -> Iterator[list[CopyItem]]:
    while some := list(islice(items, _AT_ONCE)):
        yield some


def _missing(files: FileReader, tree: TableTree, items: Iterator[CopyItem]) -> Iterator[CopyItem]:
    is_new = files.status(tree.path) is None
    for some in _chunks(items):
        there = [None] * len(some) if is_new else in_threads(files.status, map(tree.place_of, some), THREADS)
        yield from (item for item, status in zip(some, there, strict=True) if status is None)


def _place(files: FileWriter, tree: TableTree, items: list[CopyItem], copy: Copy, label: str) -> None:
    """Put copies in their places. Where two directories of a table share files, one copy serves for one of them."""
    directories = {parent(tree.place_of(item)) for item in items} - {join(tree.path, one) for one in tree.directories}
    in_threads(files.make_directories, sorted(directories), THREADS)
    lacking = _lacking(files, tree, items)
    while lacking:
        raise_failures(label, copy(lacking, tree.work, label))
        still = _lacking(files, tree, lacking)
        if len(still) == len(lacking):
            raise TryAgain(
                f"the copy of {still[0].path} vanished before it was put in its place",
                found=f"neither {still[0].staged_path(tree.work)} nor {tree.place_of(still[0])}",
                expected="one of them",
                next_step="run the statement again; let one run at a time write to a directory or table",
            )
        lacking = still


def _lacking(files: FileWriter, tree: TableTree, items: list[CopyItem]) -> list[CopyItem]:
    """Put copies in their places; return the items of which there was none."""
    found = in_parallel(items, THREADS, lambda some: [one for one in some if not _is_placed(files, tree, one)], "build")
    return [*chain.from_iterable(found)]


def _is_placed(files: FileWriter, tree: TableTree, item: CopyItem) -> bool:
    target = tree.place_of(item)
    if files.rename(item.staged_path(tree.work), target):
        return True
    there = files.status(target)
    return there is not None and there.length == item.length
