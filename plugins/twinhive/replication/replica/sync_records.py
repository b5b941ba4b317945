"""Remember the last complete sync of each external directory, and say by it whether data is there (design, 'Pending').

One file an entry in the replica's staging, named by a hash of the source's location (`hashed_files`): a reader lists
and reads only what it is asked for.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import authority, join, parent, short_hash
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.hashed_files import HashedFiles
from twinhive.replication.dump.json_files import read_json
from twinhive.replication.dump.log_point import IsOfLog, LogPoint


@dataclass(frozen=True)
class SyncedEntry:
    """The last complete sync of one source directory, a full URI, into `target`.

    event_id     newest event of the source before the listing began: what an event up to it wanted is there
    at           when it ended, in seconds since 1970
    began        when its listing began, likewise
    files, directories, bytes   what the source had
    changed      False: everything was equal
    snapshot     the snapshot that both sides have of it, '' for none
    unfinished   a later sync was begun, and not ended so far: it may have left work that has to be cleaned up
    trashed_at   when files were moved into the target's trash that may still be there, 0 for none
    pairs        the sign of the files that were equal when they were looked at last, '' for none
    log_id, event_time, digest   the log that the event is of, and what tells it from another of its id there
    failover     the token of the failover that had begun before its listing did, '' for none
    """

    source: str
    target: str
    event_id: int
    at: float
    began: float = 0.0
    files: int = 0
    directories: int = 0
    bytes: int = 0
    changed: bool = True
    snapshot: str = ""
    trashed_at: float = 0.0
    unfinished: bool = False
    pairs: str = ""
    log_id: str = ""
    event_time: int = 0
    digest: str = ""
    failover: str = ""

    @property
    def point(self) -> LogPoint:
        """Return its event, and of which log that is."""
        return LogPoint(Position(self.event_id, self.event_time, self.digest), self.log_id)


def of_event(point: LogPoint) -> dict[str, Any]:
    """Return the fields of a record that tell its event."""
    at = point.position
    return {"event_id": at.event_id, "log_id": point.log_id, "event_time": at.time, "digest": at.digest}


_SEEN = "user.twinhive.seen"
"""Extended attribute of a record: later syncs that found everything equal. It costs one call, a new file several."""

_LEFT = "user.twinhive.left"
"""Extended attribute of a record: the event as of which its directory was first found to be on the list no more."""

_FIELDS = frozenset(field.name for field in fields(SyncedEntry))


class Synced:
    """The records of a policy; each is looked for, and read, when it is first asked for.

    Who asks whether they cover events says by `is_of_log` which records are of the source's log as it is now: they
    outlive a restored metastore, and every load. To all others a record tells of a directory, whatever the log is.
    """

    def __init__(self, files: FileReader, policy: Policy, is_of_log: IsOfLog = lambda point: True) -> None:
        self._is_of_log = is_of_log
        self._files = files
        self._policy = policy
        self._kept = _records(policy).listing(files)
        self._read: dict[str, SyncedEntry | None] = {}

    def covers(self, location: str, event_id: int) -> bool:
        """True when a copy of the source's `location`, or of a directory around it, began after an event."""
        later = (entry for entry in self._around(location) if entry.event_id >= event_id)
        return any(self._is_of_log(entry.point) for entry in later)

    def has_any(self, hashes: Collection[str]) -> bool:
        """True when there is a record of exactly one of some locations, given by their `short_hash`."""
        return self._kept.has_any(hashes)

    def has(self, location: str, wanted: Callable[[SyncedEntry], bool]) -> bool:
        """True when a copy of the location, or of a directory around it, is one that is wanted."""
        return any(map(wanted, self._around(location)))

    def record_of(self, location: str) -> SyncedEntry | None:
        """Return the last complete sync of exactly this location to where it belongs now, None without one."""
        if location not in self._read:
            path = self._kept.path(short_hash(location))
            record = self._fields(path) if path else None
            self._read[location] = self._current(record) if record and record.source == location else None
        return self._read[location]

    def fields_of(self, location: str) -> dict[str, Any] | None:
        """Return a record as `given` takes it."""
        record = self.record_of(location)
        return asdict(record) if record else None

    def take(self, records: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """Take what somebody else has read, or written, of some locations; return these, which are read no more."""
        found = {record["source"]: self.given(record["source"], record) for record in records}
        self._read |= found
        return frozenset(found)

    def given(self, location: str, fields: Mapping[str, Any] | None) -> SyncedEntry | None:
        """Return what somebody else has read of a location; what was not there then is looked for."""
        if not fields:
            return self.record_of(location)
        return self._current(SyncedEntry(**{key: value for key, value in fields.items() if key in _FIELDS}))

    def records_but(self, locations: Collection[str]) -> Iterator[SyncedEntry]:
        """Yield the records of all other locations that belong where they were copied to."""
        wanted = {short_hash(location) for location in locations}
        for name, path in self._kept.all():
            record = self._fields(path) if name not in wanted else None
            if record and (current := self._current(record)):
                yield current

    def _around(self, location: str) -> Iterator[SyncedEntry]:
        root = authority(location)
        while len(location) > len(root):
            if entry := self.record_of(location):
                yield entry
            location = parent(location)

    def _fields(self, path: str) -> SyncedEntry | None:
        record = read_json(self._files, path)
        if record is None:
            return None
        seen = json.loads(self._files.attribute(path, _SEEN) or "{}")
        return SyncedEntry(**{key: value for key, value in (record | seen).items() if key in _FIELDS})

    def _current(self, entry: SyncedEntry) -> SyncedEntry | None:
        """Return a record unless, with another base directory or for a place that stays now, it is of elsewhere."""
        external, location = self._policy.external, entry.source
        is_current = external.is_copied(location) and authority(location) == external.source_root
        belongs = external.place(location, location) if is_current else None
        return entry if entry.target == belongs else None


def write_synced(files: FileWriter, policy: Policy, entry: SyncedEntry) -> None:
    """Write down a complete sync, over the one before."""
    _records(policy).write(files, short_hash(entry.source), json.dumps(asdict(entry)).encode())


def write_unchanged(files: FileWriter, policy: Policy, entry: SyncedEntry) -> None:
    """Write down that a sync which has left a record found everything equal. Raises Missing without that record."""
    seen = {**of_event(entry.point), "at": entry.at, "began": entry.began, "changed": False}
    seen["failover"] = entry.failover
    _records(policy).set_attribute(files, short_hash(entry.source), _SEEN, json.dumps(seen))


def left_since(files: FileWriter, policy: Policy, entry: SyncedEntry, event_id: int) -> int:
    """Return the event as of which a directory had left the list: the present one, when nothing was known of that."""
    records, name = _records(policy), short_hash(entry.source)
    with suppress(Missing):
        since = int(records.attribute(files, name, _LEFT) or -1)
        if since >= entry.event_id:
            return since
        records.set_attribute(files, name, _LEFT, str(event_id))
    return event_id


def forget_synced(files: FileWriter, policy: Policy, location: str) -> None:
    """Take a record away: what it tells of is gone."""
    _records(policy).remove(files, short_hash(location))


def _records(policy: Policy) -> HashedFiles:
    return HashedFiles(join(policy.staging, "external", "synced"))
