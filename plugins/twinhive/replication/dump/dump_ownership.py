"""Prove by its mark that a directory holds dumps of ours."""

import re

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, claim, foreign, proven, within
from twinhive.core.model.errors import Foreign
from twinhive.core.model.files import base_name
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.dump_layout import DumpLayout

_TOKEN = re.compile(r"[0-9a-f]{32}")


def is_token(name: str) -> bool:
    """Return True for a name as a statement gives it to the directory of its dump."""
    return _TOKEN.fullmatch(name) is not None


def dumps_mark(policy: Policy) -> Mark:
    """Return the mark of the directory of a policy's dumps; a statement has one directory for each dump."""
    if policy.dump_directory:
        return Mark(Purpose.DUMP, base_name(policy.dump_directory))
    return Mark(Purpose.DUMPS, policy.name)


def claim_dumps(files: FileWriter, policy: Policy) -> None:
    """Make the directory of a policy's dumps, or find it. Raises Foreign for one of somebody else's."""
    # A statement's dump is there for any number of replicas, whoever loads them.
    claim(files, policy.dumps, dumps_mark(policy), for_others=bool(policy.dump_directory))


def foreign_dumps(files: FileReader, policy: Policy) -> Foreign | None:
    """Return what keeps the directory of a policy's dumps from being used, None when nothing does."""
    return foreign(files, policy.dumps, dumps_mark(policy))


def own_dumps_of(files: FileWriter, policy: Policy) -> Owned | None:
    """Return the directory of a policy's dumps, None when nothing proves that all that is in it is ours."""
    return proven(files, policy.dumps, dumps_mark(policy))


def own_dump(files: FileWriter, directory: str, name: str) -> Owned | None:
    """Return a statement's dump that was called `name`, None when nothing proves that it is ours."""
    return proven(files, directory, Mark(Purpose.DUMP, name)) if is_token(name) else None


def discard_dump(files: FileWriter, directory: str) -> bool:
    """Delete a dump, an attempt or saved events for good; False when there is none, and for what is not ours."""
    layout = DumpLayout(directory)
    if not (layout.is_dump or layout.is_attempt or layout.name == "drained"):
        return False
    owned = within(files, directory, (Purpose.DUMPS, Purpose.DUMP))
    return owned is not None and owned.discard()
