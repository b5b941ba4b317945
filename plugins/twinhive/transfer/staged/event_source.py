"""Find the file that an event named, wherever it lies by now, and copy exactly that one.

An event is applied with the files of that event (seed 002, 'Solution for Rubber Banding'). By the
time they are copied, a file may have been overwritten, dropped into the change manager's directory
or carried along by a rename: the checksum of the event says which one it is.
"""

from twinhive.core.model.errors import LostFile, Missing, Refused, SourceMoved, TwinhiveError, Unexplained
from twinhive.core.model.files import ChecksumForm, FileStatus, base_name, join
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.ports import FileReader
from twinhive.transfer.staged.staged_files import CopyItem
from twinhive.transfer.staged.stager import Staged, Stager

# A file can be moved from a place not yet looked at to one that was: the second look finds it.
_LOOKS = 2
# HDFS's default of dfs.namenode.fs-limits.max-component-length. Hive counts characters, not bytes,
# and cuts a longer name one character shorter than it had to (ReplChangeManager.getCMPath).
_LONGEST_NAME = 255
_NOT_LOOKED_AT = "it could not be looked at"


def kept_path(cmroot: str, path: str, checksum: str) -> str:
    """Return the name under which Hive's change manager keeps a file that was dropped or overwritten."""
    name = f"{base_name(path)}_{checksum}"
    return join(cmroot, name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1])


def candidates(item: CopyItem) -> list[str]:
    """Return the paths where the file may be, the likeliest first, each once."""
    kept = [kept_path(item.cmroot, item.path, item.checksum)] if item.cmroot and item.checksum else []
    return list(dict.fromkeys([item.path, *kept, *item.elsewhere]))


class EventCopier:
    """Copy files of events from whichever place holds them; may be shared between threads."""

    def __init__(self, source: FileReader, stager: Stager, staging: str) -> None:
        self._source = source
        self._stager = stager
        self._staging = staging

    def copy(self, item: CopyItem) -> Staged:
        """Copy the file with the item's checksum into staging.

        Raises LostFile when it is nowhere, Refused when it may be at a place that we must not read, and Unexplained
        when one of them gave an answer that nobody knows: another look may find it.
        """
        for _ in range(_LOOKS):
            findings: dict[str, str] = {}
            refusals: list[Refused] = []
            for path in candidates(item):
                try:
                    found = self._look(path, item)
                except Refused as error:
                    refusals.append(error)
                    found = _NOT_LOOKED_AT if isinstance(error, Unexplained) else "it may not be read"
                result = found if isinstance(found, str) else self._copy_from(found, item)
                if isinstance(result, Staged):
                    return result
                findings[path] = result
        raise _not_found(item, findings, refusals)

    def _look(self, path: str, item: CopyItem) -> FileStatus | str:
        """Return the file at a path if it is the item's, else what is there instead."""
        status = self._source.status(path)
        if status is None:
            return "nothing"
        if status.is_directory:
            return "a directory"
        try:
            checksum = self._source.checksum(path, ChecksumForm.IDENTITY)
        except Missing:
            return "nothing any more"
        if checksum == item.checksum:
            return status
        return f"a file of {status.length} bytes with checksum {checksum}"

    def _copy_from(self, original: FileStatus, item: CopyItem) -> Staged | str:
        """Copy a file that was the item's when it was looked at; say so if it is not there any more."""

        def check() -> None:
            if not self._is_still(original, item):
                raise SourceMoved(
                    f"{original.path}: the file changed or went away while it was copied",
                    found="another file, or none",
                    expected="the file that the event names",
                    next_step=RETRIES,
                )

        try:
            return self._stager.stage(original, item.staged_path(self._staging), check)
        except TwinhiveError as error:
            # Whatever failed, a file that was moved or removed meanwhile is the reason for it.
            if not isinstance(error, SourceMoved) and self._is_still(original, item):
                raise
            return "the file, but it changed or went away while it was copied"

    def _is_still(self, original: FileStatus, item: CopyItem) -> bool:
        now = self._look(original.path, item)
        return isinstance(now, FileStatus) and now.file_id == original.file_id


def _not_found(item: CopyItem, findings: dict[str, str], refusals: list[Refused]) -> TwinhiveError:
    found = "; ".join(f"{path}: {finding}" for path, finding in findings.items())
    expected = f"a file with checksum {item.checksum}"
    unknown = [refusal for refusal in refusals if isinstance(refusal, Unexplained)]
    if unknown:
        return Unexplained(
            f"{item.path}: the file of event {item.event_id} may be where we could not look",
            found=f"{found}; " + unknown[0].what + ": " + (unknown[0].found or "no message"),
            expected=expected,
            next_step=unknown[0].next_step,
        )
    if refusals:
        return Refused(
            f"{item.path}: the file of event {item.event_id} may be where we must not look",
            found=f"{found}; " + refusals[0].what,
            expected=expected,
            next_step=refusals[0].next_step,
        )
    return LostFile(
        f"{item.path}: the file of event {item.event_id} is lost",
        found=found,
        expected=expected,
        next_step="put the file with this checksum back at one of these paths and run again",
    )
