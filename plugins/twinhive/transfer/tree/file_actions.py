"""Carry out one action on a file: copy it, or find out that this is not needed, and put it where it belongs.

A file in a new directory is written at its place in `Places.tree`, which nobody reads yet. A file for a directory that
exists is written in the work directory, compared, given its attributes, and only then renamed over whatever has
its name: readers find the old file or the new one, whole, and never none.

What a killed run has left is looked at before it is written again: a file that is whole and equal is used.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from twinhive.core.model.errors import AlreadyThere, Missing, SourceGone, SourceMoved, TwinhiveError
from twinhive.core.model.files import FileStatus
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.ports import TreeReader, TreeWriter
from twinhive.transfer.engine.attributes import AttributeCopier
from twinhive.transfer.engine.copy_engine import CopyEngine
from twinhive.transfer.engine.copy_retries import GivenUp, twice
from twinhive.transfer.engine.transfer import Transferred
from twinhive.transfer.tree.equal_contents import are_equal, is_not_older
from twinhive.transfer.tree.leftovers import Leftovers
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.verified_pairs import pair_digest
from twinhive.transfer.tree.work_directories import Places


class Compared(Enum):
    """By what a file was found equal to its original."""

    CHECKSUM = "checksum"
    TIME = "length and time"
    LENGTH = "length"
    """It was just copied."""
    BEFORE = "before"
    """Planning, or a run before, has compared them."""


class Result(Enum):
    """What an action came to."""

    COPIED = "copied"
    SKIPPED = "skipped"
    """The contents were compared and equal."""
    ATTRIBUTES = "attributes"


@dataclass(frozen=True, slots=True)
class Done:
    """What one action did: bytes moved or compared, by what the contents were compared, the pair's digest (0: none)."""

    result: Result
    length: int
    compared: Compared
    digest: int = 0


class FileActions:
    """Carry out actions; may be shared between threads."""

    def __init__(
        self,
        source: TreeReader,
        target: TreeWriter,
        places: Places,
        attributes: AttributeCopier,
        engine: CopyEngine,
        confirm: Callable[[], None] = lambda: None,
    ) -> None:
        self._source = source
        self._target = target
        self._places = places
        self._attributes = attributes
        self._transfer = engine.transfer
        self._parts = engine.parts
        self._meter = engine.meter
        self._confirm = confirm
        self._writer = uuid.uuid4().hex
        self._leftovers = Leftovers(target, places)

    def do(self, action: FileAction) -> Done:
        """Carry out an action on a file; may be repeated after any error."""
        original = _original(action)
        match action.kind:
            case ActionKind.CHECK:
                return self._check(original, action)
            case ActionKind.APPEND:
                return self._append(original, action)
            case ActionKind.ATTRIBUTES:
                changed = twice(lambda: self._align(original, action))
                return Done(Result.ATTRIBUTES if changed else Result.SKIPPED, original.length, Compared.BEFORE)
            case _:
                return self._copy(original, action)

    def discard(self, action: FileAction) -> None:
        """Delete what a failed action has left of a file in a new directory."""
        twice(lambda: self._target.delete(self._places.built(action.relative)))

    def _copy(self, original: FileStatus, action: FileAction) -> Done:
        path = self._written_at(action)
        copied = self._leftover(original, action, path) or self._write(original, action, path)
        twice(lambda: self._attributes.give_new(original, path))
        if action.new_root is None:
            twice(lambda: self._put_in_place(path, action.relative, copied.file_id))
        if not copied.verified:
            return Done(Result.COPIED, original.length, Compared.LENGTH)
        return Done(Result.COPIED, original.length, Compared.CHECKSUM, pair_digest(original, copied.file_id))

    def _written_at(self, action: FileAction) -> str:
        places, relative = self._places, action.relative
        return places.unfinished(relative, self._writer) if action.new_root is None else places.built(relative)

    def _write(self, original: FileStatus, action: FileAction, path: str) -> Transferred:
        how = twice(lambda: self._attributes.creation(original))
        own = self._places.unfinished(action.relative, self._writer)

        def write(to: str) -> Transferred:
            if self._parts.takes(original):
                return self._parts.copy(original, to, self._places.parts(action.relative, original), how)
            return self._transfer.copy(original, to, how)

        def write_own() -> Transferred:
            try:
                return write(own)
            except AlreadyThere:
                self._target.delete(own)  # an attempt before this one has got so far
                return write(own)

        def write_anew() -> Transferred:
            if path == own:
                return write_own()
            try:
                return write(path)
            except AlreadyThere:
                # A task that is cut off may still write it: what replaces it is whole at every moment.
                copied = write_own()
                self._confirm()
                self._target.replace(own, path)
                return copied

        return twice(write_anew)

    def _leftover(self, original: FileStatus, action: FileAction, path: str) -> Transferred | None:
        """Return what another run has written for this very file, if it is whole; it has our name then."""
        for found in self._leftovers.of(path) if action.new_root is None else ():
            whole = found.length == original.length and self._is_whole(original, found)
            if whole and self._leftovers.take(found, path):
                return Transferred(found.length, verified=True, file_id=found.file_id)
        return None

    def _is_whole(self, original: FileStatus, leftover: FileStatus) -> bool:
        try:
            return twice(lambda: self._are_equal(original, leftover)) is True
        except TwinhiveError:
            return False  # a killed writer may have it still open: HDFS gives no checksum of it then

    def _check(self, original: FileStatus, action: FileAction) -> Done:
        there = _present(action)
        try:
            equal = twice(lambda: self._are_equal(original, there))
        except TwinhiveError:
            if action.new_root is None:
                raise
            equal = False  # a leftover as well
        by_time = equal is None
        if not (is_not_older(there, original) if by_time else equal):
            return self._copy(original, action)
        if action.attributes:
            twice(lambda: self._align(original, action))
        if by_time:
            return Done(Result.SKIPPED, original.length, Compared.TIME)
        return Done(Result.SKIPPED, original.length, Compared.CHECKSUM, pair_digest(original, there.file_id))

    def _are_equal(self, original: FileStatus, there: FileStatus, length: int | None = None) -> bool | None:
        return are_equal(self._source, original, self._target, there, length=length)

    def _append(self, original: FileStatus, action: FileAction) -> Done:
        """Write the new bytes behind the target's, if those are the first ones of the original; else replace the file.

        They are written in place, as DistCp does: a part that is put behind the file by `concatenate` would show
        readers only the old or only the new file, but would have to lie beside it among their files, and every
        such part ends in a block that is not full. In place, readers see what those of the source saw while it
        grew: its first bytes. So does the next run when this one is killed, and goes on from there; whatever
        else it finds is replaced, and so is a file that is not equal after all.
        """
        there = _present(action)
        self._confirm()
        try:
            appended = twice(lambda: self._append_new_bytes(original, there))
        except TwinhiveError:
            appended = None  # a store that cannot append, a file that a killed writer has still open
        if appended is None:
            return self._copy(original, action)
        if self._attributes.letters:
            twice(lambda: self._align_again(original, there.path))
        return Done(Result.COPIED, appended, Compared.CHECKSUM, pair_digest(original, there.file_id))

    def _append_new_bytes(self, original: FileStatus, there: FileStatus) -> int | None:
        """Return the bytes that were appended, None when the target's file is not the beginning of the original."""
        if not self._are_equal(original, there, length=there.length):
            return None
        stream = self._source.open(original.path, offset=there.length)
        appended = self._target.append_from(stream, there.path, meter=self._meter)
        if there.length + appended != original.length:
            raise SourceMoved(
                f"{original.path}: the source file has changed since it was listed",
                found=f"{there.length + appended:,} bytes",
                expected=f"{original.length:,} bytes",
                next_step=RETRIES,
            )
        return appended if self._are_equal(original, there, length=original.length) else None

    def _align(self, original: FileStatus, action: FileAction) -> bool:
        return self._attributes.align(original, _present(action))

    def _align_again(self, original: FileStatus, path: str) -> None:
        """Set what differs after the file was written to."""
        now = self._target.status(path)
        if now is not None:
            self._attributes.align(original, now)

    def _put_in_place(self, path: str, relative: str, file_id: int) -> None:
        final = self._places.final(relative)
        self._confirm()
        try:
            self._target.replace(path, final)
        except Missing:
            # It may have been renamed by an attempt whose answer was lost.
            there = self._target.status(final)
            if there is None or not file_id or there.file_id != file_id:
                raise


def why_not_copied(source: TreeReader, original: FileStatus, error: TwinhiveError) -> TwinhiveError:
    """Return the reason of a failure: a file that was changed or deleted meanwhile explains whatever came of it."""
    if isinstance(error, GivenUp):
        return error
    try:
        now = source.status(original.path)
    except TwinhiveError:
        return error
    if now is None:
        return SourceGone(
            f"{original.path}: the source file is gone",
            found="nothing",
            expected=f"the file of {original.length} bytes that was listed",
            next_step="run again: a new listing does not hold it",
        )
    if (now.length, now.modified_ms, now.file_id) != (original.length, original.modified_ms, original.file_id):
        return SourceMoved(
            f"{original.path}: the source file has changed since it was listed",
            found=f"{now.length} bytes, time {now.modified_ms}, file id {now.file_id}",
            expected=f"{original.length} bytes, time {original.modified_ms}, file id {original.file_id}",
            next_step="run again; --snapshots copies from a state that does not change",
        )
    return error


def newer_file(source: TreeReader, action: FileAction, error: TwinhiveError) -> FileAction | None:
    """Return what copies a file as it is now, None where it is gone, or is what was listed."""
    original = _original(action)
    if not isinstance(why_not_copied(source, original, error), SourceMoved):
        return None
    try:
        now = source.status(original.path)
    except TwinhiveError:
        return None
    if now is None or now.is_directory or now.is_link:
        return None
    return replace(action, kind=ActionKind.REPLACE, source=now, attributes=True)


def _original(action: FileAction) -> FileStatus:
    assert action.source is not None
    return action.source


def _present(action: FileAction) -> FileStatus:
    assert action.target is not None
    return action.target
