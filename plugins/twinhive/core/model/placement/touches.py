"""Which objects an event touches: a copy that was made before it is a copy of something that was."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

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
    NotReplicated,
    OfPartitions,
    RenamePartition,
)
from twinhive.core.model.names import TableName

Values = tuple[str, ...] | None
"""Of a partition; None stands for the table itself."""


@dataclass(frozen=True)
class Touch:
    """An event that touches an object: `values` None is the table itself; `whole`: the table, and every partition."""

    table: TableName
    values: Values = None
    whole: bool = False

    def concerns(self, values: Values) -> bool:
        """True when the object of these values is touched."""
        return self.whole or self.values == values


def touches_of(change: Change) -> Iterable[Touch]:
    """Yield what an event touches."""
    match change:
        case Insert():
            yield Touch(change.table.name, change.partition.values if change.partition else None)
        case CreateTable() | DropTable():
            yield Touch(change.table.name, whole=True)
        case AlterTable():
            yield from _of_altered_table(change)
        case AddPartitions() | AlterPartitions() | DropPartitions() | RenamePartition():
            yield from _of_partitions(change)
        case NotReplicated():
            if change.table:
                yield Touch(change.table, whole=True)
        case NoContent():
            return
        case _:
            assert_never(change)


def _of_altered_table(change: AlterTable) -> Iterable[Touch]:
    if change.renames:
        return [Touch(one.name, whole=True) for one in (change.before, change.after)]
    # Partitions have places and columns of their own.
    return [Touch(change.after.name)]


def _of_partitions(change: OfPartitions) -> Iterable[Touch]:
    name = change.table.name
    match change:
        case AddPartitions():
            return [Touch(name, one.partition.values) for one in change.added]
        case AlterPartitions():
            return [Touch(name, one.values) for one in change.after]
        case DropPartitions():
            return [Touch(name, values) for values in change.values]
        case RenamePartition():
            return [Touch(name, one.values) for one in (change.before, change.after)]
        case _:
            assert_never(change)


def touched_at(touches: Iterable[tuple[int, Touch]], values: Values, after_event: int) -> int | None:
    """Return the first event after one that has changed an object, None when it is what it was.

    `touches` are those of its table, in the order of the events; all events after that one have to be among them.
    """
    later = (event_id for event_id, touch in touches if event_id > after_event and touch.concerns(values))
    return next(later, None)
