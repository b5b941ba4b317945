"""Remove dumps of statements by age, never one that a replica still needs (seed 002: 'a replication dumpdir cleaner').

Needed is a dump that a replica is loading, or that a replica which has loaded another dump of the same database has not
reached yet. A dump is renamed before it is removed, and looked at once more: a load that began meanwhile gets it back.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from twinhive.domain.errors import ActNow, Missing
from twinhive.domain.files import FileStatus, base_name, join, parent
from twinhive.dump.loader_notes import LOADERS, LoaderNote, loader_notes
from twinhive.dump.sealed import SealedDump, description_path
from twinhive.ports import FileReader, FileWriter
from twinhive.steps.base import Detail, Report

_REMOVING = "_removing-"


@dataclass(frozen=True)
class _Old:
    """A dump, or what is left of one that was cut off: then `last_event` is None."""

    directory: str
    made_at: float
    last_event: int | None


def clean_dumps(
    files: FileWriter, dumps: str, ttl_seconds: float, now: float, report: Report, keep: str | None = None
) -> list[str]:
    """Remove what is older than `ttl_seconds` in the directory of a database's dumps; return the directories.

    `keep` is a directory that stays, however old it is: of the dump that has just been made.
    """
    notes = loader_notes(files, dumps)
    removed = []
    for one in sorted(_older(files, dumps, now - ttl_seconds), key=lambda one: one.made_at):
        if one.directory == keep:
            continue
        if needed_by := _needed_by(one, notes):
            report(Detail("Dumps that are kept", f"kept, {', '.join(needed_by)} needs it: {one.directory}"))
        elif _remove(files, one.directory):
            report(Detail("Removed dumps", f"removed, older than {ttl_seconds:.0f} s: {one.directory}"))
            removed.append(one.directory)
    return removed


def _older(files: FileReader, dumps: str, than: float) -> list[_Old]:
    ((_, children),) = files.list_directories([dumps])
    directories = [child for child in children or () if child.is_directory and base_name(child.path) != LOADERS]
    return [old for old in (_old(files, child) for child in directories) if old.made_at < than]


def _old(files: FileReader, child: FileStatus) -> _Old:
    try:
        sealed = SealedDump.from_json(files.read(description_path(child.path)), child.path)
    except (Missing, ActNow):
        # Cut off, or of another version: how old it is only its directory says.
        return _Old(child.path, child.modified_ms / 1000, None)
    return _Old(child.path, sealed.made_at, sealed.last_event)


def _needed_by(one: _Old, notes: Iterable[LoaderNote]) -> list[str]:
    behind = {note.replica for note in notes if one.last_event is not None and note.event_id < one.last_event}
    return sorted(behind | {note.replica for note in notes if note.loading == one.directory})


def _remove(files: FileWriter, directory: str) -> bool:
    """Remove a dump; False when a load has begun meanwhile."""
    dumps, name = parent(directory), base_name(directory).removeprefix(_REMOVING)
    was, aside = join(dumps, name), join(dumps, _REMOVING + name)
    if directory == was and not files.rename(was, aside):
        return False
    if any(note.loading == was for note in loader_notes(files, dumps)):
        files.rename(aside, was)
        return False
    files.delete(aside)
    return True
