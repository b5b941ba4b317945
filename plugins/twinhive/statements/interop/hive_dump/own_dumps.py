"""Find the dumps that we have written in Hive's layout: only the loader says that one of them is done with.

Hive takes the newest one that is finished and not loaded yet, whatever its directory is called; so ours are told from
Hive's own by their name.
"""

from dataclasses import dataclass

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, proven
from twinhive.core.model.files import FileStatus, base_name
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_ownership import is_token
from twinhive.statements.interop.hive_dump.hive_layout import OWN, HivePlaces, dumps_of_database


@dataclass(frozen=True)
class OwnDump:
    """One dump. `made_at` (epoch seconds) is when it was finished, or begun if it never was."""

    directory: str
    made_at: float
    is_finished: bool
    is_loaded: bool


def own_dumps(files: FileReader, root: str, database: str) -> list[OwnDump]:
    """Return the dumps of a database that we have written below a root, oldest first."""
    ((_, children),) = files.list_directories([dumps_of_database(root, database)])
    ours = [child for child in children or () if child.is_directory and base_name(child.path).startswith(OWN)]
    return sorted((_read(files, child) for child in ours), key=lambda dump: dump.made_at)


def done_with(dumps: list[OwnDump]) -> list[OwnDump]:
    """Return those that no load needs, of all of a database, oldest first.

    Cut off, loaded, or followed by one that is loaded: what comes after it begins where that one ends.
    """
    last_loaded = max((number for number, dump in enumerate(dumps) if dump.is_loaded), default=-1)
    return [dump for number, dump in enumerate(dumps) if number <= last_loaded or not dump.is_finished]


def own_mark(directory: str) -> Mark:
    """Return the mark of the directory of a dump that we write in Hive's layout."""
    return Mark(Purpose.DUMP, base_name(directory))


def proven_own(files: FileWriter, dump: OwnDump) -> Owned | None:
    """Return a dump's directory when it is proven that we have written it, None otherwise."""
    if not is_token(base_name(dump.directory).removeprefix(OWN)):
        return None
    return proven(files, dump.directory, own_mark(dump.directory))


def _read(files: FileReader, child: FileStatus) -> OwnDump:
    places = HivePlaces.below(child.path)
    finished = files.status(places.finished)
    made_ms = child.modified_ms if finished is None else finished.modified_ms
    return OwnDump(child.path, made_ms / 1000, finished is not None, files.status(places.loaded) is not None)
