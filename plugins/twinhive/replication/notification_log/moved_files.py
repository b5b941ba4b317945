"""Follow files of events to where the source has moved them since: by renames, and by exchanges of partitions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import assert_never

from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
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
from twinhive.core.model.files import base_name, is_below, join, parent, relative_to
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_scope import in_scope
from twinhive.hive.events.event_types import EventType
from twinhive.hive.events.reader import read_events
from twinhive.replication.notification_log.event_stream import is_readable
from twinhive.transfer.staged.staged_files import CopyItem

_MOVES = frozenset({EventType.ALTER_TABLE, EventType.ALTER_PARTITION, EventType.ADD_PARTITION})
_MOST_FOLLOWED = 50
"""So many places of one file are followed further: files of the same content, empty ones, may be everywhere."""
MovedFile = tuple[int, str | None, str]
"""The event, the directory that it has moved, and where to; without one, where the file itself is since."""


def moves_after(source: MetastoreReader, policy: Policy, begin: Position) -> list[Event]:
    """Return the events after a position, up to the newest, that may have moved files of the policy's tables.

    Those of all tables of its database: once renamed out of the scope, a table may be renamed again. What cannot be
    read is left out: a file that it has moved is told to be lost.
    """
    everywhere = replace(policy, include=(".*",), exclude=())
    rows = (row for row in read_events(source, begin) if row.event_type in _MOVES and is_readable(row))
    return [decode_event(row) for row in rows if in_scope(row, everywhere)]


def followed(source: MetastoreReader, policy: Policy, items: Sequence[CopyItem]) -> list[CopyItem]:
    """Return the items with all places where the log says that their files have been after their events."""
    if not items:
        return []
    moves = Moves(moves_after(source, policy, Position(min(item.event_id for item in items))))
    return [replace(item, elsewhere=tuple(moves.later_places(item))) for item in items]


class Moves:
    """The moves that events tell of, found by what was moved: a window has few of them among many events."""

    def __init__(self, events: Iterable[Event]) -> None:
        # Directories (event id, before, after), the paths of one event by checksum and name of the file, the places of
        # added partitions by their names, and the names that renames have given to partitions.
        self._directories: list[MovedFile] = []
        self._files: dict[tuple[str | None, str], list[MovedFile]] = defaultdict(list)
        self._added: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._names: dict[str, set[str]] = defaultdict(set)
        for event in events:
            self._note(event)

    def _note(self, event: Event) -> None:
        change = event.change
        match change:
            case AddPartitions():
                self._note_added(change, event.event_id)
            case RenamePartition(table=table, before=before, after=after):
                self._names[before.name(table.partition_keys)].add(after.name(table.partition_keys))
                self._note_move(event.event_id, before.location, after.location)
            case AlterTable(before=before, after=after):
                self._note_move(event.event_id, before.location, after.location)
            case CreateTable() | DropTable() | DropPartitions() | AlterPartitions() | Insert() | NoContent():
                return
            case _:
                assert_never(change)

    def _note_added(self, change: AddPartitions, event_id: int) -> None:
        for added in change.added:
            name, place = added.partition.name(change.table.partition_keys), added.partition.location or ""
            self._added[name].append((event_id, place))
            for named in added.files:
                self._files[named.checksum, base_name(named.path)].append((event_id, None, named.path))

    def _note_move(self, event_id: int, before: str | None, after: str | None) -> None:
        # SET LOCATION moves nothing; who says so may have moved the files before: both places are looked at.
        if before and after and before != after:
            self._directories.append((event_id, before, after))

    def later_places(self, item: CopyItem) -> Iterator[str]:
        """Yield the places where an event's file may have been after its event, one after the other."""
        places = {item.path: None}
        # Neither kind of move changes the name of the file itself.
        exchanged = [*self._files[item.checksum, base_name(item.path)], *self._exchanged(item)]
        for event_id, before, after in sorted([*self._directories, *exchanged], key=lambda move: move[0]):
            if event_id <= item.event_id:
                continue
            # An exchange says no more than that such a file is in another partition now.
            from_each = (_moved(place, before, after) for place in islice(places, _MOST_FOLLOWED))
            moved = [after] if before is None else [there for there in from_each if there is not None]
            new = [there for there in moved if there not in places]
            places |= dict.fromkeys(new)
            yield from new

    def _exchanged(self, item: CopyItem) -> Iterator[MovedFile]:
        """Yield where a nested file is if its partition was exchanged: no event names it, the name stays."""
        names = {item.partition or ""} if parent(item.relative) else set()
        while more := {new for name in names for new in self._names.get(name, ())} - names:
            names |= more
        for name in names:
            for event_id, location in self._added.get(name, ()):
                yield event_id, None, join(location, item.relative)


def _moved(path: str, before: str | None, after: str) -> str | None:
    return join(after, relative_to(path, before)) if before and is_below(path, before) else None
