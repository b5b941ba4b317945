"""Write and read `_files`, the lists of files of Hive's dumps: `<path>#<checksum>#<cmroot>#<subdirectory>` lines.

Hive splits a line from the left (`ReplChangeManager.decodeFileUri`), so no path can hold a `#`.
"""

from collections.abc import Iterable

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import EventFile
from twinhive.core.model.files import parent
from twinhive.statements.interop.hive_dump.hive_dump_errors import unreadable

_PARTS = 4


def encode_files(files: Iterable[SourceFile], cmroot: str) -> bytes:
    """Return the content of a list; `cmroot` is the change manager's directory of files that name none.

    A file without a checksum is whatever lies at its path when it is loaded.
    """
    return "".join(f"{encode_entry(file, cmroot)}\n" for file in files).encode("ascii")


def encode_entry(file: SourceFile, cmroot: str) -> str:
    """Return one line."""
    known = (file.checksum, file.cmroot or cmroot) if file.checksum else ("", "")
    return "#".join([file.path, *known, parent(file.relative)])


def decode_entries(content: bytes, path: str) -> tuple[str, ...]:
    """Return the lines of a list, which are also how an event's message names files. Raises ActNow."""
    try:
        return tuple(line for line in content.decode().split("\n") if line)
    except UnicodeDecodeError as error:
        raise unreadable(path, error, "names of files in UTF-8") from error


def decode_entry(entry: str) -> EventFile:
    """Read one line."""
    path, checksum, cmroot, subdirectory = (*entry.split("#", _PARTS - 1), "", "", "")[:_PARTS]
    return EventFile(path, checksum or None, cmroot or None, subdirectory)
