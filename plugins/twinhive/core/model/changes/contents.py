"""Describe what the source holds at one moment: tables, their partitions, and the files in them.

Every part carries the bound of its own reading: what the log says up to `lo` is in it. Objects and
lists of files are read at different times, so each has a bound of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinhive.core.model.changes.kinds import EventFile
from twinhive.core.model.files import FileStatus, base_name, is_below, join, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import pass_over
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.text import Either, Text
from twinhive.core.model.untrusted_paths import leads_elsewhere, path_error


@dataclass(frozen=True)
class SourceFile:
    """One file of the source: listed (length, time and file id are known) or named by an event (checksum is).

    `relative` is the path below the directory of its table or partition; `event_id` is 0 for a listed one.
    """

    path: str
    length: int = 0
    modified_ms: int = 0
    file_id: int = 0
    block_size: int = 0
    permission: int = 0
    relative: str = ""
    checksum: str | None = None
    cmroot: str | None = None
    event_id: int = 0

    @classmethod
    def of_listing(cls, status: FileStatus, relative: str) -> "SourceFile":
        """Take a file as a listing shows it."""
        known = (status.path, status.length, status.modified_ms, status.file_id, status.block_size, status.permission)
        return SourceFile(*known, relative)

    @classmethod
    def of_event(cls, file: EventFile, location: str | None, event_id: int, said_by: str = "") -> "SourceFile":
        """Take a file of an event; `location` is the directory of its object at that event.

        Raises ActNow for one that would not lie in the directory of its object; `said_by` is who names it instead.
        """
        if location and is_below(file.path, location):
            relative = relative_to(file.path, location)
        else:
            relative = join(file.subdirectory, base_name(file.path)) if file.subdirectory else base_name(file.path)
        if leads_elsewhere(relative):
            what = f"the path of a file that {said_by or f'event {event_id}'} names, {file.path},"
            raise path_error(what, relative, _pass_over(event_id))
        return SourceFile(file.path, relative=relative, checksum=file.checksum, cmroot=file.cmroot, event_id=event_id)


def _pass_over(event_id: int) -> Text:
    return Either(
        "find out who wrote this; if the replica can do without it: " + pass_over(event_id),
        "find out who wrote this, and leave its table out of the dump",
    )


FilesByPath = Mapping[str, SourceFile]


@dataclass(frozen=True)
class Content:
    """The files of a table or a partition by their relative paths. `unsure`: they have to be listed again."""

    lo: int
    files: FilesByPath = field(default_factory=dict)
    unsure: bool = False


@dataclass(frozen=True)
class PartitionState:
    """A partition with its files. `unsure`: the object has to be read again."""

    partition: Partition
    lo: int
    content: Content
    unsure: bool = False


Partitions = Mapping[str, PartitionState]


@dataclass(frozen=True)
class TableState:
    """A table or view with its files and partitions by name. `unsure`: all of it has to be read again.

    `partitions_lo` is the bound of the list of partition names, `constraints_lo` that of the constraints;
    `constraints_unsure`: they have to be read again.
    """

    table: Table
    lo: int
    content: Content
    partitions: Partitions = field(default_factory=dict)
    partitions_lo: int = 0
    unsure: bool = False
    constraints_lo: int = 0
    constraints_unsure: bool = False

    @property
    def needs_reading(self) -> bool:
        """True while the log alone does not say what is in it."""
        if self.unsure or not self.table.kind.has_listed_content:
            return self.unsure
        if self.constraints_unsure:
            return True
        if self.table.is_external:
            return any(state.unsure for state in self.partitions.values())
        if not self.table.partition_keys:
            return self.content.unsure
        return any(state.unsure or state.content.unsure for state in self.partitions.values())


@dataclass(frozen=True)
class Shard:
    """Some tables by name. `names_lo` is the bound of the list of table names they were read from."""

    tables: Mapping[TableName, TableState] = field(default_factory=dict)
    names_lo: int = 0
