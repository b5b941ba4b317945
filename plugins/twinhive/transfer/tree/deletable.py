"""Find what may be deleted of something that only the target has: not what a filter leaves out."""

from collections.abc import Iterator

from twinhive.core.model.files import FileStatus, base_name
from twinhive.core.ports import FileReader
from twinhive.transfer.tree.listing.path_filters import Filter


class Deletable:
    """Look below directories of the target, but only when there is a filter."""

    def __init__(self, chosen: Filter, target: FileReader) -> None:
        self._filter = chosen
        self._target = target

    def topmost(self, found: FileStatus, relative: str, included: bool) -> Iterator[FileStatus]:
        """Yield the topmost paths that may be deleted, each with all below it, of `found` and what is below it.

        `relative` is its path as filters see it, `included` says that its directory is included.
        """
        if not self._protects_below(found, relative, included):
            yield found
        elif found.is_directory and not self._filter.excludes(relative):
            included = included or self._filter.includes(relative)
            for child in self._children(found):
                yield from self.topmost(child, f"{relative}/{base_name(child.path)}", included)

    def _protects_below(self, found: FileStatus, relative: str, included: bool) -> bool:
        """True when a filter leaves out something of it."""
        if self._filter.takes_all:
            return False
        waiting = [(found, included)]
        while waiting:
            status, included = waiting.pop()
            path = relative + status.path[len(found.path) :]
            if self._filter.excludes(path):
                return True
            included = included or self._filter.includes(path)
            if not status.is_directory:
                if not included:
                    return True
                continue
            waiting.extend((child, included) for child in self._children(status))
        return False

    def _children(self, directory: FileStatus) -> Iterator[FileStatus]:
        for _, page in self._target.list_pages([directory.path]):
            yield from page or ()
