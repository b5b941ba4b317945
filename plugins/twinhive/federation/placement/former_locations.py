"""What the old place of a moved table held when it was switched, file by file: what is another file came too late."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import ChecksumForm, FileStatus, join, short_hash
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.ports import EventLog, FileReader, FileWriter, ReadPorts, children
from twinhive.core.threads.parallel_map import in_threads
from twinhive.federation.placement.copied_objects import line_of
from twinhive.federation.placement.placement_layout import moved_directory
from twinhive.hive.events.reader import position_at
from twinhive.replication.dump.shards import pack_lines, unpack_lines

FilesBelow = Mapping[str, FileStatus]
"""Files below a directory, by their paths below it."""
Known = Mapping[str, tuple[int, int, int]]
"""Length, time and id of files."""


@dataclass(frozen=True)
class OldPlace:
    """The directory where an object was at home, with its files, and where it was to be, as that was then.

    `files` are None for a partitioned table: its partitions have places of their own.
    """

    values: Values
    location: str
    home: str
    directory: DirectoryState
    files: Known | None

    def fields(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "values": None if self.values is None else list(self.values),
            "location": self.location,
            "home": self.home,
            "directory": self.directory.fields(),
            "files": None if self.files is None else {path: list(known) for path, known in self.files.items()},
        }

    @classmethod
    def of_fields(cls, said: Mapping[str, Any]) -> "OldPlace":
        """Read what `fields` returned."""
        files = said["files"]
        return cls(
            None if said["values"] is None else tuple(said["values"]),
            said["location"],
            said["home"],
            DirectoryState.parse(said["directory"]),
            None if files is None else {path: (length, at, number) for path, (length, at, number) in files.items()},
        )


@dataclass(frozen=True)
class BeforeSwitch:
    """A call that switches objects, which was about to be made: they were read after an event.

    Its digest tells whether it is of the log that there is: the calls of one that a restore has taken back are undone.
    """

    position: Position
    places: tuple[OldPlace, ...]

    @property
    def homes(self) -> dict[Values, str]:
        """Where its objects were to be at home."""
        return {place.values: place.home for place in self.places}


def known_files(held: FilesBelow) -> Known:
    """Return what is written down of files."""
    return {path: _known(status) for path, status in held.items()}


def remember_old(files: FileWriter, policy: Policy, call: BeforeSwitch) -> None:
    """Write down what old places hold, before their objects are switched."""
    lines = [line_of(asdict(call.position)), *(line_of(place.fields()) for place in call.places)]
    name = f"{call.position.event_id:012d}-{short_hash(''.join(lines), 8)}.jsonl.gz"
    files.write(join(moved_directory(policy), name), pack_lines(lines))


def remembered_old(files: FileReader, policy: Policy, log: EventLog) -> list[BeforeSwitch]:
    """Return what was written down, the oldest first; before all others what is of another log than there is."""
    found = []
    for child in sorted(children(files, moved_directory(policy)), key=lambda one: one.path):
        position, *places = map(json.loads, unpack_lines(files.read(child.path)))
        found.append(BeforeSwitch(Position(**position), tuple(map(OldPlace.of_fields, places))))
    return sorted(found, key=lambda call: position_at(log, call.position.event_id) == call.position)


def forget_old(files: FileWriter, policy: Policy) -> None:
    """Remove what was written down."""
    staging = own_staging(files, policy)
    if staging is not None and files.status(moved_directory(policy)) is not None:
        staging.discard(moved_directory(policy))


def late_paths(ports: ReadPorts, policy: Policy, old: FilesBelow, new: FilesBelow, known: Known) -> list[str]:
    """Return the files of an old place that the new one lacks, or of which it holds others.

    A file that is as it was at the switch is the one that was copied, whatever the new place holds since. Others are
    compared with the new place's, by their checksums.
    """
    lengths = {path: status.length for path, status in new.items()}
    others = {path: one for path, one in old.items() if known.get(path) != _known(one)}
    late = [path for path, status in others.items() if lengths.get(path) != status.length]
    asked = [path for path, status in others.items() if lengths.get(path) == status.length]
    pairs = [(old[path].path, new[path].path) for path in asked]
    if not pairs:
        return sorted(late)
    differ = in_threads(lambda pair: _is_other(ports, *pair), pairs, policy.options.copy_threads)
    return sorted([*late, *(path for path, is_other in zip(asked, differ, strict=True) if is_other)])


def _is_other(ports: ReadPorts, old: str, new: str) -> bool:
    try:
        here = ports.source_files.checksum(old, ChecksumForm.COMPARISON)
        there = ports.replica_files.checksum(new, ChecksumForm.COMPARISON)
    except Missing:
        return True
    return here is None or there is None or here != there  # a file system without checksums tells no more


def _known(status: FileStatus) -> tuple[int, int, int]:
    return status.length, status.modified_ms, status.file_id
