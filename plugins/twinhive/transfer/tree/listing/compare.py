"""Decide what is to be done with a file that both sides have, and with a name that only the source has."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.request import CompareBy, Mode, SyncOptions
from twinhive.transfer.tree.tree_actions import ActionKind
from twinhive.transfer.tree.verified_pairs import KnowsPairs, pair_digest

# The letters whose state a listing tells; checksum type and block size belong to a file's bytes.
_LISTED = {"r": "replication", "u": "owner", "g": "group", "p": "permission", "t": "modified_ms"}
_OF_DIRECTORIES = "ugpt"
# Looked up for every file of ten million: a member of an enum costs as much as all the rest.
_SKIP, _CHECK, _ATTRIBUTES, _REPLACE = ActionKind.SKIP, ActionKind.CHECK, ActionKind.ATTRIBUTES, ActionKind.REPLACE

Decide = Callable[[FileStatus, FileStatus], ActionKind]
"""Say what is to be done with a file that both sides have: of the source, and of the target."""

_HDFS = frozenset({"hdfs", "viewfs", "webhdfs", "swebhdfs"})


class Comparison:
    """Compare two statuses of one path, by the options of a copy and by what is known of earlier ones.

    `files(source, target)` returns what is to be done with a file that is at the target, `built_files` with one that
    an earlier run has built, of which it may not have been sure: neither the mode nor the time says anything of it.
    """

    def __init__(self, options: SyncOptions, memory: KnowsPairs | None = None) -> None:
        self._block_size_counts = "b" in options.preserve
        self._remembers = memory.knows if memory is not None and not options.recheck else None
        self._differ_at_file = _difference(options.preserve, "".join(_LISTED))
        self._differ_at_directory = _difference(options.preserve, _OF_DIRECTORIES)
        self.built_files: Decide = partial(self._compared, by_time=False)
        self.files: Decide = partial(self._compared, by_time=options.compare is CompareBy.TIME)
        if options.mode is Mode.OVERWRITE:
            self.files = lambda source, target: _REPLACE
        elif options.append:
            self.files = partial(self._grown_files, self.files)

    def _compared(self, source: FileStatus, target: FileStatus, *, by_time: bool) -> ActionKind:
        length = source.length
        if length != target.length:
            return _REPLACE
        if length:
            if self._block_size_counts and source.block_size != target.block_size:
                return _REPLACE
            if by_time:
                if target.modified_ms < source.modified_ms:
                    return _REPLACE
            elif self._remembers is None or not self._remembers(pair_digest(source, target.file_id)):
                return _CHECK
        return _ATTRIBUTES if self._differ_at_file is not None and self._differ_at_file(source, target) else _SKIP

    def file_attributes_differ(self, source: FileStatus, target: FileStatus) -> bool:
        """True when what is preserved of a file differs, or may."""
        return self._differ_at_file is not None and self._differ_at_file(source, target)

    def directory_attributes_differ(self, source: FileStatus, target: FileStatus) -> bool:
        """True when what is preserved of a directory differs, or may."""
        return self._differ_at_directory is not None and self._differ_at_directory(source, target)

    @staticmethod
    def _grown_files(others: Decide, source: FileStatus, target: FileStatus) -> ActionKind:
        return ActionKind.APPEND if source.length > target.length > 0 else others(source, target)


def unwritable(name: str, target_scheme: str) -> str | None:
    """Say why a name cannot be given to a file of the target, None when it can."""
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            return "the name holds half of a character, which UTF-8 cannot write"
    if ":" in name and target_scheme in _HDFS:
        return "HDFS allows no colon in a name"
    return None


Differs = Callable[[FileStatus, FileStatus], bool]


def _difference(preserve: frozenset[str], letters: str) -> Differs | None:
    """Return how to see that a preserved attribute differs, None when nothing is preserved that can change alone."""
    names = [_LISTED[letter] for letter in letters if letter in preserve]
    if "x" in preserve:
        return lambda source, target: True  # no listing tells
    if not names:
        return None
    listed: Callable[[FileStatus], Any] = attrgetter(*names)
    if "a" in preserve:
        return lambda source, target: source.has_acl or target.has_acl or listed(source) != listed(target)
    return lambda source, target: listed(source) != listed(target)
