"""List directories ahead of their reader, in a thread of its own, and no further ahead than a few pages."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Full, Queue

from twinhive.core.model.errors import ActNow, TwinhiveError, Unexplained
from twinhive.core.model.files import FileStatus, base_name, name_order
from twinhive.core.ports import FileReader

Page = list[FileStatus] | None
"""Children of a directory, in their order; None: there is no such directory."""

_PAGES_AHEAD = 8
_LOOK_AGAIN_SECONDS = 0.2


class Unlisted(Exception):
    """A directory could not be listed, in the words of `reason`; the others can."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


_Entry = tuple[str, Page | TwinhiveError]


class Listing:
    """The pages of some directories, to be taken in the order in which the directories were given."""

    def __init__(self, stopped: threading.Event) -> None:
        self._queue: Queue[_Entry | BaseException | None] = Queue(_PAGES_AHEAD)
        self._stopped = stopped
        self._next: _Entry | None = None
        self._at_end = False

    def pages(self, path: str) -> Iterator[Page]:
        """Yield the pages of the next directory.

        Raises Unlisted; TryAgain when a server does not answer, and Unexplained when nobody knows its answer.
        """
        seen = False
        while (entry := self._peek()) is not None and entry[0] == path:
            self._next = None
            if isinstance(entry[1], TwinhiveError):
                raise Unlisted(path, str(entry[1]))
            seen = True
            yield entry[1]
        if not seen:
            raise Unlisted(path, "the file system did not say what is in it")

    def skip(self, path: str) -> None:
        """Leave out what is left of a directory."""
        while (entry := self._peek()) is not None and entry[0] == path:
            self._next = None

    def put(self, entry: _Entry | BaseException | None) -> None:
        """Put what was listed behind the rest; waits while the reader is behind. None: that was all."""
        while not self._stopped.is_set():
            try:
                self._queue.put(entry, timeout=_LOOK_AGAIN_SECONDS)
            except Full:
                continue
            return

    def _peek(self) -> _Entry | None:
        if self._next is None and not self._at_end:
            entry = self._take()
            self._at_end = entry is None or isinstance(entry, BaseException)
            if isinstance(entry, BaseException):
                raise entry
            self._next = entry
        return self._next

    def _take(self) -> _Entry | BaseException | None:
        while not self._stopped.is_set():
            try:
                return self._queue.get(timeout=_LOOK_AGAIN_SECONDS)
            except Empty:
                continue
        return None


class Lister:
    """List directories of one file system, one group after the other."""

    def __init__(self, files: FileReader, name: str) -> None:
        self._files = files
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(1, f"list-{name}")

    def start(self, paths: Sequence[str]) -> Listing:
        """Begin to list directories, behind those that were begun before."""
        listing = Listing(self._stopped)
        self._pool.submit(self._list, paths, listing)
        return listing

    def close(self) -> None:
        """End the thread, whatever it has begun."""
        self._stopped.set()
        self._pool.shutdown(cancel_futures=True)

    def _list(self, paths: Sequence[str], listing: Listing) -> None:
        try:
            for entry in _listed(self._files, paths):
                listing.put(entry)
                if self._stopped.is_set():
                    return
            listing.put(None)
        except BaseException as error:  # the reader raises it
            listing.put(error)


def _listed(files: FileReader, paths: Sequence[str]) -> Iterator[_Entry]:
    """Yield pages; after a failure each directory on its own, so that one keeps no other from being listed."""
    path, last = "", b""
    try:
        for each, page in files.list_pages(paths):
            if page:
                last = name_order(base_name(page[-1].path))
            elif each != path:
                last = b""
            path = each
            yield path, page
        return
    except TwinhiveError:  # whose fault it was is found out, or it does not come again
        pass
    for remaining in paths[paths.index(path) if path else 0 :]:
        yield from _listed_alone(files, remaining, last if remaining == path else b"")


def _listed_alone(files: FileReader, path: str, last: bytes) -> Iterator[_Entry]:
    """Yield the pages of one directory behind the name `last`, or why it has none."""
    try:
        for _, page in files.list_pages([path]):
            yield path, [child for child in page if name_order(base_name(child.path)) > last] if page else page
    except Unexplained:  # it is not left out: the whole is tried again
        raise
    except ActNow as error:
        yield path, error
