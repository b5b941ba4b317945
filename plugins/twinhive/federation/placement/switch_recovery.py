"""Find in the log what the switch of a move has overwritten, and give it back: the metastore compares nothing there.

Who alters an object between the moment when it was read and the one when it was switched would lose that change
without a word. The log has kept it, and what a run was about to switch is written down before: so the next run finds it
as well, whatever became of this one. Nothing is given back that somebody has changed since.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Insert,
    NoContent,
    OfPartitions,
    RenamePartition,
)
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.touches import Values
from twinhive.core.ports import EventLog, WritePorts
from twinhive.federation.placement.copied_objects import Marked
from twinhive.federation.placement.marking_copies import objects_now
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_types import EventType

_AT_ONCE = 300
_CHANGES = {
    EventType.ALTER_TABLE,
    EventType.ALTER_PARTITION,
    EventType.ALTER_PARTITIONS,
    EventType.CREATE_TABLE,
    EventType.DROP_TABLE,
    EventType.ADD_PARTITION,
    EventType.DROP_PARTITION,
}


def give_back(ports: WritePorts, name: TableName, after_event: int, homes: Mapping[Values, str]) -> list[str]:
    """Write again what others have altered or made anew just before it was switched; return the names of that.

    The objects were read after that event, and a call was about to give them these homes.
    """
    overwritten = _overwritten(ports.source, name, after_event, homes)
    _, now = objects_now(ports.source, name, overwritten)
    lost = {values: one for values, one in overwritten.items() if values in now and _is_at(now[values], homes[values])}
    if partitions := [one for one in lost.values() if isinstance(one, Partition)]:
        ports.replica.alter_partitions(partitions)
    for one in lost.values():
        if isinstance(one, Table):
            ports.replica.alter_table(name, one)
    return [str(name) if values is None else f"{name} {'/'.join(values)}" for values in lost]


def _overwritten(log: EventLog, name: TableName, after_event: int, homes: Mapping[Values, str]) -> dict[Values, Marked]:
    """Return what a call has written over, as others had left it; but what anybody has changed after the call."""
    follows = _Left(name)
    found: dict[Values, Marked] = {}
    ours: dict[Values, Marked] = {}
    for row in _rows_after(log, after_event, name):
        change = decode_event(row).change
        for values, one in _after(change, name).items():
            if values not in ours and _is_at(one, homes.get(values)):
                ours[values] = one
                found |= {values: follows.objects[values]} if values in follows.objects else {}
        follows.take(change)
    return {values: one for values, one in found.items() if follows.objects.get(values) is ours[values]}


def _is_at(one: Marked, home: str | None) -> bool:
    return home is not None and str(one.location).rstrip("/") == home.rstrip("/")


def _rows_after(log: EventLog, after_event: int, name: TableName) -> Iterator[EventRow]:
    """Yield the events that change a table or its partitions, and the other alterations of its database.

    A rename is filed under the new name alone.
    """
    while rows := log.events_after(after_event, _AT_ONCE):
        for row in rows:
            after_event = row.event_id
            if (row.database or "").lower() != name.database or row.event_type not in _CHANGES:
                continue
            if (row.table or "").lower() == name.table or row.event_type == EventType.ALTER_TABLE:
                yield row


def _after(change: Change, name: TableName) -> dict[Values, Marked]:
    """Return what an alteration has left."""
    match change:
        case AlterPartitions(after=partitions):
            return {one.values: one for one in partitions}
        case AlterTable(after=table):
            return {None: table} if table.name == name and not change.renames else {}
        case CreateTable() | DropTable() | Insert() | AddPartitions() | DropPartitions() | RenamePartition():
            return {}
        case NoContent():
            return {}
        case _:
            assert_never(change)


@dataclass
class _Left:
    """As what others have left a table and its partitions, by the events that came, in their order.

    What is dropped is forgotten, and so is what is another object now. What is renamed away waits for its way back.
    """

    name: TableName
    objects: dict[Values, Marked] = field(default_factory=dict)
    _away: dict[TableName, dict[Values, Marked]] = field(default_factory=dict)

    def take(self, change: Change) -> None:
        """Follow the next event, which may be about another table of the database."""
        match change:
            case AlterTable():
                self._altered(change)
            case CreateTable(table=table):
                self.objects = {None: table}
            case DropTable():
                self.objects = {}
            case AddPartitions() | AlterPartitions() | DropPartitions() | RenamePartition():
                _follow_partitions(self.objects, change)
            case Insert() | NoContent():
                return
            case _:
                assert_never(change)

    def _altered(self, change: AlterTable) -> None:
        before, after = change.before.name, change.after.name
        if not change.renames:
            if after == self.name:
                self.objects[None] = change.after
        elif before == self.name:
            self._away[after], self.objects = self.objects, {}
        elif after == self.name:
            self.objects = {**self._away.pop(before, {}), None: change.after}
        elif before in self._away:
            self._away[after] = self._away.pop(before)


def _follow_partitions(left: dict[Values, Marked], change: OfPartitions) -> None:
    match change:
        case AlterPartitions():
            left |= {one.values: one for one in change.after}
        case AddPartitions():
            left |= {one.partition.values: one.partition for one in change.added}
        case DropPartitions():
            for values in change.values:
                left.pop(values, None)
        case RenamePartition():
            left.pop(change.before.values, None)
            left[change.after.values] = change.after
        case _:
            assert_never(change)
