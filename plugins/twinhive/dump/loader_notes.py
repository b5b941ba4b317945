"""Note which replicas load a dump: a dump that one of them still needs is not cleaned away."""

from dataclasses import asdict, dataclass

from twinhive.domain.files import base_name, join
from twinhive.domain.policy import DatabaseAddress
from twinhive.dump.store import read_json, write_json
from twinhive.ports import FileReader, FileWriter


@dataclass(frozen=True)
class LoaderNote:
    """What one replica says of one dump; `loaded` is False while it loads."""

    replica: str
    event_id: int
    loaded: bool


def note_loader(files: FileWriter, directory: str, replica: DatabaseAddress, event_id: int, *, loaded: bool) -> None:
    """Write what a replica says of a dump."""
    name = f"{replica.cluster}.{replica.database}.json"
    write_json(files, join(directory, "loaders", name), asdict(LoaderNote(str(replica), event_id, loaded)))


def loader_notes(files: FileReader, directory: str) -> list[LoaderNote]:
    """Return what replicas have said of a dump."""
    ((_, children),) = files.list_directories([join(directory, "loaders")])
    found = (read_json(files, child.path) for child in children or () if base_name(child.path).endswith(".json"))
    return [LoaderNote(**note) for note in found if note is not None]
