"""What changes below a directory shows in no time of its own: directories in it are looked at by themselves."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from twinhive.core.model.files import base_name, directory_around, is_hidden
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.ports import FileReader

_DIGITS = 16
_FEW = 4


def directory_states(files: FileReader, places: Iterable[str], deep: Iterable[str] = ()) -> dict[str, DirectoryState]:
    """Return the states of directories, by one look at each directory around them; those of `deep` with all below.

    A few are asked for one by one: what is around them may hold many thousands. One that had no directories in it has
    none as long as its own time is the same.
    """
    wanted, into = set(places), set(deep)
    if len(wanted) <= _FEW:
        found = [status for place in sorted(wanted) if (status := files.status(place))]
    else:
        around = dict.fromkeys(directory_around(place) for place in sorted(wanted))
        found = [child for _, page in files.list_pages(around) for child in page or () if child.path in wanted]
    states = {status.path: DirectoryState.of(status) for status in found if status.is_directory}
    below = digests_below(files, [place for place in into if place in states])
    return states | {place: replace(states[place], below=digest) for place, digest in below.items()}


def states_like(files: FileReader, known: Mapping[str, DirectoryState]) -> dict[str, DirectoryState]:
    """Return the states of directories as they are to be compared with those that are known."""
    return directory_states(files, known, [place for place, state in known.items() if state.below])


@dataclass(frozen=True)
class Below:
    """The directories below one that readers see: a digest, those that hold any of them, and the newest one's time."""

    digest: str
    branches: tuple[str, ...]
    newest_ms: int


def look_below(files: FileReader, places: Iterable[str]) -> dict[str, Below]:
    """Look at what is below directories; those without directories in them are left out."""
    lines: dict[str, list[str]] = defaultdict(list)
    branches: dict[str, dict[str, None]] = defaultdict(dict)
    newest: dict[str, int] = defaultdict(int)
    level = {place: place for place in places}
    while level:
        found: dict[str, str] = {}
        for directory, page in files.list_pages(level):
            for entry in page or ():
                if entry.is_directory and not is_hidden(base_name(entry.path)):
                    place = found[entry.path] = level[directory]
                    lines[place].append(f"{entry.path}\0{entry.file_id}\0{entry.modified_ms}\0")
                    branches[place][directory] = None
                    newest[place] = max(newest[place], entry.modified_ms)
        level = found
    return {place: Below(_digest(some), tuple(branches[place]), newest[place]) for place, some in lines.items()}


def digests_below(files: FileReader, places: Iterable[str]) -> dict[str, str]:
    """Return the digests of what is below directories, '' where nothing is."""
    found = look_below(files, places := list(places))
    return {place: found[place].digest if place in found else "" for place in places}


def _digest(lines: list[str]) -> str:
    text = "".join(sorted(lines)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:_DIGITS]
