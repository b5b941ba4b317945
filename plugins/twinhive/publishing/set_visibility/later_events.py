"""Know what the source's log tells after the replica's position: marks not reached yet, and what changes meanwhile.

A leaf that changes on and on never equals the source. A later event explains the difference that it makes itself: files
that it names, a partition that it adds. A leaf whose location it sets is compared where it lay before. Other events
explain nothing, and what was replaced or dropped nobody can compare: the set waits until the replica has reached that.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from twinhive.core.model.changes.affected_objects import PartitionValues, partitions_named, partitions_told, tables_of
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    DetailChange,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    RenamePartition,
)
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import join
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import SETS_TABLE, SetMark
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import is_of_default_catalog
from twinhive.hive.events.reader import read_events

_MOST = 10_000
"""Rows; of a replica that is further behind no set is judged."""
LeafName = tuple[TableName, PartitionValues | None]
"""A partition by its values, None for the table itself."""


class LaterEvents:
    """What rows of a source's log after a position say of one database; read when it is first asked for."""

    def __init__(self, ports: ReadPorts, database: str, position: Position) -> None:
        self._ports = ports
        self._database = database
        self._position = position
        self._marks: set[tuple[str, ...]] = set()
        self._told: dict[TableName, set[PartitionValues | None]] = defaultdict(set)
        self._added: set[LeafName] = set()
        self._taken: dict[TableName, set[PartitionValues | None]] = defaultdict(set)
        self._files: set[str] = set()
        self._places: dict[LeafName, str] = {}
        self._known: bool | None = None

    @property
    def is_known(self) -> bool:
        """True when all of it could be read."""
        if self._known is None:
            self.read_on()
        return bool(self._known)

    def read_on(self) -> None:
        """Read what the log says by now."""
        self._known = self._known is not False and self._read()

    def why_too_early(self, mark: SetMark, spec: SetSpec, keys: tuple[str, ...]) -> str | None:
        """Say why what both sides have now tells nothing of a set; None where it does."""
        has_passed = self.is_known and (mark.table.table, mark.spec) not in self._marks
        if not self.is_known or (not has_passed and _any_of(self._told[mark.table], spec, keys)):
            return "the replica is not at the mark yet"
        if _any_of(self._taken[mark.table], spec, keys):
            return "something of it was replaced or dropped by an event that the replica has not reached"
        return None

    def adds(self, table: TableName, values: PartitionValues | None) -> bool:
        """True for a partition that came after the mark."""
        return (table, values) in self._added

    def names(self, paths: Iterable[str]) -> bool:
        """True for files that all were inserted after the mark."""
        return self._files.issuperset(paths)

    def place_before(self, table: TableName, values: PartitionValues | None) -> str | None:
        """Return where a leaf lay that was given another location after the mark, None for others."""
        return self._places.get((table, values))

    def _read(self) -> bool:
        """Return whether all of it could be read."""
        if self._ports.source.current_event_id() - self._position.event_id > _MOST:
            return False
        try:
            for row in read_events(self._ports.source, self._position):
                if is_of_default_catalog(row) and (row.database or "").lower() == self._database:
                    self._note(decode_event(row))
                self._position = row.position
        except ActNow:  # a gap, another log, an event that cannot be read
            return False
        return True

    def _note(self, event: Event) -> None:
        change = event.change
        if isinstance(change, DetailChange):
            return
        for name in tables_of(change):
            if name.table == SETS_TABLE:
                marks = (one.values for one in partitions_told(change))
                self._marks |= {(table.lower(), *spec) for table, *spec in marks}
            else:
                self._told[name].update(partitions_named(change) or (None,))
        for leaf in _taken(change):
            if leaf not in self._added:  # of what came after the mark nothing was promised
                self._taken[leaf[0]].add(leaf[1])
        for leaf, place in _moved(change):
            self._places.setdefault(leaf, place)
        self._note_brought(change, event.event_id)

    def _note_brought(self, change: Change, event_id: int) -> None:
        match change:
            case AddPartitions(table):
                self._added |= {(table.name, values) for values in partitions_named(change)}
            case RenamePartition(table, after=after):
                self._added.add((table.name, after.values))
            case Insert(table, partition, files, replaces=False):
                place = (partition or table).location or ""
                named = (SourceFile.of_event(file, place, event_id).relative for file in files)
                self._files.update(join(place, name) for name in named)
            case _:
                return


def _taken(change: Change) -> Iterator[LeafName]:
    """Yield what is not there any more as it was."""
    match change:
        case Insert(table, partition, replaces=True):
            yield table.name, partition.values if partition else None
        case RenamePartition(table, before):
            yield table.name, before.values
        case DropPartitions(table) | AlterPartitions(table, truncates=True):
            yield from ((table.name, values) for values in partitions_named(change))
        case DropTable(table) | AlterTable(table, truncates=True):
            yield table.name, None
        case _:
            return


def _moved(change: Change) -> Iterator[tuple[LeafName, str]]:
    """Yield what has another location, each with the one that it had before."""
    match change:
        case AlterPartitions(table, after, before=before):
            for one, new in zip(before, after, strict=False):
                if one.location and one.location != new.location:
                    yield (table.name, one.values), one.location
        case AlterTable(before=table, after=changed):
            if table.location and table.location != changed.location:
                yield (table.name, None), table.location
        case _:
            return


def _any_of(leaves: Iterable[PartitionValues | None], spec: SetSpec, keys: tuple[str, ...]) -> bool:
    return any(values is None or len(values) != len(keys) or spec.matches(values, keys) for values in leaves)
