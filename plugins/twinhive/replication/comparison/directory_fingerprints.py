"""Know id and time of the directories of very many leaves, in 24 bytes for each.

Of a table's partitions many lie in one directory, or each in one of its own. Its parent is listed once: what belongs to
partitions that are asked for later is kept, packed.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct

from twinhive.core.model.files import parent
from twinhive.core.ports import FileReader

LeafLook = tuple[int, int]

_KEY = 8
_LOOK = Struct(">qq")
_WIDTH = _KEY + _LOOK.size
_SEGMENTS = 256


class PackedLooks:
    """Looks by path; found by a hash of 8 bytes. What was put may be asked for once all of its parent is in."""

    def __init__(self) -> None:
        self._new = [bytearray() for _ in range(_SEGMENTS)]
        self._sorted: list[bytes] = [b""] * _SEGMENTS

    def put(self, path: str, look: LeafLook) -> None:
        """Keep the look of a directory."""
        key = _key(path)
        self._new[key[0]] += key + _LOOK.pack(*look)

    def get(self, path: str) -> LeafLook | None:
        """Return it, None for a directory that nobody has put."""
        key = _key(path)
        segment = self._segment(key[0])
        low, high = 0, len(segment) // _WIDTH
        while low < high:
            middle = (low + high) // 2
            if segment[middle * _WIDTH : middle * _WIDTH + _KEY] < key:
                low = middle + 1
            else:
                high = middle
        found = segment[low * _WIDTH : (low + 1) * _WIDTH]
        if found[:_KEY] != key:
            return None
        file_id, modified = _LOOK.unpack(found[_KEY:])
        return file_id, modified

    def _segment(self, at: int) -> bytes:
        if self._new[at]:
            every = self._sorted[at] + bytes(self._new[at])
            self._sorted[at] = b"".join(sorted(every[start : start + _WIDTH] for start in range(0, len(every), _WIDTH)))
            self._new[at] = bytearray()
        return self._sorted[at]


class LooksOfPages:
    """Look at the directories of a table's partitions, page after page of them."""

    def __init__(self, files: FileReader) -> None:
        self._files = files
        self._shared = PackedLooks()
        self._listed: set[str] = set()

    def of(self, places: Sequence[str]) -> dict[str, LeafLook]:
        """Return the looks of some directories, by path; those that are not there are left out."""
        wanted = set(places)
        beside = Counter(map(parent, wanted))
        found: dict[str, LeafLook] = {}
        to_list = sorted(beside.keys() - self._listed)
        seen: Counter[str] = Counter()
        for directory, page in self._files.list_pages(to_list):
            for status in page or ():
                if not status.is_directory:
                    continue
                look = (status.file_id, status.modified_ms)
                if status.path in wanted:
                    found[status.path] = look
                else:
                    seen[directory] += 1
                    self._shared.put(status.path, look)
        for path in wanted:
            if parent(path) in self._listed and (kept := self._shared.get(path)) is not None:
                found[path] = kept
        # One that has given all it holds is not asked for again.
        self._listed |= {directory for directory in to_list if seen[directory]}
        return found


def _key(path: str) -> bytes:
    return blake2b(path.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()
