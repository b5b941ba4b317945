"""Cut the tables of a dump into batches that are listed and copied as one task each."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from twinhive.core.model.files import copying_weight, short_hash
from twinhive.core.model.names import TableName
from twinhive.core.model.printable import printable

MAX_BATCHES = 500
_LONGEST_LABEL = 250


@dataclass(frozen=True)
class TableSize:
    """What planning knows of a table: partitions, bytes and files below its location."""

    name: TableName
    partitions: int
    length: int
    files: int

    @property
    def objects(self) -> int:
        """Count the directories that have to be listed."""
        return max(self.partitions, 1)

    @property
    def weight(self) -> int:
        """Estimate the cost of copying, in bytes."""
        return copying_weight(self.files, self.length)


@dataclass(frozen=True)
class Slice:
    """The partitions [first, last) of a table in the order of their names; `of` counts them all."""

    table: TableName
    first: int
    last: int
    of: int

    @property
    def is_first(self) -> bool:
        """True for the slice that carries the table itself."""
        return self.first == 0


@dataclass(frozen=True)
class Batch:
    """Some whole tables or one range of partitions of a table, with a name and a label.

    The name is stable for a dump; the label is for people: `sales.orders +37 tables`.
    """

    name: str
    label: str
    slices: tuple[Slice, ...]


def slices_of_each_table(batches: Iterable[Batch]) -> Counter[TableName]:
    """Count for each table the slices that batches hold of it."""
    return Counter(slice_.table for batch in batches for slice_ in batch.slices)


def without_tables(batches: Iterable[Batch], tables: Collection[TableName]) -> tuple[Batch, ...]:
    """Return batches without some tables; one of which nothing is left goes."""
    kept = ((one, tuple(slice_ for slice_ in one.slices if slice_.table not in tables)) for one in batches)
    return tuple(
        one if slices == one.slices else Batch(one.name, _label(slices), slices) for one, slices in kept if slices
    )


def label_for_airflow(label: str) -> str:
    """Return a label as Airflow has room for it: the name of a partition may be longer, and stays one of its own."""
    label = printable(label)
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 9]}~{short_hash(label, 8)}"


def cut_batches(sizes: Sequence[TableSize], *, most_objects: int, most_weight: int) -> tuple[Batch, ...]:
    """Return at most 500 batches, the heaviest first.

    A table above a limit gets batches of its own, by equal ranges of partitions; the rest are
    packed, heaviest first, each into the lightest batch. The limits grow when they would give
    more than 500 batches, because every batch is a task.
    """
    total_objects = sum(size.objects for size in sizes)
    most_objects = max(most_objects, 2 * total_objects // MAX_BATCHES + 1)
    most_weight = wanted_weight(sizes, most_weight)
    large = [size for size in sizes if size.objects > most_objects or size.weight > most_weight]
    cut = {size.name for size in large}
    small = [size for size in sizes if size.name not in cut]
    groups = [group for size in large for group in _split(size, most_objects, most_weight)]
    groups += _pack(small, most_objects, most_weight)
    return tuple(Batch(f"b{number:04d}", _label(group), group) for number, group in enumerate(groups, start=1))


def wanted_weight(sizes: Iterable[TableSize], most_weight: int) -> int:
    """Return the limit of a batch's weight: heavier is only what cannot be cut, or holds a heavy partition."""
    return max(most_weight, 2 * sum(size.weight for size in sizes) // MAX_BATCHES + 1)


def _split(size: TableSize, most_objects: int, most_weight: int) -> list[tuple[Slice, ...]]:
    pieces = max(-(-size.objects // most_objects), -(-size.weight // most_weight))
    pieces = min(pieces, size.objects)
    bounds = [round(size.partitions * piece / pieces) for piece in range(pieces + 1)]
    return [(Slice(size.name, first, last, size.partitions),) for first, last in pairwise(bounds)]


def _pack(sizes: Sequence[TableSize], most_objects: int, most_weight: int) -> list[tuple[Slice, ...]]:
    if not sizes:
        return []
    by_objects = -(-sum(size.objects for size in sizes) // most_objects)
    by_weight = -(-sum(size.weight for size in sizes) // most_weight)
    count = min(max(by_objects, by_weight, 1), len(sizes))
    bins: list[tuple[int, int, list[TableSize]]] = [(0, number, []) for number in range(count)]
    for size in sorted(sizes, key=lambda size: (-size.weight, size.name)):
        load, number, members = heapq.heappop(bins)
        heapq.heappush(bins, (load + max(size.weight, 1), number, [*members, size]))
    full = sorted((members for _, _, members in bins if members), key=lambda members: members[0].name)
    return [tuple(Slice(size.name, 0, size.partitions, size.partitions) for size in members) for members in full]


def _label(slices: tuple[Slice, ...]) -> str:
    first, others = slices[0], len(slices) - 1
    if others:
        return f"{first.table} +{others} table{'s' if others > 1 else ''}"
    if first.last - first.first < first.of:
        return f"{first.table} (partitions {first.first + 1} to {first.last} of {first.of})"
    if first.of:
        return f"{first.table} ({first.of} partition{'s' if first.of > 1 else ''})"
    return str(first.table)
