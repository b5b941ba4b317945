"""Describe what cannot be made equal."""

from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.planning.plan import Conflict

_EXCLUDE = "exclude the path"


def of_types(source: FileStatus, place: str, target: FileStatus | None) -> Conflict:
    """Return the conflict of two things that are not of one type, or of a symbolic link."""
    if source.is_link or (target is not None and target.is_link):
        next_step = f"put what it points to in its place, or {_EXCLUDE}"
    else:
        next_step = f"move away or rename one of the two, or {_EXCLUDE}"
    return Conflict(source.path, _kind(source), f"{_kind(target)} at {place}", next_step)


def of_name(source: FileStatus, place: str, why: str) -> Conflict:
    """Return the conflict of a name that the target's file system does not allow."""
    readable = source.path.encode("utf-8", "backslashreplace").decode()
    return Conflict(readable, _kind(source), f"nothing at {place!r}: {why}", f"rename it, or {_EXCLUDE}")


def _kind(status: FileStatus | None) -> str:
    if status is None:
        return "nothing"
    if status.is_link:
        return "a symbolic link"
    return "a directory" if status.is_directory else "a file"
