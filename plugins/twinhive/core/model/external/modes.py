"""How the external tables of a policy are replicated, and where their data goes (seed 001).

The rule: location on the replica = base directory + full source path, for tables and for partitions with a location of
their own; the base `/` keeps the path. Data elsewhere than on the source's file system stays where it is if the policy
names it, and is refused if not.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.files import authority, join
from twinhive.core.model.next_steps import BASE_DIRECTORY, NAME_A_BASE, ONLY_IN_A_POLICY_FILE
from twinhive.core.model.text import Clear
from twinhive.core.model.untrusted_paths import is_collapsed

COPY: Final = "copy"
METADATA_ONLY: Final = "metadata_only"
FAIL: Final = "fail"
EMPTY: Final = "empty"
LEAVE_OUT: Final = "leave_out"
NO_BASE = "-"
"""Stands for no base directory where a replica says which one its external tables were made with."""
_RETURNED = "returned from "
"""Before the base directory of the other direction, where a database says that its tables are where they were first."""


@dataclass(frozen=True)
class External:
    """What a policy says of external tables: the keys that `settings.policies.ExternalSettings` explains, and

    included        False: they are left out and listed
    base_directory  without a slash at the end unless it is a file system's root (`hdfs://west/`)
    source_root     scheme and authority of the source's file system: what lies there is copied
    returns_from    of a way back: the base directory of the other direction, which is on the source now. What lies
                    below it goes to the path that it came from; `base_directory` is the root of the file system
    """

    included: bool = True
    base_directory: str | None = None
    source_root: str = ""
    data: Literal["copy", "metadata_only"] = "copy"
    stay: tuple[str, ...] = ()
    missing: Literal["fail", "empty"] = "fail"
    delete: Literal["trash", "permanently", "no"] = "trash"
    trash_days: float = 1.0
    preserve: str = "ugpa"
    snapshots: bool = False
    unfinished: Literal["leave_out", "copy"] = "leave_out"
    returns_from: str | None = None

    @property
    def base_mark(self) -> str:
        """Return what the replica's database remembers of the base directory."""
        return f"{_RETURNED}{self.returns_from}" if self.returns_from else self.base_directory or NO_BASE

    @property
    def undone_mark(self) -> str:
        """Return what a database must remember for this to bring its external tables back where they came from."""
        return self.returns_from or (f"{_RETURNED}{self.base_directory}" if self.base_directory else NO_BASE)

    @property
    def brings_data(self) -> bool:
        """False when no data of external tables is ever copied: nothing but metadata is replicated then."""
        return self.included and self.data == COPY and self.base_directory is not None

    def stays(self, location: str) -> bool:
        """True for data in a third place, which the policy says is to stay there."""
        return any(re.fullmatch(pattern, location) for pattern in self.stay)

    def is_copied(self, location: str) -> bool:
        """True when the data at a source location has to be brought to the replica."""
        return self.data == COPY and not self.stays(location)

    def place(self, location: str, what: str) -> str:
        """Return where the replica's `what` (a table, a partition) lies. Raises InvalidSettings."""
        if self.stays(location):
            return location
        if is_collapsed(location):
            raise InvalidSettings(
                f"the location of {what} is another place than it says",
                found=location,
                expected="a location without the components '.' and '..'",
                next_step="correct it at the source (ALTER TABLE ... SET LOCATION), or exclude the table; then "
                + Clear("the task"),
            )
        if self.source_root != authority(location):
            raise InvalidSettings(
                f"the data of {what} is in a place that this policy says nothing of",
                found=location,
                expected=f"a location on {self.source_root}, or one that external_tables.stay allows to stay",
                next_step=f"if both clusters read it there, add '{re.escape(authority(location))}/.*' to "
                "external_tables.stay " + ONLY_IN_A_POLICY_FILE + "; else exclude the table; then " + Clear("the task"),
            )
        if self.base_directory is None:
            raise InvalidSettings(
                f"{what} is external, and the policy has no " + BASE_DIRECTORY,
                found="no base directory",
                expected="a directory on the replica's file system, below which all source paths begin",
                next_step=NAME_A_BASE,
            )
        return join(self.base_directory, *self._path(location).split("/"))

    def _path(self, location: str) -> str:
        """Return the path below the base directory of what lies on the source's file system."""
        above = f"{(self.returns_from or '').rstrip('/')}/"
        return (
            location[len(above) :]
            if self.returns_from and location.startswith(above)
            else location[len(self.source_root) :]
        )

    def origins(self, place: str) -> tuple[str, ...]:
        """Return the source's locations whose place on the replica this is: none, one, or on a way back two."""
        base = (self.base_directory or "").rstrip("/")
        if not (base and place.startswith(f"{base}/")):
            return ()
        path = place.removeprefix(base)
        found = (self.source_root + path, *([self.returns_from.rstrip("/") + path] if self.returns_from else []))
        return tuple(dict.fromkeys(found))
