"""Note which replicas load the dumps of a database: a dump that one of them still needs is not cleaned away.

One file a replica, beside the dumps: what it has loaded last, and what it is loading.
"""

from dataclasses import asdict, dataclass

from twinhive.domain.files import join, parent
from twinhive.domain.policy import DatabaseAddress
from twinhive.dump.store import read_json, write_json
from twinhive.ports import FileReader, FileWriter

LOADERS = "_loaders"


@dataclass(frozen=True)
class LoaderNote:
    """How far a replica is, by event id (0: nothing loaded yet), and the directory that it is loading (None: none)."""

    replica: str
    event_id: int
    loading: str | None


def note_loading(files: FileWriter, directory: str, replica: DatabaseAddress, event_id: int) -> None:
    """Write that a replica, which is at an event, needs a dump."""
    _write(files, directory, replica, LoaderNote(str(replica), event_id, directory))


def note_loaded(files: FileWriter, directory: str, replica: DatabaseAddress, event_id: int) -> None:
    """Write that a replica has loaded a dump, and is at an event."""
    _write(files, directory, replica, LoaderNote(str(replica), event_id, None))


def loader_notes(files: FileReader, dumps: str) -> list[LoaderNote]:
    """Return what replicas have said of a database's dumps."""
    ((_, children),) = files.list_directories([join(dumps, LOADERS)])
    found = (read_json(files, child.path) for child in children or () if child.path.endswith(".json"))
    return [LoaderNote(**note) for note in found if note is not None]


def _write(files: FileWriter, directory: str, replica: DatabaseAddress, note: LoaderNote) -> None:
    name = f"{replica.cluster}.{replica.database}.json"
    write_json(files, join(parent(directory), LOADERS, name), asdict(note))
