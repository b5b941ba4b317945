"""Follow files of events to where the source has moved them since: by renames, and by exchanges of partitions."""

from collections import defaultdict
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
from twinhive.steps.event_stream import is_readable

_MOVES = frozenset({"ALTER_TABLE", "ALTER_PARTITION", "ADD_PARTITION"})


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
        # Directories (event id, before, after, may have stayed), and the paths of one event by checksum and file name.
        self._directories: list[tuple[int, str | None, str, bool]] = []
        self._files: dict[tuple[str | None, str], list[tuple[int, str]]] = defaultdict(list)
        for event in events:
            self._note(event)

    def _note(self, event: Event) -> None:
        change = event.change
        if isinstance(change, AddPartitions):
            for named in (named for added in change.added for named in added.files):
                self._files[named.checksum, base_name(named.path)].append((event.event_id, named.path))
        elif isinstance(change, RenamePartition) or (isinstance(change, AlterTable) and change.renames):
            # A table that gets another location leaves its files where they are.
            before, after = change.before.location, change.after.location
            if before and after and before != after:
                # A rename moves the directory; who gives another location (SET LOCATION) may move nothing.
                may_stay = isinstance(change, AlterTable) and not change.renames
                self._directories.append((event.event_id, before, after, may_stay))

    def later_places(self, item: CopyItem) -> Iterator[str]:
        """Yield the places of an event's file after its event, one after the other."""
        paths, last = [item.source_path], 0
        # Neither kind of move changes the name of the file itself.
        seen = self._files[item.checksum, base_name(item.source_path)]
        exchanged = [(number, None, there, False) for number, there in seen]
        moves = sorted([*self._directories, *exchanged], key=lambda move: move[0])
        for event_id, before, after, may_stay in moves:
            if event_id <= item.event_id or event_id == last:
                continue
            places = {path: _moved(path, before, after) for path in paths}
            moved = [there for there in places.values() if there is not None]
            if moved:
                # One event moves a file once.
                last = event_id
                stayed = [path for path, there in places.items() if may_stay or there is None]
                paths = list(dict.fromkeys([*moved, *stayed]))
                yield from moved


def _moved(path: str, before: str | None, after: str) -> str | None:
    if before is not None:
        return join(after, relative_to(path, before)) if is_below(path, before) else None
    # An exchange says no more than that the same file is in another partition now.
    return after if after != path else None
