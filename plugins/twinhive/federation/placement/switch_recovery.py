"""Find in the log what the switch of a move has overwritten, and give it back: the metastore compares nothing there.

Who alters an object between the moment when it was read and the one when it was switched would lose that change
without a word. The log has kept it, and what a run was about to switch is written down before: so the next run finds it
as well, whatever became of this one. Nothing is given back that somebody has changed since. Where the log has a gap, is
another one, or has an event of that object that nobody can read, the move stops once, and says of what nobody knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from twinhive.core.model.changes.events import EventRow, Position
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
from twinhive.core.model.errors import ActNow, LogBroken, TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.placement.touches import Values
from twinhive.core.ports import EventLog, WritePorts
from twinhive.federation.placement.copied_objects import Marked
from twinhive.federation.placement.former_locations import BeforeSwitch
from twinhive.federation.placement.marking_copies import objects_now
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_scope import is_of_default_catalog
from twinhive.hive.events.event_types import KNOWN_TYPES, EventType
from twinhive.hive.events.reader import read_events

_EXAMPLES = 5
_CHANGES = {
    EventType.ALTER_TABLE,
    EventType.ALTER_PARTITION,
    EventType.ALTER_PARTITIONS,
    EventType.CREATE_TABLE,
    EventType.DROP_TABLE,
    EventType.ADD_PARTITION,
    EventType.DROP_PARTITION,
}


class NotTold(ActNow):
    """Nobody knows what a call has overwritten: the log does not tell. `call` is what it was about to do with that."""

    call: BeforeSwitch


def give_back(ports: WritePorts, name: TableName, call: BeforeSwitch) -> list[str]:
    """Write again what others have altered or made anew just before it was switched; return the names of that.

    Raises NotTold, after that, where the log does not tell of all that the call has switched.
    """
    if not call.homes:
        return []
    told = _Told(name, call.homes)
    told.read(ports.source, call.position)
    table, now = objects_now(ports.source, name, call.homes)
    now |= {None: table} if table is not None and None in call.homes else {}
    there = {values for values, one in now.items() if _is_at(one, call.homes[values])}
    lost = {values: one for values, one in told.overwritten().items() if values in there}
    if partitions := [one for one in lost.values() if isinstance(one, Partition)]:
        ports.replica.alter_partitions(partitions)
    for one in lost.values():
        if isinstance(one, Table):
            ports.replica.alter_table(name, one)
    if untold := told.untold() & there:
        places = tuple(place for place in call.places if place.values in untold)
        raise _not_told(name, replace(call, places=places), str(told.why))
    return [_called(name, values) for values in lost]


def _not_told(name: TableName, call: BeforeSwitch, why: str) -> NotTold:
    some = ", ".join(_called(name, values) for values in list(call.homes)[:_EXAMPLES])
    error = NotTold(
        f"nobody knows what others have changed in {name} at the moment when it was switched",
        found=f"{len(call.homes)} objects that were switched: {some}; {why}",
        expected=f"a log that tells all since event {call.position.event_id}",
        next_step="see whether columns and parameters of these objects are as their writers have left them, set "
        "right what is not, then run the same command again: it goes on",
    )
    error.call = call
    return error


def _called(name: TableName, values: Values) -> str:
    return str(name) if values is None else f"{name} {'/'.join(values)}"


@dataclass
class _Told:
    """What the log tells of objects since they were read to be switched.

    ours   what the call has left of each
    found  what it has written over, as others had left it
    blind  of these nobody knows what it has written over
    why    the log tells not all, None where it does
    """

    name: TableName
    homes: Mapping[Values, str]
    why: str | None = None
    ours: dict[Values, Marked] = field(default_factory=dict)
    found: dict[Values, Marked] = field(default_factory=dict)
    blind: set[Values] = field(default_factory=set)
    _left: "_Left" = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what was read: nobody has left anything since."""
        self._left = _Left(self.name)

    def read(self, log: EventLog, begin: Position) -> None:
        """Read all that came after an event; what is not told is said."""
        try:
            for row in read_events(log, begin):
                if _is_about(row, self.name):
                    self._note(row)
        except LogBroken as error:
            self._lose(error)

    def overwritten(self) -> dict[Values, Marked]:
        """Return what the call has written over; but what anybody has changed after the call."""
        return {
            values: one for values, one in self.found.items() if self._left.objects.get(values) is self.ours[values]
        }

    def untold(self) -> set[Values]:
        """Return of what nobody knows whether it was written over, or changed again since."""
        if self.why is None:
            return set()
        forgotten = {values for values in self.found if values not in self._left.objects}
        return (self.homes.keys() - self.ours.keys()) | self.blind | forgotten

    def _note(self, row: EventRow) -> None:
        try:
            change = decode_event(row).change
        except UnreadableEvent as error:
            if (row.table or self.name.table).lower() == self.name.table:
                self._lose(error)
            return  # of a rename nobody reads the old name: it is taken for an event of the new one alone
        for values, one in _after(change, self.name).items():
            if values not in self.ours and _is_at(one, self.homes.get(values)):
                self.ours[values] = one
                if values in self._left.objects:
                    self.found[values] = self._left.objects[values]
                elif self.why is not None:
                    self.blind.add(values)
        self._left.take(change)

    def _lose(self, error: TwinhiveError) -> None:
        self.why = self.why or str(error.words.what)
        self._left = _Left(self.name)


def _is_at(one: Marked, home: str | None) -> bool:
    return home is not None and str(one.location).rstrip("/") == home.rstrip("/")


def _is_about(row: EventRow, name: TableName) -> bool:
    """True for what may change a table or its partitions, and for the other alterations of its database.

    A rename is filed under the new name alone.
    """
    if not is_of_default_catalog(row) or (row.database or name.database).lower() != name.database:
        return False
    is_named = (row.table or name.table).lower() == name.table
    return row.event_type == EventType.ALTER_TABLE or (
        is_named and (row.event_type in _CHANGES or row.event_type not in KNOWN_TYPES)
    )


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
