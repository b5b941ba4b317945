"""Turn events into actions: neighbours that one metastore call can express become one action.

The order of the log is kept: an event never jumps over another table's event (design, 'Applying').
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddedPartition,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    NoContent,
    RenamePartition,
)
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Partition, Table

MOST_PARTITIONS = 1_000


class Rows(Enum):
    """What becomes of the files of an object."""

    KEEP = "keep"
    APPEND = "append"
    REPLACE = "replace"


@dataclass(frozen=True)
class Edit:
    """What events make of one table or partition.

    `after` is the source's object after the last of them, None where none changed it. `rows_event`
    is the event that changed the files. `reshapes`: the columns of a table are other ones.
    """

    event_id: int
    after: Table | Partition | None = None
    rows: Rows = Rows.KEEP
    files: tuple[SourceFile, ...] = ()
    rows_event: int = 0
    cascade: bool = False
    reshapes: bool = False

    @property
    def only_appends(self) -> bool:
        """True when files were added and nothing else changed."""
        return self.rows is Rows.APPEND and self.after is None

    def then(self, later: "Edit") -> "Edit | None":
        """Return both edits as one, None where readers would miss a state in between."""
        if Rows.KEEP not in (self.rows, later.rows) and (self.rows, later.rows) != (Rows.APPEND, Rows.APPEND):
            return None
        if self.reshapes and later.reshapes:
            # The metastore drops the constraints of a column that was another one in between.
            return None
        rows = later if self.rows is Rows.KEEP else self
        return Edit(
            event_id=later.event_id,
            after=later.after or self.after,
            rows=rows.rows,
            files=self.files + later.files,
            rows_event=rows.rows_event,
            cascade=self.cascade or later.cascade,
            reshapes=self.reshapes or later.reshapes,
        )


@dataclass(frozen=True)
class EditTable:
    """Change the object or the files of one table."""

    table: Table
    edit: Edit


@dataclass(frozen=True)
class EditPartitions:
    """Change partitions of one table, by name."""

    table: Table
    edits: Mapping[str, Edit]


@dataclass(frozen=True)
class Add:
    """Add partitions of one table, by name; each with its event."""

    table: Table
    added: Mapping[str, tuple[int, AddedPartition]]


@dataclass(frozen=True)
class Drop:
    """Drop partitions of one table, by name; each with its event."""

    table: Table
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Single:
    """An event that is applied by itself."""

    event: Event


What = EditTable | EditPartitions | Add | Drop | Single


@dataclass(frozen=True)
class Action:
    """What to do for some neighbouring events; `last` is the position after it."""

    what: What
    events: tuple[Event, ...]

    @property
    def last(self) -> Position:
        """Return the position of the last event."""
        return self.events[-1].position


def actions(events: Iterable[Event], cascades: frozenset[int] = frozenset()) -> Iterator[Action]:
    """Yield the actions for events in the order of the log.

    `cascades` are the ids of the changes of columns that the source's partitions followed.
    """
    waiting: Action | None = None
    for event in events:
        new = Action(_what(event, cascades), (event,))
        joined = _joined(waiting, new) if waiting else None
        if waiting and joined is None:
            yield waiting
        waiting = joined or new
    if waiting:
        yield waiting


def _what(event: Event, cascades: frozenset[int]) -> What:
    change, event_id = event.change, event.event_id
    match change:
        case AddPartitions(table=table):
            keys = table.partition_keys
            return Add(table, {one.partition.name(keys): (event_id, one) for one in change.added})
        case DropPartitions(table=table):
            return Drop(table, {partition_name(table.partition_keys, values): event_id for values in change.values})
        case AlterPartitions(table=table):
            keys = table.partition_keys
            return EditPartitions(table, {one.name(keys): _altered(change, one, event_id) for one in change.after})
        case AlterTable(after=after) if not change.renames:
            rows = Rows.REPLACE if change.truncates else Rows.KEEP
            edit = Edit(event_id, after, rows, (), event_id, event_id in cascades, change.changes_columns)
            return EditTable(after, edit)
        case Insert():
            return _insert(change, event_id)
        case CreateTable() | DropTable() | AlterTable() | RenamePartition() | NoContent():
            return Single(event)
        case _:
            assert_never(change)


def _altered(change: AlterPartitions, after: Partition, event_id: int) -> Edit:
    moved = change.moved.get(after.values)
    rows = Rows.KEEP if moved is None and not change.truncates else Rows.REPLACE
    files = tuple(SourceFile.of_event(file, after.location, event_id) for file in moved or ())
    return Edit(event_id, after, rows, files, event_id)


def _insert(change: Insert, event_id: int) -> What:
    holder = change.table if change.partition is None else change.partition
    files = tuple(SourceFile.of_event(file, holder.location, event_id) for file in change.files)
    # What replaces the rows is not known: they stay until the scan has seen the files, and are never none.
    replaced = Edit(event_id) if change.replaces_unknown else Edit(event_id, None, Rows.REPLACE, files, event_id)
    edit = replaced if change.replaces else Edit(event_id, None, Rows.APPEND, files, event_id)
    if change.partition is None:
        return EditTable(change.table, edit)
    return EditPartitions(change.table, {change.partition.name(change.table.partition_keys): edit})


def _joined(first: Action, second: Action) -> Action | None:
    what = _joined_what(first.what, second.what)
    return None if what is None else Action(what, first.events + second.events)


def _joined_what(first: What, second: What) -> What | None:
    if isinstance(first, Single) or isinstance(second, Single) or first.table.name != second.table.name:
        return None
    appends = any(edit.rows is Rows.APPEND for edit in _edits(second))
    if appends and not all(edit.only_appends for edit in _edits(first)):
        # Files of an append are seen when they are placed, which is before the call that changes all the rest.
        return None
    match first, second:
        case EditTable(), EditTable():
            edit = first.edit.then(second.edit)
            return None if edit is None or first.edit.cascade or second.edit.cascade else replace(second, edit=edit)
        case EditPartitions(), EditPartitions():
            return _joined_edits(first, second)
        case Add(), Add():
            added = {**first.added, **second.added}
            whole = len(added) == len(first.added) + len(second.added) <= MOST_PARTITIONS
            return Add(second.table, added) if whole else None
        case Drop(), Drop():
            dropped = {**first.dropped, **second.dropped}
            return Drop(second.table, dropped) if len(dropped) <= MOST_PARTITIONS else None
        case _:
            return None


def _edits(what: What) -> Iterable[Edit]:
    match what:
        case EditTable(edit=edit):
            return [edit]
        case EditPartitions(edits=edits):
            return edits.values()
        case Add() | Drop() | Single():
            return []
        case _:
            assert_never(what)


def _joined_edits(first: EditPartitions, second: EditPartitions) -> EditPartitions | None:
    edits = dict(first.edits)
    for name, edit in second.edits.items():
        both = edits[name].then(edit) if name in edits else edit
        if both is None:
            return None
        edits[name] = both
    return EditPartitions(second.table, edits) if len(edits) <= MOST_PARTITIONS else None
