"""Read the entries by which an event names files."""

from twinhive.core.model.changes.kinds import EventFile, Files
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.fields import MessageFields

_PARTS = 4  # path, checksum, root of the change manager, subdirectory


def event_files(message: MessageFields, entries: tuple[str, ...]) -> Files:
    """Read `<path>#<checksum>#<cmroot>#<subdirectory>` entries. Raises ActNow for one without a path.

    Split from the right, because a path may hold the separator (Hive splits from the left). An
    entry with fewer parts is a path alone.
    """
    files = tuple(_file(entry) for entry in entries)
    if not all(file.path for file in files):
        raise unreadable(message.row, f"files: {entries!r:.80}", "entries that begin with a path")
    return files


def _file(entry: str) -> EventFile:
    parts = entry.rsplit("#", _PARTS - 1)
    if len(parts) < _PARTS:
        return EventFile(entry)
    path, checksum, cmroot, subdirectory = parts
    return EventFile(path, checksum or None, cmroot or None, subdirectory)
