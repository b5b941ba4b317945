"""Remember which files were compared and found equal, so that the next run need not read them.

A pair is remembered by a digest of what only a change can change: the ids of both files, the length, and the time of
the original. Names are no part of it: a file that is renamed on both sides is still equal. Ten bytes a pair are kept
in memory, 100 MB for ten million.
"""

import hashlib
import struct
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Protocol

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus, join
from twinhive.core.ports import FileReader, FileWriter, children

_VERSION = b"twinhive verified pairs 1\n"
_PAIRS_A_FILE = 1_000_000
_BUCKETS = 256
_BUCKET_SHIFT = 64 - 8
_SIDE_BY_SIDE = 16
_blake2b = hashlib.blake2b
_pack = struct.Struct("<4Q").pack
_MASK = 2**64 - 1


def pair_digest(source: FileStatus, target_id: int) -> int:
    """Return what a pair of equal files is remembered by, 0 where a file system has no ids: then it is not."""
    if not source.file_id or not target_id:
        return 0
    identity = _pack(source.file_id, target_id, source.length, source.modified_ms & _MASK)
    return int.from_bytes(_blake2b(identity, digest_size=8).digest(), "little")


class KnowsPairs(Protocol):
    """Tell which pairs are equal."""

    def knows(self, digest: int) -> bool:
        """True when a pair is known to be equal."""
        ...


class VerifiedPairs:
    """A set of digests: asked while planning, added to after a run, then saved."""

    def __init__(self, known: "array[int] | None" = None) -> None:
        self._known = array("Q") if known is None else known
        self._seen = bytearray(len(self._known))
        # Digests are spread evenly: where those with the same first bits start leaves a few to look at, side by side.
        bits = (len(self._known) // _SIDE_BY_SIDE).bit_length()
        self._shift = 64 - bits
        self._starts = array("L", (bisect_left(self._known, first << self._shift) for first in range(1 << bits)))
        self._starts.append(len(self._known))
        self._added: defaultdict[int, array[int]] = defaultdict(lambda: array("Q"))

    @classmethod
    def load(cls, files: FileReader, directory: str) -> "VerifiedPairs":
        """Read what `save` wrote; what cannot be read is not known, and compared again."""
        try:
            # Nearly always there is one file: then nothing has to be listed.
            known = _decoded(files.read(_path(directory, 0)))
            for path in _files_in(files, directory)[1:] if len(known) >= _PAIRS_A_FILE else ():
                digests = _decoded(files.read(path))
                # Files of two saves, one of which was interrupted, overlap: those of one are enough.
                if digests and (not known or known[-1] < digests[0]):
                    known.extend(digests)
        except ActNow:
            return cls()
        return cls(known)

    def __len__(self) -> int:
        return len(self._known) + sum(map(len, self._added.values()))

    def knows(self, digest: int) -> bool:
        """True when a pair is known to be equal; it will be kept for the next run then."""
        known, first = self._known, digest >> self._shift
        at = bisect_left(known, digest, self._starts[first], self._starts[first + 1])
        if at == len(known) or known[at] != digest:
            return False
        self._seen[at] = 1
        return True

    def add(self, digests: Iterable[int]) -> None:
        """Add pairs that were found to be equal; digests 0 are left out."""
        for digest in digests:
            if digest:
                self._added[digest >> _BUCKET_SHIFT].append(digest)

    def save(self, files: FileWriter, directory: str, *, only_seen: bool) -> None:
        """Write the pairs for the next run, with `only_seen` without those that nobody has asked for.

        Each file on its own is true: a save that is interrupted leaves nothing wrong.
        """
        before = set(_files_in(files, directory))
        for number, content in enumerate(self._contents(only_seen)):
            path = _path(directory, number)
            files.write(path, content)
            before.discard(path)
        for path in before:
            files.delete(path)

    def _contents(self, only_seen: bool) -> Iterator[bytes]:
        """Yield the contents of the files, sorted; only one bucket at a time is ever a list of Python's numbers."""
        digests, start = array("Q"), 0
        for number in range(_BUCKETS):
            end = bisect_left(self._known, (number + 1) << _BUCKET_SHIFT, start) if number + 1 < _BUCKETS else None
            known = self._known[start:end]
            kept = compress(known, self._seen[start:end]) if only_seen else known
            digests.extend(sorted({*kept, *self._added.get(number, ())}))
            start += len(known)
            if len(digests) >= _PAIRS_A_FILE:
                yield _VERSION + digests.tobytes()
                digests = array("Q")
        if digests:
            yield _VERSION + digests.tobytes()


def _path(directory: str, number: int) -> str:
    return join(directory, f"{number:05d}")


def _files_in(files: FileReader, directory: str) -> list[str]:
    return [child.path for child in children(files, directory)]


def _decoded(content: bytes) -> "array[int]":
    digests = array("Q")
    whole = (len(content) - len(_VERSION)) // digests.itemsize * digests.itemsize
    if content.startswith(_VERSION):
        digests.frombytes(memoryview(content)[len(_VERSION) : len(_VERSION) + whole])
    return digests
