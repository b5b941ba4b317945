"""What the old place of a moved table held when it was switched, file by file: what is another file came too late."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import ChecksumForm, FileStatus, join
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, ReadPorts, children
from twinhive.core.threads.parallel_map import in_threads
from twinhive.federation.placement.copied_objects import line_of
from twinhive.federation.placement.placement_layout import moved_directory
from twinhive.replication.dump.shards import pack_lines, unpack_lines

FilesBelow = Mapping[str, FileStatus]
"""Files below a directory, by their paths below it."""
Known = Mapping[str, tuple[int, int, int]]
"""Length, time and id of files."""


@dataclass(frozen=True)
class OldPlace:
    """An object, and the directory where it was at home."""

    values: Values
    location: str


def remember_old(files: FileWriter, policy: Policy, event_id: int, places: Mapping[OldPlace, FilesBelow]) -> None:
    """Write down what old places hold, before their objects are switched by a call after this event."""
    lines = (
        line_of(
            {
                "values": None if place.values is None else list(place.values),
                "location": place.location,
                "files": {path: list(_known(status)) for path, status in held.items()},
            }
        )
        for place, held in places.items()
    )
    files.write(join(moved_directory(policy), f"{event_id:012d}.jsonl.gz"), pack_lines(lines))


def remembered_old(files: FileReader, policy: Policy) -> dict[OldPlace, Known]:
    """Return what was written down: of an object that was tried to be switched twice what the last try has seen."""
    found: dict[OldPlace, Known] = {}
    for child in sorted(children(files, moved_directory(policy)), key=lambda one: one.path):
        for line in unpack_lines(files.read(child.path)):
            said = json.loads(line)
            values = None if said["values"] is None else tuple(said["values"])
            known = {path: (length, at, number) for path, (length, at, number) in said["files"].items()}
            found[OldPlace(values, said["location"])] = known
    return found


def forget_old(files: FileWriter, policy: Policy) -> None:
    """Remove what was written down."""
    staging = own_staging(files, policy)
    if staging is not None and files.status(moved_directory(policy)) is not None:
        staging.discard(moved_directory(policy))


def late_paths(ports: ReadPorts, policy: Policy, old: FilesBelow, new: FilesBelow, known: Known | None) -> list[str]:
    """Return the files of an old place that the new one lacks, or of which it holds others.

    A file that is as it was at the switch is the one that was copied, whatever the new place holds since. Others, and
    all where an earlier version has written nothing down, are compared with the new place's, by their checksums.
    """
    lengths = {path: status.length for path, status in new.items()}
    others = {path: one for path, one in old.items() if known is None or known.get(path) != _known(one)}
    late = [path for path, status in others.items() if lengths.get(path) != status.length]
    asked = [path for path, status in others.items() if lengths.get(path) == status.length]
    pairs = [(old[path].path, new[path].path) for path in asked]
    if not pairs:
        return sorted(late)
    differ = in_threads(
        lambda pair: _is_other(ports, *pair, changed=known is not None), pairs, policy.options.copy_threads
    )
    return sorted([*late, *(path for path, is_other in zip(asked, differ, strict=True) if is_other)])


def _is_other(ports: ReadPorts, old: str, new: str, *, changed: bool) -> bool:
    try:
        here = ports.source_files.checksum(old, ChecksumForm.COMPARISON)
        there = ports.replica_files.checksum(new, ChecksumForm.COMPARISON)
    except Missing:
        return changed
    if here is None or there is None:
        return changed  # a file system without checksums tells no more
    return here != there


def _known(status: FileStatus) -> tuple[int, int, int]:
    return status.length, status.modified_ms, status.file_id
