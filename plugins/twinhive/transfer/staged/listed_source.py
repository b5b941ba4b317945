"""Copy a file that a listing named: exactly the one that was listed."""

from twinhive.core.model.errors import CopyDiffers, Missing, SourceMoved
from twinhive.core.model.files import FileStatus
from twinhive.core.ports import FileReader
from twinhive.transfer.staged.staged_files import CopyItem
from twinhive.transfer.staged.stager import Staged, Stager

_LIST_AGAIN = "have it listed again: by the task that did, with all tasks after it, or by a new REPL DUMP"


class ListedCopier:
    """Copy files of listings; may be shared between threads."""

    def __init__(self, source: FileReader, stager: Stager, staging: str) -> None:
        self._source = source
        self._stager = stager
        self._staging = staging

    def copy(self, item: CopyItem) -> Staged:
        """Copy the file that was listed into staging.

        It is looked at once the copy is written. A look before would tell nothing more: a file that still has
        its time and its id then was the same one when it was opened. Raises SourceMoved, and Missing when it is gone.
        """
        listed = FileStatus(item.path, item.length, item.modified_ms, block_size=item.block_size)
        try:
            return self._stager.stage(listed, item.staged_path(self._staging), lambda: self.check(item))
        except (CopyDiffers, Missing):
            # Whatever was found, a file that changed or went away meanwhile is the reason for it.
            self.check(item)
            raise

    def check(self, item: CopyItem) -> None:
        """Raise SourceMoved or Missing unless the file is what it was when it was listed."""
        status = self._source.status(item.path)
        if status is None:
            raise Missing(
                f"{item.path}: the source file is gone",
                found="nothing",
                expected=f"the file of {item.length} bytes that was listed",
                next_step=_LIST_AGAIN,
            )
        if not item.is_still(status):
            raise SourceMoved(
                f"{item.path}: the source file has changed since it was listed",
                found=f"{status.length} bytes, time {status.modified_ms}, file id {status.file_id}",
                expected=f"{item.length} bytes, time {item.modified_ms}, file id {item.file_id}",
                next_step=_LIST_AGAIN,
            )
