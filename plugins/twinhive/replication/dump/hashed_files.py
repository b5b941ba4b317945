"""Keep one small file for each of many hashes, spread over 256 directories: `<directory>/<2 digits>/<hash>.json`.

HDFS lets a directory have 1,048,576 entries. Versions before this one had all files in one directory; they are found
there, until `spread` has moved them.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import FileStatus, base_name, join
from twinhive.core.ports import FileReader, FileWriter, children

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
        for path in (self.path(name), self._earlier(name)):
            files.delete_file(path)

    def attribute(self, files: FileReader, name: str, key: str) -> str | None:
        """Return an attribute of a file. Raises Missing without that file."""
        try:
            return files.attribute(self.path(name), key)
        except Missing:
            return files.attribute(self._earlier(name), key)

    def set_attribute(self, files: FileWriter, name: str, key: str, value: str) -> None:
        """Set an attribute of a file. Raises Missing without that file."""
        try:
            files.set_attribute(self.path(name), key, value)
        except Missing:
            files.set_attribute(self._earlier(name), key, value)

    def spread(self, files: FileWriter) -> None:
        """Move the files of earlier versions to their places; of one that was written anew the old one goes."""
        made: set[str] = set()
        for name in self.listing(files).earlier:
            if name[:_DIGITS] not in made:
                files.make_directories(join(self.directory, name[:_DIGITS]))
                made.add(name[:_DIGITS])
            if not files.rename(self._earlier(name), self.path(name)):
                files.delete_file(self._earlier(name))

    def _earlier(self, name: str) -> str:
        return join(self.directory, name + _SUFFIX)


class HashedListing:
    """What there was when it was first asked for: each directory is listed once, several in bulk."""

    def __init__(self, kept: HashedFiles, files: FileReader) -> None:
        self._kept = kept
        self._files = files
        self._names: dict[str, frozenset[str]] = {}

    @property
    def earlier(self) -> frozenset[str]:
        """The hashes of files of earlier versions."""
        return self._top[1]

    def path(self, name: str) -> str | None:
        """Return the path of the file of a hash, None without one."""
        prefix = name[:_DIGITS]
        if name in self._listed([prefix])[prefix]:
            return self._kept.path(name)
        return join(self._kept.directory, name + _SUFFIX) if name in self.earlier else None

    def has_any(self, names: Collection[str]) -> bool:
        """True when there is a file of one of some hashes."""
        found = self._listed({name[:_DIGITS] for name in names})
        return any(name in found[name[:_DIGITS]] or name in self.earlier for name in names)

    def all(self) -> Iterator[tuple[str, str]]:
        """Yield the hash and the path of each file."""
        found = self._listed(self._top[0])
        there = {name for prefix in self._top[0] for name in found[prefix]}
        yield from ((name, self._kept.path(name)) for name in sorted(there))
        yield from ((name, join(self._kept.directory, name + _SUFFIX)) for name in sorted(self.earlier - there))

    @cached_property
    def _top(self) -> tuple[frozenset[str], frozenset[str]]:
        """The directories that are there, and the files of earlier versions beside them."""
        found = children(self._files, self._kept.directory)
        directories = frozenset(base_name(child.path) for child in found if child.is_directory)
        return directories, _names(child for child in found if not child.is_directory)

    def _listed(self, prefixes: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return what is in some directories, and in those that were listed before."""
        unknown = sorted({prefix for prefix in prefixes if prefix not in self._names})
        there = [join(self._kept.directory, prefix) for prefix in unknown if prefix in self._top[0]]
        found = {prefix: frozenset[str]() for prefix in unknown}
        for directory, inside in self._files.list_directories(there) if there else ():
            found[base_name(directory)] = _names(inside or ())
        # At once: other threads may ask meanwhile.
        self._names |= found
        return self._names


def _names(statuses: Iterable[FileStatus]) -> frozenset[str]:
    names = (base_name(status.path) for status in statuses)
    return frozenset(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
