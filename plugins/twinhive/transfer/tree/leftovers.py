"""Find what runs and tasks before this one have written and not put in place."""

from collections.abc import Iterator

from twinhive.core.model.files import FileStatus
from twinhive.core.ports import TreeWriter
from twinhive.transfer.engine.copy_retries import twice
from twinhive.transfer.tree.work_directories import Places


class Leftovers:
    """The files of `Places.files`, whoever has written them; may be shared between threads."""

    def __init__(self, target: TreeWriter, places: Places) -> None:
        self._target = target
        self._places = places
        self._found: dict[str, list[FileStatus]] = {}
        # Of a new base everything is in `Places.tree`, and planned with it.
        for status in () if places.is_new else twice(self._listed):
            self._found.setdefault(places.written_for(status.path), []).append(status)

    def of(self, path: str) -> Iterator[FileStatus]:
        """Yield what was written for the file that is written to `path` now."""
        yield from self._found.get(self._places.written_for(path), ())

    def take(self, found: FileStatus, path: str) -> bool:
        """Give one of them the name that is ours; False when somebody else has taken it."""
        if not self._target.rename(found.path, path):
            there = self._target.status(path)  # renamed by an attempt whose answer was lost
            return there is not None and there.file_id != 0 and there.file_id == found.file_id
        return True

    def _listed(self) -> list[FileStatus]:
        return [status for _, page in self._target.list_pages([self._places.files]) for status in page or ()]
