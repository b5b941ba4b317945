"""Learn the statuses of many directories by listing those that they are in: a call tells of a thousand."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import FileStatus, parent
from twinhive.core.ports import FileReader
from twinhive.core.threads.parallel_map import in_threads

_WORTH = 3
"""So many directories of one parent are listed with it; fewer are asked for one by one."""
_CALLS_OF_A_PAGE = 20
"""A page of a listing costs as much as so many single statuses: a directory of very many others is not read for few."""


@dataclass(frozen=True)
class SiblingStatuses:
    """What listings have told; anything else is asked for."""

    files: FileReader
    known: Mapping[str, FileStatus]

    @classmethod
    def of(cls, files: FileReader, paths: Iterable[str], threads: int) -> "SiblingStatuses":
        """List the directories that hold several of the paths. What cannot be listed is asked for by its status."""
        together: dict[str, set[str]] = {}
        for path in paths:
            above = parent(path)
            together.setdefault(above if above != files.root else f"{above}/", set()).add(path)
        worth = [(directory, wanted) for directory, wanted in together.items() if len(wanted) >= _WORTH]
        found = in_threads(lambda one: dict(_listed(files, *one)), worth, threads)
        return cls(files, {path: status for some in found for path, status in some.items()})

    @property
    def root(self) -> str:
        """Scheme and authority of the file system."""
        return self.files.root

    def status(self, path: str) -> FileStatus | None:
        """Return the status of a path, or None when it does not exist."""
        return self.known.get(path) or self.files.status(path)


def _listed(files: FileReader, directory: str, wanted: set[str]) -> Iterator[tuple[str, FileStatus]]:
    """Yield what a listing tells of the paths, as long as it is worth its calls."""
    left, most_pages = len(wanted), 1 + len(wanted) // _CALLS_OF_A_PAGE
    try:
        for number, (_, page) in enumerate(files.list_pages([directory]), 1):
            for child in page or ():
                if child.path in wanted:
                    yield child.path, child
                    left -= 1
            if not left or number == most_pages:
                return
    except TwinhiveError:  # whoever may not list it may still go through it
        return
