"""What Java asks a child process for, one process a file: who owns a local file, and what it permits."""

import grp
import pwd
import stat
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PERMISSION = 0o1777  # Hadoop's: the bits that change the user of a process are no part of it


@dataclass(frozen=True)
class LocalOwner:
    """Owner, group, permission, and whether it is a symbolic link; of a file that is gone nothing is known."""

    owner: str = ""
    group: str = ""
    permission: int = 0
    is_link: bool = False

    @classmethod
    def of(cls, path: Path) -> "LocalOwner":
        """Look at a path itself, not at what a link points to."""
        try:
            found = path.lstat()
        except OSError:
            return cls()
        permission = stat.S_IMODE(found.st_mode) & _PERMISSION
        return cls(_user(found.st_uid), _group(found.st_gid), permission, stat.S_ISLNK(found.st_mode))


@cache
def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@cache
def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
