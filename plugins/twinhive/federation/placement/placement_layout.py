"""Where the work on a placement's copies is kept: below its staging, which bears our mark."""

from twinhive.core.directory_marks.directories import Mark, Purpose
from twinhive.core.model.file_names import file_name
from twinhive.core.model.files import join
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.model.policy import Policy

_WORK = "copies"


def kept(policy: Policy) -> KeptCopies:
    """Return what a placement says of its copies."""
    assert policy.copies is not None, "only placements have copies"
    return policy.copies


def copies_directory(policy: Policy) -> str:
    """Return the directory that holds the copies."""
    return kept(policy).directory(policy.name)


def copies_mark(policy: Policy) -> Mark:
    """Return the mark of that directory."""
    return Mark(Purpose.COPIES, policy.name)


def position_path(policy: Policy) -> str:
    """Return the file that says up to which event all has been looked at."""
    return join(policy.staging, _WORK, "position.json")


def record_path(policy: Policy, table: str) -> str:
    """Return the file that says what is copied of a table."""
    return join(policy.staging, _WORK, "tables", f"{file_name(table)}.jsonl.gz")


def unused_path(policy: Policy) -> str:
    """Return the file that says which directories nobody uses, and since when."""
    return join(policy.staging, _WORK, "unused.json")


def taken_path(policy: Policy) -> str:
    """Return the file that says that users' copies were taken into staging since the last list was made."""
    return join(policy.staging, _WORK, "taken.json")


def moved_directory(policy: Policy) -> str:
    """Return the directory of what the old places of a table that is moved held when it was switched."""
    return join(policy.staging, _WORK, "moved")


def lists_directory(policy: Policy) -> str:
    """Return the directory of the lists, one for each run that has found something to copy."""
    return join(policy.staging, _WORK, "lists")


def list_directory(policy: Policy, name: str) -> str:
    """Return the directory of one list."""
    return join(lists_directory(policy), name)


def building_directory(policy: Policy, name: str) -> str:
    """Return where the directories of one list are put together, before each is renamed into its place."""
    return join(policy.staging, _WORK, "building", name)
