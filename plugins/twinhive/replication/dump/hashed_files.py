"""Keep one small file for each of many hashes, spread over 256 directories: `<directory>/<2 digits>/<hash>.json`.

HDFS lets a directory have 1,048,576 entries.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from twinhive.core.model.files import FileStatus, base_name, join
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.core.threads.lazy_property import lazy_property

_SUFFIX = ".json"
_DIGITS = 2


@dataclass(frozen=True)
class HashedFiles:
    """The files below one directory."""

    directory: str

    def path(self, name: str) -> str:
        """Return the path of the file of a hash."""
        return join(self.directory, name[:_DIGITS], name + _SUFFIX)

    def listing(self, files: FileReader) -> "HashedListing":
        """Return what there is, which is listed when it is asked for."""
        return HashedListing(self, files)

    def write(self, files: FileWriter, name: str, content: bytes) -> None:
        """Write a file over the one before."""
        files.write(self.path(name), content)

    def remove(self, files: FileWriter, name: str) -> None:
        """Delete a file; one that is not there is fine."""
        files.delete_file(self.path(name))

    def attribute(self, files: FileReader, name: str, key: str) -> str | None:
        """Return an attribute of a file. Raises Missing without that file."""
        return files.attribute(self.path(name), key)

    def set_attribute(self, files: FileWriter, name: str, key: str, value: str) -> None:
        """Set an attribute of a file. Raises Missing without that file."""
        files.set_attribute(self.path(name), key, value)


class HashedListing:
    """What there was when it was first asked for: each directory is listed once, several in bulk."""

    def __init__(self, kept: HashedFiles, files: FileReader) -> None:
        self._kept = kept
        self._files = files
        self._names: dict[str, frozenset[str]] = {}

    def path(self, name: str) -> str | None:
        """Return the path of the file of a hash, None without one."""
        prefix = name[:_DIGITS]
        return self._kept.path(name) if name in self._listed([prefix])[prefix] else None

    def has_any(self, names: Collection[str]) -> bool:
        """True when there is a file of one of some hashes."""
        found = self._listed({name[:_DIGITS] for name in names})
        return any(name in found[name[:_DIGITS]] for name in names)

    def all(self) -> Iterator[tuple[str, str]]:
        """Yield the hash and the path of each file."""
        found = self._listed(self._top)
        there = {name for prefix in self._top for name in found[prefix]}
        yield from ((name, self._kept.path(name)) for name in sorted(there))

    @lazy_property
    def _top(self) -> frozenset[str]:
        """The directories that are there."""
        found = children(self._files, self._kept.directory)
        return frozenset(base_name(child.path) for child in found if child.is_directory)

    def _listed(self, prefixes: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return what is in some directories, and in those that were listed before."""
        unknown = sorted({prefix for prefix in prefixes if prefix not in self._names})
        there = [join(self._kept.directory, prefix) for prefix in unknown if prefix in self._top]
        found = {prefix: frozenset[str]() for prefix in unknown}
        for directory, inside in self._files.list_directories(there) if there else ():
            found[base_name(directory)] = _names(inside or ())
        # At once: other threads may ask meanwhile.
        self._names |= found
        return self._names


def _names(statuses: Iterable[FileStatus]) -> frozenset[str]:
    names = (base_name(status.path) for status in statuses)
    return frozenset(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
