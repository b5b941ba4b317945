"""Name files and directories after tables, and after whatever else comes from outside.

A table's name may hold almost any character, and be longer than a name on HDFS once it is escaped. So names are
escaped as Hive escapes directories; `.` and `..`, which that leaves alone, too; and long ones are cut, with a hash.
"""

import re

from twinhive.core.model.files import short_hash
from twinhive.core.model.names import escape_path_name

LONGEST = 255
"""Bytes of one name on HDFS and on most file systems."""
_ROOM = 220
"""Bytes that leave room for what is put behind: an event id and a token, or a suffix."""
_NEVER = re.compile("[\x00\ud800-\udfff]")
"""Has no bytes on any file system: NUL, and halves of pairs, which only a broken message holds."""
_CUT = "%~"
"""Stands in no escaped name: there, two digits follow each percent sign."""


def file_name(name: str) -> str:
    """Return what a file or directory is called that is named by a text from outside; no two texts share one."""
    escaped = escape_path_name(name).replace(".", "%2E") if name in (".", "..") else escape_path_name(name)
    return shortened(_NEVER.sub(lambda found: f"%u{ord(found[0]):04X}", escaped), _ROOM, _CUT)


def shortened(name: str, room: int, before_hash: str = "-") -> str:
    """Return a name of at most `room` bytes: as it is, or its beginning with a hash of all of it."""
    content = name.encode("utf-8", "surrogatepass")
    if len(content) <= room:
        return name
    end = before_hash + short_hash(name)
    return content[: room - len(end)].decode("utf-8", "ignore") + end


def partition_path(name: str) -> str:
    """Return the directory of a partition of this name, below another one: each part of the name fits on HDFS."""
    return "/".join(shortened(part, LONGEST, _CUT) for part in name.split("/"))


def is_cut(path: str) -> bool:
    """True for a path that does not say the whole name of what it was made for."""
    return _CUT in path


def is_altered(file: str) -> bool:
    """True when the name of a file may not be the text that it is named by: what is in the file has to say that."""
    return "%" in file
