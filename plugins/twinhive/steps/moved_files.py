"""Follow files of events to where the source has moved them since: by renames and by exchanges of partitions.

The log is read up to its newest event, also beyond the window that the files belong to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from twinhive.copying.staged import CopyItem
from twinhive.domain.changes import AddPartitions, AlterTable, Change, Event, RenamePartition
from twinhive.domain.events import Position
from twinhive.domain.files import base_name, is_below, join, relative_to
from twinhive.domain.policy import Policy
from twinhive.events.decoder import decode_event
from twinhive.events.reader import read_events
from twinhive.events.scope import in_scope
from twinhive.ports import MetastoreReader

_MOVING = frozenset({"ALTER_TABLE", "ALTER_PARTITION", "ADD_PARTITION"})


def followed(source: MetastoreReader, policy: Policy, items: Sequence[CopyItem]) -> list[CopyItem]:
    """Return the items with all places where their files have been after their events."""
    if not items:
        return []
    first = min(item.event_id for item in items)
    rows = read_events(source, Position(first))
    moves = [decode_event(row) for row in rows if row.event_type in _MOVING and in_scope(row, policy)]
    return [replace(item, elsewhere=tuple(_places(item, moves))) for item in items]


def _places(item: CopyItem, moves: Sequence[Event]) -> Iterator[str]:
    path = item.source_path
    for event in moves:
        moved = _moved(path, item, event.change) if event.event_id > item.event_id else None
        if moved is not None and moved != path:
            path = moved
            yield path


def _moved(path: str, item: CopyItem, change: Change) -> str | None:
    match change:
        case AlterTable() if change.renames:
            return _below(path, change.before.location, change.after.location)
        case RenamePartition(before=before, after=after):
            return _below(path, before.location, after.location)
        case AddPartitions(added=added):
            # An exchange says no more than that the same file is in another partition now.
            same = (file.path for one in added for file in one.files if file.checksum == item.checksum)
            return next((place for place in same if base_name(place) == base_name(path)), None)
        case _:
            return None


def _below(path: str, before: str | None, after: str | None) -> str | None:
    return join(after, relative_to(path, before)) if before and after and is_below(path, before) else None
