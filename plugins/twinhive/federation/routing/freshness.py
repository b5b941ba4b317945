"""Which copies are what their objects are now: nothing in the log has touched these since, nor either directory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import CopyMark, DirectoryState
from twinhive.core.model.placement.touches import Values
from twinhive.core.ports import MetastoreReader
from twinhive.hive.events.reader import position_at
from twinhive.replication.notification_log.log_tail import NEVER, LogTail, Reading

StatesOf = Callable[[Mapping[str, DirectoryState]], Mapping[str, DirectoryState]]
"""Directories as they are now, by their paths: by one look at each directory around those of which a state is known."""


def read_tail(log: MetastoreReader, event_id: int) -> LogTail:
    """Read what came after an event."""
    try:
        reading = Reading(log.log_id(), event_id, position_at(log, event_id))
        reading.go_on(log)
    except ActNow as error:
        return LogTail(log.log_id(), event_id, Position(event_id), since=NEVER, untold=str(error.words.what))
    return reading.tail


class FollowedLog:
    """The tail of one metastore's log, read once, and from then on only what is new. Threads may share it.

    It holds at most `most` touches of objects: after more of them each question reads the log as if it were the first.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._read: Reading | None = None
        self._lock = Lock()

    def tail(self, log: MetastoreReader, event_id: int) -> LogTail:
        """Return what `read_tail` would return now."""
        with self._lock:
            read, self._read = self._read, None  # what fails is not gone on with
            if read is None or event_id < read.begin or read.log_id != log.log_id():
                read = Reading(log.log_id(), event_id, position_at(log, event_id))
            try:
                read.go_on(log)
            except ActNow:
                return read_tail(log, event_id)
            if read.since == NEVER:  # the log is not the one that was read
                return read_tail(log, event_id)
            if read.count <= self._most:
                self._read = read
            return read.tail


@dataclass
class Freshness:
    """Judges copies. The log is read once, from the oldest event asked for; directories only where `look` is given.

    Both are looked at: the object's own directory, and the one that a mark names. Each is looked at once. `patient`:
    where a file system of copies does not answer, they count as stale; else that is an error.
    """

    log: MetastoreReader
    look: StatesOf | None
    read: Callable[[MetastoreReader, int], LogTail] = read_tail
    patient: bool = False
    _tail: LogTail | None = field(default=None, init=False)
    _seen: dict[tuple[str, bool], DirectoryState | None] = field(default_factory=dict, init=False)

    def stale(
        self, table: TableName, marks: Mapping[Values, CopyMark], places: Mapping[Values, str]
    ) -> dict[Values, str]:
        """Return which copies of a table may not be read, and why. `places` are the objects' own directories."""
        if not marks:
            return {}
        events = [mark.event_id for mark in marks.values()]
        tail = self._between(min(events), max(events))
        found = {values: tail.stale(mark, table, values) for values, mark in marks.items()}
        if self.look is not None:
            current = {values: marks[values] for values, why in found.items() if why is None}
            found |= self._looked_at(current, places)
        return {values: why for values, why in found.items() if why is not None}

    def _looked_at(self, marks: Mapping[Values, CopyMark], places: Mapping[Values, str]) -> dict[Values, str | None]:
        """Say which copies are not what they were, or not of what is there, by their directories."""
        originals = self._states({places[values]: mark.directory for values, mark in marks.items()})
        found = {values: why_changed(mark, originals[places[values]]) for values, mark in marks.items()}
        current = {values: mark for values, mark in marks.items() if found[values] is None}
        try:
            copies = self._states({mark.location: mark.copy for mark in current.values()})
        except TwinhiveError as error:
            if not self.patient:
                raise
            return found | dict.fromkeys(current, f"its directory cannot be looked at: {error.words.what}")
        return found | {values: why_written(mark, copies[mark.location]) for values, mark in current.items()}

    def _states(self, known: Mapping[str, DirectoryState]) -> dict[str, DirectoryState | None]:
        """Return directories as they are to be compared with what is known of them; None for one that is not there."""
        assert self.look is not None
        asked = {place: (place, bool(state.below)) for place, state in known.items()}
        if new := {place: known[place] for place, key in asked.items() if key not in self._seen}:
            found = self.look(new)
            self._seen |= {asked[place]: found.get(place) for place in new}
        return {place: self._seen[key] for place, key in asked.items()}

    def _between(self, first: int, last: int) -> LogTail:
        """Return a tail that begins with an event at the latest, and ends with another, if the log has that one."""
        if self._tail is None or first < self._tail.begin or last > self._tail.end.event_id:
            self._tail = self.read(self.log, first)
        return self._tail


def why_changed(mark: CopyMark, directory: DirectoryState | None) -> str | None:
    """Say why a copy is not of what is there, by its object's directory as it is now; None where that is the same."""
    return None if directory == mark.directory else "files of the object were written without an event"


def why_written(mark: CopyMark, copy: DirectoryState | None) -> str | None:
    """Say why a copy is not what it was made, by its own directory as it is now; None where it is."""
    if copy is None:
        return "its directory is gone"
    return None if copy == mark.copy else "the copy itself was written"
