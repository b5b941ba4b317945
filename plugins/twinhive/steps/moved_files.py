"""Follow files of events to where the source has moved them since: by renames, and by exchanges of partitions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from twinhive.copying.staged import CopyItem
from twinhive.domain.changes import AddPartitions, AlterTable, Event, RenamePartition
from twinhive.domain.events import Position
from twinhive.domain.files import base_name, is_below, join, relative_to
from twinhive.domain.policy import Policy
from twinhive.events.decoder import decode_event
from twinhive.events.reader import read_events
from twinhive.events.scope import in_scope
from twinhive.ports import MetastoreReader

_MOVES = frozenset({"ALTER_TABLE", "ALTER_PARTITION", "ADD_PARTITION"})


def moves_after(source: MetastoreReader, policy: Policy, begin: Position) -> list[Event]:
    """Return the events after a position, up to the newest, that may have moved files of the policy's tables."""
    rows = read_events(source, begin)
    return [decode_event(row) for row in rows if row.event_type in _MOVES and in_scope(row, policy)]


def followed(source: MetastoreReader, policy: Policy, items: Sequence[CopyItem]) -> list[CopyItem]:
    """Return the items with all places where the log says that their files have been after their events."""
    if not items:
        return []
    moves = moves_after(source, policy, Position(min(item.event_id for item in items)))
    return [replace(item, elsewhere=tuple(later_places(item, moves))) for item in items]


def later_places(item: CopyItem, moves: Iterable[Event]) -> Iterator[str]:
    """Yield the places of an event's file after its event, one after the other."""
    path = item.source_path
    for event in moves:
        moved = _moved(path, item, event) if event.event_id > item.event_id else None
        if moved is not None:
            path = moved
            yield path


def _moved(path: str, item: CopyItem, event: Event) -> str | None:
    change = event.change
    if isinstance(change, AddPartitions):
        # An exchange says no more than that the same file is in another partition now.
        same = (
            named.path
            for added in change.added
            for named in added.files
            if named.checksum == item.checksum and base_name(named.path) == base_name(path) and named.path != path
        )
        return next(same, None)
    if isinstance(change, AlterTable | RenamePartition):
        before, after = change.before.location, change.after.location
        if before and after and before != after and is_below(path, before):
            return join(after, relative_to(path, before))
    return None
