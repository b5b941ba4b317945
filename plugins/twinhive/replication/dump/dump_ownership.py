"""Prove that a directory holds dumps of ours: by its mark, or by what an earlier version wrote into it."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, claim, final_name, foreign, proven, within
from twinhive.core.model.errors import Foreign
from twinhive.core.model.files import base_name, join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.replication.dump.dump_layout import DumpKind, DumpLayout
from twinhive.replication.dump.json_files import read_json

_TOKEN = re.compile(r"[0-9a-f]{32}")
_ONLY_OURS = re.compile(r"_attempt-[0-9a-f]{32}|drained|external")
_INSIDE: Mapping[str, Callable[[str], object]] = {
    "drained": re.compile(r"\d{12,}-\d{12,}(-[0-9a-zA-Z]+)?\.jsonl\.gz").fullmatch,
    "external": lambda name: DumpLayout(name).kind is DumpKind.EXTERNAL,
}


def is_token(name: str) -> bool:
    """Return True for a name as a statement gives it to the directory of its dump."""
    return _TOKEN.fullmatch(name) is not None


def dumps_mark(policy: Policy) -> Mark:
    """Return the mark of the directory of a policy's dumps; a statement has one directory for each dump."""
    if policy.dump_directory:
        return Mark(Purpose.DUMP, base_name(policy.dump_directory))
    return Mark(Purpose.DUMPS, policy.name)


def claim_dumps(files: FileWriter, policy: Policy) -> None:
    """Make the directory of a policy's dumps, or find it. Raises Foreign for one of somebody else's.

    One in which an earlier version has put dumps beside something else stays in use, without a mark.
    """
    if problem := foreign_dumps(files, policy):
        raise problem
    if _only_ours(files, policy) is None:
        is_ours = partial(has_only_dumps_of, policy.name)
        # A statement's dump is there for any number of replicas, whoever loads them.
        claim(files, policy.dumps, dumps_mark(policy), is_ours, for_others=bool(policy.dump_directory))


def foreign_dumps(files: FileReader, policy: Policy) -> Foreign | None:
    """Return what keeps the directory of a policy's dumps from being used, None when nothing does."""
    found = _only_ours(files, policy)
    return None if found is None or has_dumps_of(policy.name, files, policy.dumps) else found


def own_dumps_of(files: FileWriter, policy: Policy) -> Owned | None:
    """Return the directory of a policy's dumps, None when nothing proves that all that is in it is ours."""
    return proven(files, policy.dumps, dumps_mark(policy), partial(has_only_dumps_of, policy.name))


def _only_ours(files: FileReader, policy: Policy) -> Foreign | None:
    return foreign(files, policy.dumps, dumps_mark(policy), partial(has_only_dumps_of, policy.name))


def own_dump(files: FileWriter, directory: str, name: str) -> Owned | None:
    """Return a statement's dump that was called `name`, None when nothing proves that it is ours."""
    return proven(files, directory, Mark(Purpose.DUMP, name), is_sealed_or_begun) if is_token(name) else None


def has_dumps_of(policy: str, files: FileReader, directory: str) -> bool:
    """Return True for a directory in which a dump names the policy."""
    return any(_names(files, child.path, policy) for child in children(files, directory))


def has_only_dumps_of(policy: str, files: FileReader, directory: str) -> bool:
    """Return True for a directory with something in it, and nothing but what a policy's dumps consist of."""
    found = [child.path for child in children(files, directory)]
    return bool(found) and all(_names(files, path, policy) or _is_part(files, path) for path in found)


def discard_dump(files: FileWriter, directory: str) -> bool:
    """Delete a dump, an attempt or saved events for good; False when there is none, and for what is not ours."""
    layout = DumpLayout(directory)
    if not (layout.is_dump or layout.is_attempt or layout.name == "drained"):
        return False
    owned = within(files, directory, (Purpose.DUMPS, Purpose.DUMP), _is_dump_or_part)
    return owned is not None and owned.discard()


def _is_dump_or_part(files: FileReader, directory: str) -> bool:
    return _names(files, directory, None) or _is_part(files, directory)


def is_sealed_or_begun(files: FileReader, directory: str) -> bool:
    """Return True for a directory with a statement's description that is ours, or with a dump that was begun in it."""
    description = _json(files, join(directory, "repl.json"))
    if isinstance(description, dict) and {"statement", "dump", "last_event"} <= description.keys():
        return True
    return any(_is_dump_or_part(files, child.path) for child in children(files, directory))


def _names(files: FileReader, directory: str, policy: str | None) -> bool:
    """Return True for a finished dump, of that policy if one is given."""
    if not DumpLayout(directory).is_dump and not DumpLayout(directory).is_attempt:
        return False
    manifest = _json(files, DumpLayout(directory).manifest)
    return isinstance(manifest, dict) and "token" in manifest and policy in (None, manifest.get("policy"))


def _is_part(files: FileReader, directory: str) -> bool:
    """Return True for an attempt that was begun, and for saved events and passes under their own names."""
    name = base_name(directory)
    if _ONLY_OURS.fullmatch(name) is None:
        return False
    if name not in _INSIDE:
        return files.status(DumpLayout(directory).begun) is not None
    # Empty, when all that was saved is applied.
    return all(_INSIDE[name](final_name(base_name(child.path))) for child in children(files, directory))


def _json(files: FileReader, path: str) -> object:
    with suppress(ValueError):
        return read_json(files, path)
    return None
