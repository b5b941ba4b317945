"""Know very many paths by eight bytes each, however long they are."""

from array import array
from collections.abc import Callable

_FIRST_SLOTS = 1024
_64_BITS = 2**64 - 1


class HashedPaths:
    """A set that keeps hashes of 64 bits, in a table of 16 to 32 bytes for each path.

    Every path that was added is in it. So is, once in 10^13 questions to a million paths, one that was not: who asks
    must be able to live with that answer.
    """

    def __init__(self, digest: Callable[[str], int] = hash) -> None:
        self._digest = digest
        self._slots = _empty(_FIRST_SLOTS)
        self._used = 0

    def add(self, path: str) -> None:
        """Take a path in."""
        key = self._key(path)
        slot = _slot(self._slots, key)
        if self._slots[slot]:
            return
        self._slots[slot] = key
        self._used += 1
        if 2 * self._used > len(self._slots):
            self._slots = _larger(self._slots)

    def __contains__(self, path: str) -> bool:
        """Return True for every path that was added."""
        return bool(self._slots[_slot(self._slots, self._key(path))])

    def _key(self, path: str) -> int:
        # 0 says that a slot is empty.
        return self._digest(path) & _64_BITS or 1


def _empty(slots: int) -> "array[int]":
    return array("Q", [0]) * slots


def _slot(slots: "array[int]", key: int) -> int:
    """Return the slot that holds a key, or the empty one where it belongs."""
    last = len(slots) - 1
    slot = key & last
    while slots[slot] not in (0, key):
        slot = (slot + 1) & last
    return slot


def _larger(slots: "array[int]") -> "array[int]":
    larger = _empty(2 * len(slots))
    for key in slots:
        if key:
            larger[_slot(larger, key)] = key
    return larger
