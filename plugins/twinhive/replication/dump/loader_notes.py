"""Note which replicas load the dumps of a database: a dump that one of them still needs is not cleaned away.

One file a replica, beside the dumps: what it has loaded last, what it is loading, and how one asks whether it is still
there. A note is removed only as it was read: one that a load has written meanwhile stays.
"""

from dataclasses import asdict, dataclass

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import FileStatus, base_name, join, parent
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.replication.dump.json_files import read_json, write_json

LOADERS = "_loaders"
_GOING = "_going-"


@dataclass(frozen=True)
class LoaderNote:
    """How far a replica is, by event id (0: nothing loaded yet), and the directory that it is loading (None: none).

    `policy` and `log_id` are the marks that the replica bears, or will bear; `staging` is where its loads work.
    """

    replica: str
    event_id: int
    loading: str | None
    policy: str
    log_id: str
    staging: str

    def needs(self, directory: str, last_event: int | None) -> bool:
        """True when the replica is loading a dump, or has not reached its last event yet."""
        return self.loading == directory or (last_event is not None and self.event_id < last_event)


@dataclass(frozen=True)
class FoundNote:
    """A note, and the file that it was read from."""

    file: FileStatus
    note: LoaderNote


def note_loading(files: FileWriter, policy: Policy, log_id: str, event_id: int) -> None:
    """Write that the policy's replica, which is at an event, needs the policy's dump."""
    _write(files, policy, log_id, event_id, policy.dumps)


def note_loaded(files: FileWriter, policy: Policy, log_id: str, event_id: int) -> None:
    """Write that the policy's replica has loaded the policy's dump, and is at an event."""
    _write(files, policy, log_id, event_id, None)


def loader_notes(files: FileReader, dumps: str) -> list[FoundNote]:
    """Return what replicas have said of a database's dumps. Raises ActNow for a note of another version."""
    read = (_read(files, child) for child in children(files, join(dumps, LOADERS)) if child.path.endswith(".json"))
    return [found for found in read if found is not None]


def remove_note(files: FileWriter, found: FoundNote) -> bool:
    """Remove a note; False when a load has written another one meanwhile.

    It goes under a name that no load writes, and counts as a note there, until it is seen to be the one that was read.
    """
    was = found.file.path
    going = join(parent(was), _GOING + base_name(was).removeprefix(_GOING))
    if was != going and not files.rename(was, going):
        return False
    there = files.status(going)
    if there is not None and _same(there, found.file):
        return files.delete_file(going)
    # Where it cannot go back, a load has written a still newer one.
    if was != going and not files.rename(going, was):
        files.delete_file(going)
    return False


def _same(one: FileStatus, other: FileStatus) -> bool:
    return (one.file_id, one.modified_ms) == (other.file_id, other.modified_ms)


def _read(files: FileReader, file: FileStatus) -> FoundNote | None:
    try:
        note = read_json(files, file.path)
        return None if note is None else FoundNote(file, LoaderNote(**note))
    except (ValueError, TypeError) as error:
        raise ActNow(
            f"{file.path} was not written by this version of twinhive: it is not known which dumps are needed",
            found=error,
            expected="the note of a replica that loads dumps",
            next_step="clean with the version that wrote it; if that replica is no more, remove the note",
        ) from error


def _write(files: FileWriter, policy: Policy, log_id: str, event_id: int, loading: str | None) -> None:
    replica = policy.replica
    note = LoaderNote(str(replica), event_id, loading, policy.name, log_id, policy.staging)
    name = f"{replica.cluster}.{replica.database}.json"
    write_json(files, join(parent(policy.dumps), LOADERS, name), asdict(note))
