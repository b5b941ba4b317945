"""Compare two ledgers of a table from the top: 4,096 buckets by hashed names, of which equal ones are not opened."""

import hashlib
from collections.abc import Iterator
from enum import Enum
from itertools import groupby

from twinhive.replication.comparison.leaf_records import LeafRecord, Ledger

BUCKETS = 4_096


class DifferenceKind(Enum):
    """How a leaf of the replica differs from the source's."""

    MISSING = "missing"
    """The replica does not have it."""
    EXTRA = "extra"
    """The replica has it, and the source does not."""
    META = "meta"
    """Columns, parameters, constraints, a view's text: what the metastore says of it."""
    NAMES = "names"
    """Files are missing, or are too many."""
    LENGTH = "length"
    """Files of the same names have other lengths."""
    CONTENT = "content"
    """Files of the same lengths have other checksums."""


def bucket_of(key: bytes) -> int:
    """Return in which bucket a leaf is."""
    return key[0] << 4 | key[1] >> 4


def tree_of(ledger: Ledger) -> list[bytes]:
    """Return the digests of all buckets; looks are no part of them."""
    digests = [b""] * BUCKETS
    for segment in ledger.segments:
        for bucket, digest in _buckets(ledger, segment):
            digests[bucket] = digest
    return digests


def top_of(ledger: Ledger) -> str:
    """Return one digest for a whole table, in hex: equal on both sides where all of it is equal."""
    return hashlib.sha256(b"".join(tree_of(ledger))).hexdigest()[:32]


def differing(source: Ledger, replica: Ledger) -> Iterator[tuple[bytes, DifferenceKind]]:
    """Yield the keys of leaves that are not equal, with the first reason; unknown checksums make no difference.

    `NAMES` stands here for names and lengths of files: their digest does not tell them apart.
    """
    for segment in sorted(source.segments.keys() | replica.segments.keys()):
        ours, theirs = dict(_buckets(source, segment)), dict(_buckets(replica, segment))
        opened = {bucket for bucket in ours.keys() | theirs.keys() if ours.get(bucket) != theirs.get(bucket)}
        if opened:
            yield from _differing_of(source, replica, segment, opened)


def _differing_of(
    source: Ledger, replica: Ledger, segment: int, opened: set[int]
) -> Iterator[tuple[bytes, DifferenceKind]]:
    here = {one.key: one for one in source.records(segment) if bucket_of(one.key) in opened}
    there = {one.key: one for one in replica.records(segment) if bucket_of(one.key) in opened}
    for key in sorted(here.keys() | there.keys()):
        kind = kind_of(here.get(key), there.get(key))
        if kind is not None:
            yield key, kind


def kind_of(source: LeafRecord | None, replica: LeafRecord | None) -> DifferenceKind | None:
    """Say how a leaf differs, None where it does not as far as is known."""
    if source is None or replica is None:
        return None if source is replica else (DifferenceKind.MISSING if replica is None else DifferenceKind.EXTRA)
    if source.meta != replica.meta:
        return DifferenceKind.META
    if source.names != replica.names:
        return DifferenceKind.NAMES
    both_known = source.has_content and replica.has_content
    return DifferenceKind.CONTENT if both_known and source.content != replica.content else None


def _buckets(ledger: Ledger, segment: int) -> Iterator[tuple[int, bytes]]:
    for bucket, some in groupby(ledger.records(segment), key=lambda one: bucket_of(one.key)):
        digest = hashlib.sha256()
        for one in some:
            digest.update(one.key + one.meta + one.names + one.content)
        yield bucket, digest.digest()[:16]
