"""Leaves in 56 bytes each, a million of them in 56 MB: what is remembered of a table, its partitions and their files.

A leaf is what can differ by itself: a table or view without its partitions, or one partition. Of each side a ledger
holds one record for each leaf, in the order of the leaves' hashed names.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from twinhive.replication.comparison.canonical_form import Plain, canonical_text

NAME, META, NAMES, CONTENT, LOOK = 16, 12, 10, 10, 8
WIDTH = NAME + META + NAMES + CONTENT + LOOK
NOT_READ = bytes(CONTENT)
"""In the place of the digest of checksums: nobody has asked for them."""
OWN_LEAF = ""
"""The name of a table's own leaf among those of its partitions."""
SEGMENTS = 256
_ENDS = (NAME, NAME + META, NAME + META + NAMES, NAME + META + NAMES + CONTENT, WIDTH)


def _digest(text: bytes, length: int) -> bytes:
    return hashlib.sha256(text).digest()[:length]


def leaf_key(name: str) -> bytes:
    """Return by what a leaf is found in ledgers: its first 12 bits are its bucket."""
    return _digest(name.encode("utf-8", "surrogatepass"), NAME)


def digest_of_form(form: Plain) -> bytes:
    """Return what stands for metadata."""
    return _digest(canonical_text(form), META)


def digest_of_names(lengths: Mapping[str, int]) -> bytes:
    """Return what stands for files by relative path, with their lengths."""
    return _digest(canonical_text(lengths), NAMES)


def digest_of_content(checksums: Mapping[str, str]) -> bytes:
    """Return what stands for the checksums of files by relative path; never that of none read."""
    return _digest(canonical_text(checksums), CONTENT - 1) + b"\x01"


def digest_of_look(look: tuple[int, int] | None) -> bytes:
    """Return what stands for a directory's id and time."""
    return _digest(repr(look).encode(), LOOK)


@dataclass(frozen=True, slots=True)
class LeafRecord:
    """What is remembered of one leaf, on one side."""

    key: bytes
    meta: bytes
    names: bytes
    content: bytes
    look: bytes

    def packed(self) -> bytes:
        """Return the 56 bytes."""
        return self.key + self.meta + self.names + self.content + self.look

    @classmethod
    def unpacked(cls, packed: bytes) -> "LeafRecord":
        """Read what `packed` wrote."""
        one, two, three, four, five = _ENDS
        return cls(packed[:one], packed[one:two], packed[two:three], packed[three:four], packed[four:five])

    @property
    def has_content(self) -> bool:
        """True when checksums of its files, if it has any, are known."""
        return self.content != NOT_READ


@dataclass(frozen=True)
class Ledger:
    """The records of one table on one side: 256 segments by the first byte of the key, each packed and sorted."""

    segments: Mapping[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[LeafRecord]) -> "Ledger":
        """Pack records; of several of one key the last one counts."""
        packed: dict[int, dict[bytes, bytes]] = {}
        for record in records:
            packed.setdefault(record.key[0], {})[record.key] = record.packed()
        return cls({at: _sorted(some) for at, some in packed.items()})

    def __len__(self) -> int:
        return sum(map(len, self.segments.values())) // WIDTH

    def get(self, key: bytes) -> LeafRecord | None:
        """Return the record of a leaf, None where there is none."""
        segment = self.segments.get(key[0], b"")
        at = bisect_left(range(len(segment) // WIDTH), key, key=lambda number: _key_at(segment, number))
        found = segment[at * WIDTH : (at + 1) * WIDTH]
        return LeafRecord.unpacked(found) if found[:NAME] == key else None

    def records(self, segment: int) -> Iterator[LeafRecord]:
        """Yield the records of a segment, by key."""
        packed = self.segments.get(segment, b"")
        for at in range(0, len(packed), WIDTH):
            yield LeafRecord.unpacked(packed[at : at + WIDTH])

    def all(self) -> Iterator[LeafRecord]:
        """Yield all records, by key."""
        for segment in sorted(self.segments):
            yield from self.records(segment)

    def replaced(self, changes: Mapping[bytes, LeafRecord | None]) -> "Ledger":
        """Return the ledger with other records of some leaves, None for those that are to be in it no more."""
        made = dict(self.segments)
        for segment in sorted({key[0] for key in changes}):
            packed = {one.key: one.packed() for one in self.records(segment)}
            for key, record in changes.items():
                if key[0] == segment:
                    packed.pop(key, None)
                    packed |= {} if record is None else {key: record.packed()}
            made.pop(segment, None)
            made |= {segment: _sorted(packed)} if packed else {}
        return Ledger(made)


def _key_at(segment: bytes, number: int) -> bytes:
    return segment[number * WIDTH : number * WIDTH + NAME]


def _sorted(records: Mapping[bytes, bytes]) -> bytes:
    return b"".join(records[key] for key in sorted(records))


class LedgerBuilder:
    """Collect records in any order, in no more memory than they take."""

    def __init__(self) -> None:
        self._segments = [bytearray() for _ in range(SEGMENTS)]

    def put(self, record: LeafRecord) -> None:
        """Add a record, or another one of its key: that counts then."""
        self._segments[record.key[0]] += record.packed()

    def ledger(self) -> Ledger:
        """Return all that was put, and forget it."""
        made: dict[int, bytes] = {}
        for at in range(SEGMENTS):
            # Given away one after the other: all of them twice would be too much of a large table.
            segment, self._segments[at] = self._segments[at], bytearray()
            if segment:
                starts = range(0, len(segment), WIDTH)
                made[at] = _sorted({bytes(segment[s : s + NAME]): bytes(segment[s : s + WIDTH]) for s in starts})
        return Ledger(made)
