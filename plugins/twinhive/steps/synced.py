"""Remember the last complete sync of each external directory, and say by it whether data is there (design, 'Pending').

One file an entry in the replica's staging, named by a hash of the source's location: a reader lists the names once
and reads only the records that it is asked for.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, fields

from twinhive.domain.files import authority, base_name, join, parent, short_hash
from twinhive.domain.policy import Policy
from twinhive.dump.store import read_json
from twinhive.ports import FileReader, FileWriter


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


_SUFFIX = ".json"
_SEEN = "user.twinhive.seen"
"""Extended attribute of a record: later syncs that found everything equal. It costs one call, a new file several."""

_FIELDS = frozenset(field.name for field in fields(SyncedEntry))


class Synced:
    """The records of a policy as they were listed; each is read when it is first asked for."""

    def __init__(self, files: FileReader, policy: Policy, names: frozenset[str]) -> None:
        self._files = files
        self._policy = policy
        self._names = names
        self._read: dict[str, SyncedEntry | None] = {}

    @classmethod
    def load(cls, files: FileReader, policy: Policy) -> "Synced":
        """List the records of a policy."""
        ((_, children),) = files.list_directories([_directory(policy)])
        return cls(files, policy, frozenset(base_name(child.path) for child in children or ()))

    def covers(self, location: str, event_id: int) -> bool:
        """True when a copy of the source's `location`, or of a directory around it, began after an event."""
        return any(entry.event_id >= event_id for entry in self._around(location))

    def has_any(self, hashes: Collection[str]) -> bool:
        """True when there is a record of exactly one of some locations, given by their `short_hash`."""
        return any(name.removesuffix(_SUFFIX) in hashes for name in self._names) if hashes else False

    def is_newer(self, location: str, since: float) -> bool:
        """True when a copy of the location, or of a directory around it, began after a time in seconds since 1970."""
        return any(entry.began >= since for entry in self._around(location))

    def record_of(self, location: str) -> SyncedEntry | None:
        """Return the last complete sync of exactly this location to where it belongs now, None without one."""
        name = _name(location)
        if name not in self._names:
            return None
        if name not in self._read:
            self._read[name] = self._entry(location, name)
        return self._read[name]

    def _around(self, location: str) -> Iterator[SyncedEntry]:
        root = authority(location)
        while len(location) > len(root):
            if entry := self.record_of(location):
                yield entry
            location = parent(location)

    def _entry(self, location: str, name: str) -> SyncedEntry | None:
        path = join(_directory(self._policy), name)
        record = read_json(self._files, path)
        if record is None:
            return None
        seen = json.loads(self._files.attribute(path, _SEEN) or "{}")
        entry = SyncedEntry(**{key: value for key, value in (record | seen).items() if key in _FIELDS})
        external = self._policy.external
        # With another base directory, or for a place that stays now, what was copied is not where it belongs.
        is_current = external.is_copied(location) and authority(location) == external.source_root
        belongs = external.place(location, location) if is_current else None
        return entry if entry.source == location and entry.target == belongs else None


def write_synced(files: FileWriter, policy: Policy, entry: SyncedEntry) -> None:
    """Write down a complete sync, over the one before."""
    files.write(join(_directory(policy), _name(entry.source)), json.dumps(asdict(entry)).encode())


def write_unchanged(files: FileWriter, policy: Policy, entry: SyncedEntry) -> None:
    """Write down that a sync which has left a record found everything equal. Raises Missing without that record."""
    seen = {"event_id": entry.event_id, "at": entry.at, "began": entry.began, "changed": False}
    files.set_attribute(join(_directory(policy), _name(entry.source)), _SEEN, json.dumps(seen))


def forget_synced(files: FileWriter, policy: Policy, location: str) -> None:
    """Take a record away: what it tells of is gone."""
    files.delete_file(join(_directory(policy), _name(location)))


def _directory(policy: Policy) -> str:
    return join(policy.staging, "external", "synced")


def _name(location: str) -> str:
    return short_hash(location) + _SUFFIX
