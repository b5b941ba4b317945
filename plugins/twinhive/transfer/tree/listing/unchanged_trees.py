"""Find out of many small trees at once which are equal: their listings share calls and threads.

A walk of its own for each would cost more than the listings: threads, queues, and a call for each few directories.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from twinhive.core.model.errors import ActNow
from twinhive.core.ports import FileReader, TreeReader
from twinhive.core.threads.parallel_map import in_threads
from twinhive.transfer.tree.listing.lister import Page, Unlisted
from twinhive.transfer.tree.listing.noop_check import NothingToDo, SomethingToDoError, asked_pairs, planner_of
from twinhive.transfer.tree.listing.waiting_directories import WaitingDirectory
from twinhive.transfer.tree.listing.walk import PairedDirectory
from twinhive.transfer.tree.path_rule import Layout
from twinhive.transfer.tree.planning.planner import Planner
from twinhive.transfer.tree.request import SyncOptions

_TOGETHER = 400
_AHEAD = 2


class UnchangedTree:
    """One tree: its directories that are still to be listed, and whether something was found that differs."""

    def __init__(
        self, layout: Layout, options: SyncOptions, source: TreeReader, target: TreeReader, sign: str = ""
    ) -> None:
        self.is_equal = not layout.places.is_new
        self.waiting: list[WaitingDirectory] = []
        self._plan = NothingToDo(source, target, options, asked_pairs(layout, target, sign))
        self._planner: Planner | None = None
        if self.is_equal:
            try:
                self._planner = planner_of(self._plan, layout, options, source, target, self)
            except (SomethingToDoError, ActNow):
                self.differs()

    def push(self, directory: WaitingDirectory) -> None:
        """Have a directory listed."""
        self.waiting.append(directory)

    def place(self, directory: WaitingDirectory) -> str | None:
        """Say where the target's side of a directory is."""
        return self._planner.place(directory) if self._planner else None

    def look(self, paired: PairedDirectory) -> None:
        """Compare one directory; those in it are pushed."""
        try:
            if self.is_equal and self._planner:
                self._planner.plan_directory(paired)
        except (SomethingToDoError, ActNow):
            self.differs()

    def settle(self) -> None:
        """Say of a tree that was listed whether its files are known to be equal. Raises TryAgain."""
        self.is_equal = self.is_equal and self._plan.pairs.are_equal()

    @property
    def sign(self) -> str:
        """What tells the next look that nothing has changed."""
        return self._plan.pairs.sign

    def differs(self) -> None:
        """Look no further: something has to be done, or cannot be told from here."""
        self.is_equal = False
        self.waiting.clear()

    def close(self) -> None:
        """Give back what a plan holds."""
        self._plan.close()


def look_at(trees: Sequence[UnchangedTree], source: FileReader, target: FileReader, threads: int = 1) -> None:
    """List all directories of the trees on both sides, and compare them. Raises TryAgain.

    Afterwards `is_equal` tells of each tree what `nothing_to_do` would.
    """
    _list(trees, source, target)
    in_threads(UnchangedTree.settle, trees, threads)


def _list(trees: Sequence[UnchangedTree], source: FileReader, target: FileReader) -> None:
    with ThreadPoolExecutor(1, "list-source") as here, ThreadPoolExecutor(1, "list-target") as there:
        begun: list[_Group] = []
        left = list(trees)
        while True:
            while len(begun) < _AHEAD and (taken := _taken(left)):
                begun.append(_Group(taken, here, there, source, target))
            if not begun:
                return
            begun.pop(0).compare()
            left = [tree for tree in trees if tree.waiting]


def _taken(trees: Iterable[UnchangedTree]) -> list[tuple[UnchangedTree, WaitingDirectory]]:
    """Take directories that wait, tree by tree, so that few trees are begun at the same time."""
    taken: list[tuple[UnchangedTree, WaitingDirectory]] = []
    for tree in trees:
        while tree.waiting and len(taken) < _TOGETHER:
            taken.append((tree, tree.waiting.pop()))
        if len(taken) == _TOGETHER:
            break
    return taken


class _Group:
    """Directories of several trees that are listed together."""

    def __init__(
        self,
        members: Sequence[tuple[UnchangedTree, WaitingDirectory]],
        here: ThreadPoolExecutor,
        there: ThreadPoolExecutor,
        source: FileReader,
        target: FileReader,
    ) -> None:
        self._members = [(tree, directory, tree.place(directory)) for tree, directory in members]
        paths = [directory.source.path for _, directory, _ in self._members]
        places = [place for _, _, place in self._members if place is not None]
        self._source: Future[_Listed] = here.submit(_Listed.of, source, paths)
        self._target: Future[_Listed] = there.submit(_Listed.of, target, places)

    def compare(self) -> None:
        """Compare what was listed; where a listing failed, a run of each tree says why."""
        try:
            source, target = self._source.result(), self._target.result()
        except ActNow:
            for tree, _, _ in self._members:
                tree.differs()
            return
        for tree, directory, place in self._members:
            tree.look(PairedDirectory(directory, place, source, target))


class _Listed:
    """The pages of some directories."""

    def __init__(self) -> None:
        self._pages: dict[str, list[Page]] = {}

    @classmethod
    def of(cls, files: FileReader, paths: Sequence[str]) -> "_Listed":
        """List directories in bulk. Raises what the file system says."""
        listed = cls()
        for path, page in files.list_pages(paths):
            listed._pages.setdefault(path, []).append(page)
        return listed

    def pages(self, path: str) -> Iterator[Page]:
        """Yield the pages of a directory. Raises Unlisted."""
        if path not in self._pages:
            raise Unlisted(path, "the file system did not say what is in it")
        yield from self._pages[path]

    def skip(self, path: str) -> None:
        """Leave out what is left of a directory: nothing has to be taken."""
