"""Walk two directory trees at the same time and pair what has the same path.

Both sides come sorted and are merged once, page by page, so that a directory of ten million files is never held.
"""

from collections.abc import Callable, Generator, Iterator
from itertools import chain
from typing import Protocol

from twinhive.core.model.errors import ChangedMeanwhile, Refused
from twinhive.core.model.files import FileStatus, name_order
from twinhive.core.ports import FileReader
from twinhive.transfer.tree.listing.lister import Lister, Page, Unlisted
from twinhive.transfer.tree.listing.waiting_directories import WaitingDirectories, WaitingDirectory
from twinhive.transfer.tree.work_directories import has_only_ours

Pair = tuple[str, FileStatus | None, FileStatus | None]
"""A name, and what each side has of that name in one directory."""

_DIRECTORIES_TOGETHER = 100
_GROUPS_AHEAD = 2


class Pushed(Protocol):
    """Take directories that have to be listed."""

    def push(self, directory: WaitingDirectory) -> None:
        """Have a directory listed, before those that were pushed earlier."""
        ...


class Pages(Protocol):
    """The pages of directories as they were listed."""

    def pages(self, path: str) -> Iterator[Page]:
        """Yield the pages of the next directory. Raises Unlisted, TryAgain, Unexplained."""
        ...

    def skip(self, path: str) -> None:
        """Leave out what is left of a directory."""
        ...


class Walk:
    """Yield the directories that were pushed, each with its pairs; more may be pushed meanwhile.

    `place` says where the target's side of a directory is to be listed, None: there is nothing to list. Whoever may
    leave a walk before its end closes its iterator: left to the garbage collector it would wait for threads inside of
    whatever is interrupted, which may be what these threads wait for.
    """

    def __init__(self, source: FileReader, target: FileReader, place: Callable[[WaitingDirectory], str | None]) -> None:
        self._place = place
        self._source = Lister(source, "source")
        self._target = Lister(target, "target")
        self._waiting = WaitingDirectories()

    def push(self, directory: WaitingDirectory) -> None:
        """Have a directory walked, before those that were pushed earlier."""
        self._waiting.push(directory)

    def __iter__(self) -> Generator["PairedDirectory"]:
        try:
            begun: list[Iterator[PairedDirectory]] = []
            while self._waiting or begun:
                while self._waiting and len(begun) < _GROUPS_AHEAD:
                    begun.append(self._begin())
                yield from begun.pop(0)
        finally:
            self._source.close()
            self._target.close()
            self._waiting.close()

    def _begin(self) -> Iterator["PairedDirectory"]:
        """Have a group listed on both sides; return what pairs it."""
        group = self._waiting.pop(_DIRECTORIES_TOGETHER)
        places = [self._place(directory) for directory in group]
        source = self._source.start([directory.source.path for directory in group])
        target = self._target.start([path for path in places if path is not None])
        return (
            PairedDirectory(directory, place, source, target) for directory, place in zip(group, places, strict=True)
        )


class PairedDirectory:
    """One directory: its pairs, and what came of listing the source's side once they are all taken.

    was_empty     the source has nothing in it but what copies keep there for themselves
    vanished      the source does not have it any more
    unlisted      why the source's side, or the rest of it, could not be listed
    """

    def __init__(self, directory: WaitingDirectory, place: str | None, source: Pages, target: Pages) -> None:
        self.directory = directory
        self.was_empty = True
        self.vanished = False
        self.unlisted: str | None = None
        self._place = place
        self._source = source
        self._target = target

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs in the order of names.

        Raises Refused where the target cannot be listed, TryAgain, and Unexplained.
        """
        path, place = self.directory.source.path, self._place
        start = len(path.rstrip("/")) + 1
        place_start = len(place.rstrip("/")) + 1 if place else 0
        left, right = self._source_entries(path), self._target_entries(place)
        try:
            yield from self._merge(left, right, start, place_start)
        finally:
            self._source.skip(path)
            if place is not None:
                self._target.skip(place)

    def _merge(
        self, left: Iterator[FileStatus], right: Iterator[FileStatus], left_start: int, right_start: int
    ) -> Iterator[Pair]:
        one, other = next(left, None), next(right, None)
        last_name = last_other = ""
        while one is not None or other is not None:
            if one is None and (self.unlisted or self.vanished):
                return  # what the target has may be at the source as well
            name = one.path[left_start:] if one else None
            other_name = other.path[right_start:] if other else None
            if name == other_name and name is not None:
                yield name, one, other
                last_name = last_other = name
                one = next(left, None)
                other = next(right, None)
            elif other_name is None or (name is not None and name_order(name) < name_order(other_name)):
                assert name is not None
                _check_order(self.directory.source.path, last_name, name)
                yield name, one, None
                last_name = name
                one = next(left, None)
            else:
                _check_order(self._place or "", last_other, other_name)
                yield other_name, None, other
                last_other = other_name
                other = next(right, None)

    def _source_entries(self, path: str) -> Iterator[FileStatus]:
        return chain.from_iterable(self._source_pages(path))

    def _source_pages(self, path: str) -> Iterator[list[FileStatus]]:
        try:
            for page in self._source.pages(path):
                if page is None:
                    self.vanished = True
                    return
                self.was_empty = self.was_empty and has_only_ours(page)
                yield page
        except Unlisted as error:
            self.unlisted = error.reason

    def _target_entries(self, place: str | None) -> Iterator[FileStatus]:
        return iter(()) if place is None else chain.from_iterable(map(self._present, self._target_pages(place)))

    def _target_pages(self, place: str) -> Iterator[Page]:
        try:
            yield from self._target.pages(place)
        except Unlisted as error:
            raise Refused(
                f"{place}: the target cannot be listed, so nothing can be compared with it",
                found=error.reason,
                expected="a directory that can be listed",
                next_step="grant the right to read it, or exclude it",
            ) from None

    def _present(self, page: Page) -> list[FileStatus]:
        if page is not None:
            return page
        if self.directory.new_root is not None:
            return []  # an earlier run has built nothing of it
        raise ChangedMeanwhile(
            f"{self._place}: the directory was at the target, and is gone",
            found="no such directory",
            expected="a target that nobody else changes meanwhile",
            next_step="run again when nobody changes it",
        )


def _check_order(path: str, before: str, name: str) -> None:
    """Refuse a listing that is not sorted: pairs would be missed, and what is there taken for gone."""
    if before and name_order(before) >= name_order(name):
        raise Refused(
            f"{path}: the file system lists names in another order than its own",
            found=f"{name!r} after {before!r}",
            expected="the order of their bytes",
            next_step="copy from or to another file system; this store cannot be compared name by name",
        )
