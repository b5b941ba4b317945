"""How the external tables of a policy are replicated, and where their data goes (seed 001).

The rule: location on the replica = base directory + full source path, for tables and for partitions with a location of
their own; the base `/` keeps the path. Data elsewhere than on the source's file system stays where it is if the policy
names it, and is refused if not.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from twinhive.model.errors import InvalidSettings
from twinhive.model.files import authority, join
from twinhive.model.next_steps import BASE_DIRECTORY, NAME_A_BASE, ONLY_IN_A_POLICY_FILE
from twinhive.model.outside_paths import is_collapsed
from twinhive.model.text import Clear

COPY: Final = "copy"
METADATA_ONLY: Final = "metadata_only"
FAIL: Final = "fail"
EMPTY: Final = "empty"
LEAVE_OUT: Final = "leave_out"
NO_BASE = "-"
"""Stands for no base directory where a replica says which one its external tables were made with."""


@dataclass(frozen=True)
class External:
    """What a policy says of external tables: the keys that `settings.policies.ExternalSettings` explains, and

    included        False: they are left out and listed
    base_directory  without a slash at the end unless it is a file system's root (`hdfs://west/`)
    source_root     scheme and authority of the source's file system: what lies there is copied
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

    @property
    def base_mark(self) -> str:
        """Return what the replica's database remembers of the base directory."""
        return self.base_directory or NO_BASE

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
        return join(self.base_directory, *location[len(self.source_root) :].split("/"))
