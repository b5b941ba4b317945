"""Give back what a mark has overwritten: the metastore compares nothing when partitions are altered.

Who alters an object between the moment when it was read and the one when its mark was written would lose that change
without a word. The log has kept it: the object is written again as that event has left it, without a mark. So it is
with an object that was dropped and made anew in between: our call has written the old one over it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.copy_marks import TICKET
from twinhive.core.model.placement.touches import Values, ticket_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.federation.placement.copied_objects import Marked
from twinhive.federation.placement.marking_copies import Marks, has_mark, in_pieces, objects_now, write_marks
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_types import EventType

_AT_ONCE = 300
_ALTERS = {EventType.ALTER_TABLE, EventType.ALTER_PARTITION, EventType.ALTER_PARTITIONS}
_CHANGES = _ALTERS | {
    EventType.CREATE_TABLE,
    EventType.DROP_TABLE,
    EventType.ADD_PARTITION,
    EventType.DROP_PARTITION,
}


def rewrite_marks(
    ports: WritePorts,
    policy: Policy,
    name: TableName,
    values: Iterable[Values],
    marks_of: Callable[[Mapping[Values, Marked]], Marks],
) -> tuple[int, list[str]]:
    """Write other marks on objects of a table; `marks_of` says which, of objects as they have just been read.

    Each call bears a ticket of its own, which names the newest event before its objects were read. Return of how many,
    and the names of objects that others have changed in the same moment. Raises LeaseLost.
    """
    written, restored = 0, list[str]()
    for some in in_pieces(values, policy.options.partitions_per_call):
        newest = ports.source.current_event_id()
        there = objects_now(ports.replica, name, some)
        marks = marks_of({one: there[one] for one in some if one in there})
        if marks:
            write_marks(ports, policy, there, marks, newest)
            restored += restore_overwritten(ports, policy, name, marks.keys(), newest)
            written += len(marks)
    return written, restored


def remove_marks(ports: WritePorts, policy: Policy, name: TableName, stale: Sequence[Values]) -> int:
    """Take the marks of some objects of a table away; return of how many. Raises LeaseLost."""

    def none(there: Mapping[Values, Marked]) -> Marks:
        return {values: None for values, one in there.items() if has_mark(one, policy)}

    return rewrite_marks(ports, policy, name, stale, none)[0]


def restore_overwritten(
    ports: WritePorts, policy: Policy, name: TableName, marked: Collection[Values], after_event: int
) -> Iterator[str]:
    """Write back what others have altered or made anew between an event and our call; yield the names of that."""
    ticket = ticket_of(after_event, policy.replica.cluster)
    follows = _Left(name)
    for row in _rows_until(ports, after_event, name, ticket):
        if row.event_type in _CHANGES:
            follows.take(decode_event(row).change)
    left = follows.objects
    between = {values: one for values, one in left.items() if values in marked}
    for values, one in between.items():
        write_marks(ports, policy, {values: one}, {values: None}, ports.source.current_event_id())
        yield str(name) if isinstance(one, Table) or values is None else str(values)


def changed_meanwhile(table: TableName, restored: str) -> str:
    """Return what is said of an object that was written back."""
    return f"{table}: {restored} was changed at the same time; it is as that change has left it"


def _rows_until(ports: WritePorts, after_event: int, name: TableName, ticket: str) -> Iterator[EventRow]:
    """Yield the events about a table that came before our own, and the other alterations of its database.

    A rename is filed under the new name alone.
    """
    while rows := ports.source.events_after(after_event, _AT_ONCE):
        for row in rows:
            after_event = row.event_id
            if (row.database or "").lower() != name.database:
                continue
            if (row.table or "").lower() != name.table:
                if row.event_type == EventType.ALTER_TABLE:
                    yield row
                continue
            if any(one.parameters.get(TICKET) == ticket for one in _altered(row)):
                return
            yield row


def _altered(row: EventRow) -> Collection[Marked]:
    if row.event_type not in _ALTERS:
        return ()
    change = decode_event(row).change
    match change:
        case AlterPartitions(after=partitions):
            return partitions
        case AlterTable(after=table):
            return () if change.renames else (table,)
        case CreateTable() | DropTable() | Insert() | AddPartitions() | DropPartitions() | RenamePartition():
            return ()
        case NoContent():
            return ()
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
