"""The list of the files of an export or an import: written in pieces beside their copies, and never held as a whole.

A piece is gzipped JSON lines, as in the lists of a dump. What a list holds is known by digests that do not depend on
the order: two listings of the same files give the same, however their pages came.
"""

import hashlib
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, islice

from twinhive.core.directory_marks.directories import Owned
from twinhive.core.model.files import base_name, join
from twinhive.core.ports import FileReader, FileWriter, children, if_there
from twinhive.replication.dump.shards import pack_lines, unpack_lines
from twinhive.transfer.staged.staged_files import CopyItem

FILES_A_PIECE = 200_000
_DONE = "done-"
_DIGESTS = 2**256


@dataclass(frozen=True)
class ListingSums:
    """What a listing has found: how much, a digest of the files as they were listed, and one of names and lengths."""

    files: int
    bytes: int
    digest: str
    names: str


class ListingTally:
    """Add up what passes."""

    def __init__(self) -> None:
        self._files = self._bytes = self._digest = self._names = 0

    def passing(self, items: Iterable[CopyItem]) -> Iterator[CopyItem]:
        """Yield the items, and count them."""
        for item in items:
            self._digest += _number(item.to_line())
            self.name(item.partition or "", item.relative, item.length)
            yield item

    def name(self, directory: str, relative: str, length: int) -> None:
        """Count a file of which only its place and its length matter."""
        self._files += 1
        self._bytes += length
        self._names += _number(f"{directory}\0{relative}\0{length}")

    @property
    def listed(self) -> ListingSums:
        """What has passed so far."""
        return ListingSums(
            self._files, self._bytes, f"{self._digest % _DIGESTS:064x}", f"{self._names % _DIGESTS:064x}"
        )


def counted(items: Iterable[CopyItem]) -> ListingSums:
    """Go through a listing, and keep nothing of it."""
    tally = ListingTally()
    for _ in tally.passing(items):
        pass
    return tally.listed


@dataclass
class NewList:
    """A list that is written into a directory of work, each time anew: nobody reads one that is not whole."""

    work: Owned
    directory: str = ""

    def write(self, items: Iterable[CopyItem]) -> ListingSums:
        """Write a listing down, instead of what was written before."""
        self.discard()
        self.directory = join(self.work.directory, f"list-{uuid.uuid4().hex}")
        tally = ListingTally()
        waiting = tally.passing(items)
        self.work.files.make_directories(self.directory)
        for number in count(1):
            some = islice(waiting, FILES_A_PIECE)
            if (first := next(some, None)) is None:
                return tally.listed
            lines = (item.to_line() for item in chain((first,), some))
            self.work.files.write(join(self.directory, f"{number:06d}.jsonl.gz"), pack_lines(lines))
        raise AssertionError("a listing ends")

    def discard(self) -> None:
        """Remove what was written."""
        if self.directory:
            self.work.discard(self.directory)


def pieces(files: FileReader, directory: str) -> list[str]:
    """Return the pieces of a list, also those that are done."""
    return [child.path for child in children(files, directory)]


def is_done(piece: str) -> bool:
    """True for a piece of which all files are in their places."""
    return base_name(piece).startswith(_DONE)


def done(piece: str) -> str:
    """Return what a piece is called when all its files are in their places."""
    return join(piece.rpartition("/")[0], _DONE + base_name(piece))


def items_of(files: FileWriter, piece: str) -> Iterator[CopyItem]:
    """Yield the files of a piece; none where somebody else has done it meanwhile."""
    content = if_there(files.read, piece)
    return map(CopyItem.from_line, unpack_lines(content)) if content is not None else iter(())


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
