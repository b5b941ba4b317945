"""Judge leaves that never stand still, at an event that both sides have been looked at.

A table that is written every second differs from its replica at any moment. But each look at a side has a version:
the newest event of the leaf that it holds. The source's is known by its log, read before and after; the replica's by
the stamp of the object, or by the position, and only if neither moved meanwhile. Where two looks have the same version,
they were made of the same rows: these are compared. A leaf without two such looks stays unjudged.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing, TwinhiveError
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.objects import Table
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.reader import read_events
from twinhive.replication.comparison.leaf_reader import LeafState, Side
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.verify.comparable_checksums import with_comparable_checksums
from twinhive.replication.verify.leaf_differences import LeafDifference, difference
from twinhive.replication.verify.touched_leaves import Touched

MOST_HOT = 200
"""So many leaves are looked at again and again; of more nothing is said."""
_LOOKS = 60
_BETWEEN_SECONDS = 1.0


@dataclass(frozen=True)
class HotLeaf:
    """A leaf of a table that the log has told of in every round."""

    table: str
    leaf: str

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"{self.table} {self.leaf}".rstrip()


@dataclass(frozen=True)
class JudgedLeaf:
    """What became of one: at which event it was compared, and how it differs, None for equal."""

    event: int
    difference: LeafDifference | None


class Versions:
    """What the source's log tells of some leaves, event by event, from a position on."""

    def __init__(self, log: MetastoreReader, database: str, begin: Position, leaves: Sequence[HotLeaf]) -> None:
        self._log = log
        self._touched = Touched.after(database, begin)
        self._end = begin
        self._events: dict[HotLeaf, list[int]] = {leaf: [] for leaf in leaves}

    def read_on(self) -> None:
        """Read what the log says by now. Raises ActNow for a gap."""
        for row in read_events(self._log, self._end):
            self._touched.note(row)
            for leaf, events in self._events.items():
                if leaf.leaf in self._touched.of(leaf.table, row.event_id - 1):
                    events.append(row.event_id)
            self._end = row.position

    def newest(self, leaf: HotLeaf) -> int:
        """Return the newest event of a leaf, 0 for none since the position."""
        return self._events[leaf][-1] if self._events[leaf] else 0

    def up_to(self, leaf: HotLeaf, event_id: int) -> int:
        """Return the newest event of a leaf that is not after another one, 0 for none."""
        events = self._events[leaf]
        number = bisect_right(events, event_id)
        return events[number - 1] if number else 0


@dataclass
class HotLooks:
    """Look at hot leaves on both sides until each has two looks of one version, or time is over."""

    sides: tuple[Side, Side]
    leaves: Sequence[HotLeaf]
    position: Callable[[], Position]
    wait: Callable[[float], None]
    _seen: dict[tuple[HotLeaf, int], LeafState | None] = field(default_factory=dict)
    _judged: dict[HotLeaf, JudgedLeaf] = field(default_factory=dict)

    def run(self) -> dict[HotLeaf, JudgedLeaf]:
        """Return what can be said; leaves of which nothing can are left out."""
        source, _ = self.sides
        try:
            versions = Versions(source.metastore, source.database, self.position(), self.leaves)
            for number in range(_LOOKS):
                for leaf in self._left():
                    self._look(versions, leaf)
                if not self._left():
                    break
                self.wait(_BETWEEN_SECONDS if number else 0.0)
        except TwinhiveError:
            # A gap in the log, a server that is away: nothing more can be said of them.
            pass
        return self._judged

    def _left(self) -> list[HotLeaf]:
        return [leaf for leaf in self.leaves if leaf not in self._judged or self._judged[leaf].difference]

    def _look(self, versions: Versions, leaf: HotLeaf) -> None:
        source, replica = self.sides
        versions.read_on()
        before = versions.newest(leaf)
        state = _state(source, leaf)
        versions.read_on()
        if versions.newest(leaf) == before:
            self._seen[leaf, before] = state
        begin, stamp = self.position().event_id, self._stamp(leaf)
        there = _state(replica, leaf)
        versions.read_on()
        end = self.position().event_id
        version = max(versions.up_to(leaf, begin), versions.up_to(leaf, stamp))
        stands = self._stamp(leaf) == stamp and version == max(versions.up_to(leaf, end), versions.up_to(leaf, stamp))
        if stands and (leaf, version) in self._seen:
            found = difference(leaf.table, leaf.leaf, *self._with_sums(self._seen[leaf, version], there))
            self._judged[leaf] = JudgedLeaf(max(version, begin), found and replace(found, mark=_mark(found)))

    def _with_sums(self, here: LeafState | None, there: LeafState | None) -> tuple[LeafState | None, LeafState | None]:
        """Read the checksums of files that are still those that were seen; of the others lengths are compared."""
        if here is None or there is None or here.lengths != there.lengths:
            return here, there
        source, replica = (_sums(side, state) for side, state in zip(self.sides, (here, there), strict=True))
        both = source.keys() & replica.keys()
        return with_comparable_checksums(
            self.sides,
            replace(here, checksums={name: source[name] for name in both}),
            replace(there, checksums={name: replica[name] for name in both}),
        )

    def _stamp(self, leaf: HotLeaf) -> int:
        """Return the event that has shaped the replica's leaf last, 0 for none."""
        replica = self.sides[1]
        thing = table = replica.metastore.table(replica.name(leaf.table))
        if table is not None and leaf.leaf != OWN_LEAF:
            thing = next(_partitions(replica, table, leaf.leaf), None)
        stamp = Stamp.parse(thing.parameters.get(STAMP)) if thing is not None else None
        return stamp.event_id if stamp is not None else 0


def _partitions(side: Side, table: Table, name: str) -> Iterator[Table]:
    try:
        yield from side.metastore.partitions(table.name, [name])  # type: ignore[misc]
    except Missing:
        return


def _state(side: Side, leaf: HotLeaf) -> LeafState | None:
    table = side.metastore.table(side.name(leaf.table))
    if table is None:
        return None
    return next((state for _, state in side.read(table, [leaf.leaf], {}, lambda _: False)), None)


def _sums(side: Side, state: LeafState) -> dict[str, str]:
    sums = side.checksums([file.path for file in state.files.values()])
    found = {}
    for name, file in state.files.items():
        now, value = side.files.status(file.path), sums.get(file.path)
        if value is not None and now is not None and (now.file_id, now.modified_ms) == (file.file_id, file.modified_ms):
            found[name] = value
    return found


def _mark(found: LeafDifference) -> str:
    """Stand for what differs alone: the rest of a hot leaf is never twice the same."""
    return hashlib.sha256(repr((found.kind.value, sorted(found.values.items()))).encode()).hexdigest()[:32]
