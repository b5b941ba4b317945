"""Be the bytes of a file on their way, and what may happen to them."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.hdfs.fake_tree import CHECKSUM_TYPE
from twinhive.core.model.errors import Unreachable

PIECE = 1024 * 1024


@dataclass
class InMemoryStream:
    """Be an open file; what it held when it was opened is what a copy gets, or half of it and `failure`."""

    content: bytes
    failure: Unreachable | None = None

    def pieces(self, length: int | None) -> Iterator[bytes]:
        """Yield the content, or its first `length` bytes."""
        end = len(self.content) if length is None else min(length, len(self.content))
        if self.failure:
            yield self.content[: end // 2]
            raise self.failure
        for start in range(0, end, PIECE):
            yield self.content[start : min(end, start + PIECE)]


def comparison_checksum(content: bytes, checksum_type: str) -> str:
    """Return what is equal for equal content, but not where the blocks are guarded by another type."""
    return f"{zlib.crc32(content, 0 if checksum_type == CHECKSUM_TYPE else 1):08x}"


def damaged(content: bytes) -> bytes:
    """Return wrong bytes of the same length, or one for none."""
    return content[:-1] + b"?" if content else b"?"
