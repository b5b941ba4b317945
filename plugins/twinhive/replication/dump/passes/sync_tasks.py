"""Put the copies of external tables into tasks: a large one has its own, small ones share."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twinhive.core.model.batches import MAX_BATCHES, Batch
from twinhive.core.model.files import Usage, copying_weight
from twinhive.replication.dump.passes.external_entries import Entry

_SHARE_OF_KNOWN = 100
"""What was synced before is mostly listed: of its bytes a hundredth is expected to be copied."""
_BYTES_PER_DIRECTORY = 16_384
"""Listing a million directories takes as long as copying sixteen gigabytes, some minutes."""


@dataclass(frozen=True)
class SizedEntry:
    """A directory to be synced: what is below it, and when its last complete sync was, 0 for never."""

    entry: Entry
    files: int = 0
    bytes: int = 0
    synced_at: float = 0.0
    directories: int = 0

    @property
    def weight(self) -> int:
        """Estimate what a sync takes, in bytes."""
        whole = copying_weight(self.files, self.bytes)
        return self.directories * _BYTES_PER_DIRECTORY + (whole // _SHARE_OF_KNOWN if self.synced_at else whole)


@dataclass(frozen=True)
class SyncTask:
    """The directories that one task syncs."""

    name: str
    entries: tuple[Entry, ...]

    @property
    def batch(self) -> Batch:
        """Return the task as Airflow shows it: `sales.events +37 tables`."""
        return Batch(self.name, self._label, ())

    @property
    def _label(self) -> str:
        first = self.entries[0]
        others = len({entry.table for entry in self.entries} - {first.table})
        if others:
            return f"{first.table} +{others} table{'s' if others > 1 else ''}"
        if len(self.entries) > 1:
            return f"{first.table} ({len(self.entries)} locations)"
        return first.key


def cut_tasks(sized: Sequence[SizedEntry], most_weight: int) -> tuple[SyncTask, ...]:
    """Return at most 500 tasks of about `most_weight`: what was never synced first, then what was longest ago.

    An entry above that weight is alone. The limit grows when it would give more tasks.
    """
    total = sum(each.weight for each in sized)
    most_weight = max(most_weight, 2 * total // MAX_BATCHES + 1)
    groups: list[list[Entry]] = []
    room = -1
    for each in sorted(sized, key=lambda each: (each.synced_at, each.entry)):
        weight = each.weight
        if weight > most_weight or weight > room:
            groups.append([])
            room = most_weight
        groups[-1].append(each.entry)
        room -= weight
    return tuple(SyncTask(f"e{number:04d}", tuple(group)) for number, group in enumerate(groups, start=1))


def sizes_of_tables(sized: Iterable[SizedEntry], copies: Iterable[Entry]) -> dict[str, Usage]:
    """Return what is below the directories of each table, by name; not of one that has a directory without a size.

    A directory that tables share counts for the first of them, as in `copies`.
    """
    known = {each.entry: each for each in sized}
    entries: dict[str, list[Entry]] = defaultdict(list)
    for entry in copies:
        entries[entry.table.table].append(entry)
    return {table: _sum(known[entry] for entry in some) for table, some in entries.items() if known.keys() >= set(some)}


def _sum(sized: Iterable[SizedEntry]) -> Usage:
    every = list(sized)
    return Usage(
        sum(each.bytes for each in every), sum(each.files for each in every), sum(each.directories for each in every)
    )
