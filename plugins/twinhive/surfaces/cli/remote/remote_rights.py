"""Say whose users may change the files of a remote's tables: no gateway keeps them from it, only these rights do."""

import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import FileStatus
from twinhive.core.model.text import Text
from twinhive.core.ports.file_systems import FileReader

_SHOWN = 5


@dataclass(frozen=True)
class Rights:
    """Who may write to directories of tables, and which tables' these are."""

    owner: str
    group: str
    permission: str
    has_acl: bool
    tables: tuple[str, ...]

    @property
    def who(self) -> str:
        """Who may write, in words; HDFS's superusers always may."""
        found = [f"user {self.owner}"] if self.permission[1:2] == "w" else []
        found += [f"group {self.group}"] if self.permission[4:5] == "w" else []
        if self.permission[7:8] == "w":
            found = ["every user"]
        return " and ".join([*found, *(["whom the ACL names"] if self.has_acl else [])]) or "nobody"


@dataclass(frozen=True)
class FileRights:
    """Of one remote's tables: the rights on their directories, and why others could not be looked at."""

    rights: tuple[Rights, ...] = ()
    troubles: tuple[Text, ...] = ()


NO_RIGHTS: Final = FileRights()


def file_rights(places: Mapping[str, str], files_at: Callable[[str], FileReader]) -> FileRights:
    """Ask the file systems for the directories of tables."""
    found: dict[tuple[str, str, str, bool], list[str]] = {}
    troubles: dict[Text, list[str]] = {}
    for table, place in sorted(places.items()):
        try:
            status = files_at(place).status(place)
        except TwinhiveError as error:
            troubles.setdefault(error.words.what, []).append(table)
            continue
        key = ("", "", "", False) if status is None else _key(status)
        found.setdefault(key, []).append(table)
    gone = found.pop(("", "", "", False), [])
    if gone:
        troubles["their directories are not there"] = gone
    rights = tuple(Rights(*key, tuple(tables)) for key, tables in found.items())
    return FileRights(rights, tuple(_some(tables) + ": " + why for why, tables in troubles.items()))


def lines(local: str, found: FileRights) -> Iterator[Text]:
    """Return what people are told of the rights of one remote."""
    for one in found.rights:
        named = f"{one.permission} {one.owner}:{one.group}"
        yield (
            f"{local}: files may be changed by {one.who} ({named}), whatever the gateway refuses: {_some(one.tables)}"
        )
    yield from (f"{local}: who may change files was not looked at: " + one for one in found.troubles)


def fields(found: FileRights) -> list[dict[str, Any]]:
    """Return the rights as they are printed as JSON."""
    return [{**asdict(one), "may_write": one.who} for one in found.rights]


def _key(status: FileStatus) -> tuple[str, str, str, bool]:
    return status.owner, status.group, stat.filemode(status.permission)[1:], status.has_acl


def _some(tables: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(tables) - _SHOWN} more" if len(tables) > _SHOWN else ""
    return ", ".join(tables[:_SHOWN]) + more
