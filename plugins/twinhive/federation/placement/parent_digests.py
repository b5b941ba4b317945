"""Look at directories around those that have copies: what is in each of them makes one digest."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from twinhive.core.model.files import FileStatus, directory_around
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.ports import FileReader


@dataclass(frozen=True)
class Around:
    """The directories around those of a table's objects, and a digest of all directories that were seen in them."""

    directories: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class BothSides:
    """What is around a table's objects, and what is around their copies."""

    objects: Around
    copies: Around


@dataclass(frozen=True)
class Seen:
    """One look: the digest of each directory, and the states of those in them that were asked for."""

    digests: Mapping[str, str]
    states: Mapping[str, DirectoryState]

    def around(self, directories: Iterable[str]) -> Around:
        """Return what was seen around a table whose objects are in these directories."""
        ordered = tuple(sorted(set(directories)))
        together = hashlib.sha256("".join(self.digests.get(one, "gone") for one in ordered).encode())
        return Around(ordered, together.hexdigest())


def parents(places: Iterable[str]) -> set[str]:
    """Return the directories around some."""
    return {directory_around(place) for place in places}


def look_around(files: FileReader, directories: Collection[str], wanted: Collection[str] = ()) -> Seen:
    """Look at each directory once; memory holds the states that are wanted."""
    hashes = {directory: hashlib.sha256() for directory in directories}
    states: dict[str, DirectoryState] = {}
    for directory, page in files.list_pages(sorted(directories)):
        lines = "".join(_lines(page or ()))
        hashes[directory].update(lines.encode("utf-8", "surrogatepass"))
        if wanted:
            states |= {one.path: DirectoryState.of(one) for one in page or () if one.path in wanted}
    return Seen({directory: one.hexdigest() for directory, one in hashes.items()}, states)


def _lines(page: Iterable[FileStatus]) -> Iterator[str]:
    # No path has a NUL.
    return (f"{one.path}\0{one.file_id}\0{one.modified_ms}\0" for one in page if one.is_directory)
