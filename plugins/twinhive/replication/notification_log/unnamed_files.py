"""Find the files that events bring and do not name, when a window is cut.

Events of creations name the files directly in the directory, not those in directories below it. Events of partitions
that got another location name none. Both are listed, and taken for what was there at the event unless the log says
otherwise: what later events name is theirs, and a directory that a later event has emptied tells nothing any more.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from twinhive.core.model.changes.affected_objects import renaming, tables_of
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    EventFile,
    Insert,
    NoContent,
    RenamePartition,
)
from twinhive.core.model.files import ChecksumForm, FileStatus, base_name, is_elsewhere, is_hidden, parent
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.ports import if_there
from twinhive.core.threads.parallel_map import in_threads
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.unnamed_event_files import Unnamed
from twinhive.replication.notification_log.directory_history import Fate, Fates, places_of, with_parents
from twinhive.replication.notification_log.dump_checksums import change_manager_root
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.notification_log.moved_partitions import Ask, moved_partitions
from twinhive.transfer.staged.listing import list_files

_THREADS = 8
_MOST_LISTINGS = 5
_MOST_LOOKS = 5
_NEAR_EVENTS = 10_000
"""So much of the log is read for directories without such files: renames may have put others in their places."""
ListedFiles = Mapping[str, FileStatus]
"""Files below a directory by their paths in it."""


@dataclass(frozen=True)
class Away:
    """An event that puts a partition where nobody can list it."""

    event_id: int
    partition: str | None
    location: str


@dataclass(frozen=True)
class Found:
    """What was found: files of events, and the tables whose content neither log nor directories tell, each with the
    first event that does not.
    """

    unnamed: tuple[Unnamed, ...] = ()
    untold: Mapping[str, int] = field(default_factory=dict)
    away: Mapping[str, Away] = field(default_factory=dict)


@dataclass(frozen=True)
class _Wanted:
    """A directory of an event. `moved`: all that is in it counts, else what lies deeper than the event names."""

    event: Event
    table: Table
    partition: str | None
    location: str
    moved: bool = False


def find_unnamed(stream: EventStream, event_range: EventRange, ask: Ask, aside: Collection[str]) -> Found:
    """Look into the directories that the events of a window have filled, but for tables that are aside.

    A partition that was moved to another file system and is there still sets its table apart: nobody can look there.
    """
    events, end = [decode_event(row) for row in event_range.rows], event_range.end
    every = [*_created(events), *_moved(events, ask)]
    wanted = [one for one in every if one.table.name.table not in aside]
    for _ in range(_MOST_LOOKS):
        found, is_restless = _found(_Looking(stream, events, end), wanted, end)
        # What a rename carries away between two calls is where the log says by then.
        if not is_restless:
            break
    return found


def _found(looking: "_Looking", wanted: Sequence[_Wanted], end: Position) -> tuple[Found, bool]:
    """Return what is found now, and whether some of it went away meanwhile."""
    listings = looking.listings(wanted)
    unnamed: list[Unnamed] = []
    untold: dict[str, int] = {}
    away: dict[str, Away] = {}
    is_restless = False
    for one, fate in looking.fates(wanted):
        if one.moved and looking.is_away(fate.place) and fate.superseded is None and not fate.is_left:
            away.setdefault(one.table.name.table, Away(one.event.event_id, one.partition, one.location))
            continue
        at_event = _at_event(one, fate, listings.get(fate.place))
        files = None if at_event is None else looking.described(at_event)
        is_gone = at_event is not None and files is None
        is_restless |= is_gone
        if files or (one.moved and files is not None):
            unnamed.append(Unnamed(one.event.event_id, one.partition or "", files))
        elif is_gone or (one.moved and not _is_passing(fate, end)):
            untold.setdefault(one.table.name.table, one.event.event_id)
    return Found(tuple(unnamed), untold, away), is_restless


def _created(events: Iterable[Event]) -> Iterator[_Wanted]:
    for event in events:
        for table, made in _made(event.change):
            name = made.name(table.partition_keys) if isinstance(made, Partition) else None
            if table.kind.has_logged_files and made.location:
                yield _Wanted(event, table, name, made.location)


def _made(change: Change) -> Iterator[tuple[Table, Table | Partition]]:
    """Yield what a change makes that holds rows, with the table that it is of."""
    match change:
        case CreateTable(table=table):
            yield from () if table.partition_keys else ((table, table),)
        case AddPartitions(table=table, added=added):
            yield from ((table, one.partition) for one in added)
        case DropTable() | AlterTable() | DropPartitions() | AlterPartitions() | RenamePartition() | Insert():
            return
        case NoContent():
            return
        case _:
            assert_never(change)


def _moved(events: Sequence[Event], ask: Ask) -> Iterator[_Wanted]:
    for event, change, partition in moved_partitions(events, ask):
        name = partition.name(change.table.partition_keys)
        yield _Wanted(event, change.table, name, partition.location or "", moved=True)


def _at_event(one: _Wanted, fate: Fate, listing: ListedFiles | None) -> ListedFiles | None:
    """Return the files of a directory that were there at the event and are not named by it; None: nobody can tell."""
    if fate.superseded is not None or (listing is None and (fate.is_left or not one.moved)):
        return None
    there = {name: status for name, status in (listing or {}).items() if name not in (fate.appended or ())}
    return there if one.moved else {name: status for name, status in there.items() if parent(name)}


def _is_passing(fate: Fate, end: Position) -> bool:
    """True where another event of the window replaces the rows, with none added before: the old ones stay till then."""
    return fate.superseded is not None and fate.superseded.event_id <= end.event_id and fate.appended is None


class _Looking:
    """Look into directories, and at what the log says of them up to then."""

    def __init__(self, stream: EventStream, events: Sequence[Event], end: Position) -> None:
        self._stream = stream
        self._events = list(events)
        self._end = end
        self._later: list[Event] = []

    @property
    def root(self) -> str:
        """The source's file system."""
        return self._stream.ports.source_files.root

    def is_away(self, place: str) -> bool:
        """True for a place on another file system. A port may be named in one place and left out in another."""
        return is_elsewhere(place, self.root)

    def fates(self, wanted: Sequence[_Wanted]) -> list[tuple[_Wanted, Fate]]:
        """Say of each directory what became of it, as far as the log was read."""
        fates = Fates([*self._events, *self._later])
        return [(one, fates.of(one.event.event_id, one.table.name, one.partition, one.location)) for one in wanted]

    def listings(self, wanted: Sequence[_Wanted]) -> dict[str, ListedFiles | None]:
        """List each directory where it is by now, None for one that is gone; then read on in the log.

        All of it only where something was found that it may speak of.
        """
        listings: dict[str, ListedFiles | None] = {}
        if any(self.is_away(one.location) for one in wanted):
            self._read_on(wanted)
        for _ in range(_MOST_LISTINGS):
            found = ((one, fate.place) for one, fate in self.fates(wanted) if fate.superseded is None)
            live = [(one, place) for one, place in found if not self.is_away(place)]
            places = {place for _, place in live} - listings.keys()
            if not places:
                break
            listings |= self._listed(sorted(places), {place for one, place in live if one.moved})
            is_found = any(one.moved or listings[place] != {} for one, place in live)
            self._read_on(wanted, None if is_found else self._end.event_id + _NEAR_EVENTS)
        return listings

    def _listed(self, places: list[str], whole: Collection[str]) -> dict[str, ListedFiles | None]:
        files = self._stream.ports.source_files
        tops = dict(files.list_directories(places))
        found: dict[str, dict[str, FileStatus]] = {place: {} for place in places if tops[place] is not None}
        roots = [(place, place) for place in found if place in whole or _has_directories(tops[place] or [])]
        for place, relative, status in list_files(files, roots):
            if place in whole or parent(relative):
                found[place][relative] = status
        return {place: found.get(place) for place in places}

    def _read_on(self, wanted: Sequence[_Wanted], last: int | None = None) -> None:
        """Keep what later events say of the tables and places, of all events, or of about those up to the `last`."""
        names = {one.table.name for one in wanted}
        places = {one.location for one in wanted} | {fate.place for _, fate in self.fates(wanted)}
        around = {above for place in places for above in with_parents(place)}
        for event in self._events:
            names |= _linked(event, names)
        self._later = []
        try:
            for event_range in self._stream.event_ranges_after(self._end):
                for event in map(decode_event, event_range.rows):
                    names |= _linked(event, names)
                    lies_there = (
                        place in around or not places.isdisjoint(with_parents(place))
                        for place in places_of(event.change)
                    )
                    if names.intersection(tables_of(event.change)) or any(lies_there):
                        self._later.append(event)
                if last is not None and event_range.end.event_id >= last:
                    return
        except UnreadableEvent:
            return  # whoever gets there says so

    def described(self, listing: ListedFiles) -> tuple[EventFile, ...] | None:
        """Return files as events name them, None when one is not there any more."""
        checksums = in_threads(self._checksum, (status.path for status in listing.values()), _THREADS)
        if None in checksums:
            return None
        if not listing:
            return ()
        ports = self._stream.ports
        kept = change_manager_root(ports.source, ports.source_files.root)
        both = zip(listing.items(), checksums, strict=True)
        return tuple(EventFile(status.path, sum_, kept, parent(name)) for (name, status), sum_ in both)

    def _checksum(self, path: str) -> str | None:
        return if_there(self._stream.ports.source_files.checksum, path, ChecksumForm.IDENTITY)


def _linked(event: Event, names: Collection[TableName]) -> set[TableName]:
    rename = renaming(event.change)
    return set(tables_of(rename)) if rename and rename.before.name in names else set()


def _has_directories(entries: Iterable[FileStatus]) -> bool:
    return any(entry.is_directory and not is_hidden(base_name(entry.path)) for entry in entries)
