"""Cut the list of a batch into hands, each for one task at a time, so that no process ever holds all of it.

The list of one directory may hold ten million files, as objects more than a machine has. So a long list is cut as it is
read, by number and by weight, and its hands stay packed until somebody copies them: a partition that holds nearly all
of a batch is many hands, which all tasks share.
"""

import gzip
import heapq
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from twinhive.core.model.exit_codes import Unusable
from twinhive.core.model.files import copying_weight
from twinhive.transfer.staged.staged_files import CopyItem, remaining

DEALT_AT_ONCE = 20_000
"""Up to so many files are held, and dealt evenly."""
MOST_FILES = 5_000
MOST_WEIGHT = 16 * 2**30


@dataclass(frozen=True)
class Hand:
    """Some files of a batch, packed."""

    files: int
    weight: int
    packed: bytes

    @classmethod
    def of(cls, items: Sequence[CopyItem]) -> "Hand":
        """Pack files."""
        text = "\n".join(item.to_line() for item in items)
        return cls(len(items), sum(map(_weight, items)), zlib.compress(text.encode("utf-8", "surrogatepass"), 5))

    def items(self) -> list[CopyItem]:
        """Return the files."""
        return [
            CopyItem.from_line(line)
            for line in zlib.decompress(self.packed).decode("utf-8", "surrogatepass").split("\n")
        ]


def cut_listing(content: bytes, where: str, after_event: int, tasks: int) -> list[Hand]:
    """Return the hands of a packed list, the heaviest first, without the files that are not needed. Raises Unusable."""
    items = remaining(_read(content, where), after_event)
    first = list(islice(items, DEALT_AT_ONCE + 1))
    if len(first) <= DEALT_AT_ONCE:
        hands = [Hand.of(hand) for hand in deal(sorted(first, key=lambda item: -item.length), tasks)]
    else:
        hands = [*_cut(first), *_cut(items)]
    return sorted(hands, key=lambda hand: -hand.weight)


def _read(content: bytes, where: str) -> Iterator[CopyItem]:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as lines:
            # As bytes: as text, U+2028 and its like would end lines as well, which names may hold.
            for line in lines:
                if line != b"\n":
                    yield CopyItem.from_line(line.decode("utf-8", "surrogatepass"))
    except (ValueError, TypeError, KeyError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unusable(f"{where} is not a listing: {type(error).__name__}: {error}") from error


def _cut(items: Iterable[CopyItem]) -> Iterator[Hand]:
    some: list[CopyItem] = []
    weight = 0
    for item in items:
        if some and (len(some) >= MOST_FILES or weight + _weight(item) > MOST_WEIGHT):
            yield Hand.of(some)
            some, weight = [], 0
        some.append(item)
        weight += _weight(item)
    if some:
        yield Hand.of(some)


def deal(items: Iterable[CopyItem], hands: int) -> list[list[CopyItem]]:
    """Give each item to whoever has least to do so far; hands that stay empty are left out."""
    dealt: list[list[CopyItem]] = [[] for _ in range(max(1, hands))]
    loads = [(0, number) for number in range(len(dealt))]
    for item in items:
        load, number = loads[0]
        dealt[number].append(item)
        heapq.heapreplace(loads, (load + _weight(item), number))
    return [hand for hand in dealt if hand]


def _weight(item: CopyItem) -> int:
    return copying_weight(1, item.length)
