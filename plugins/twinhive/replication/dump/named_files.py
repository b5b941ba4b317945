"""Keep one file for each of many names that come from outside: `<directory>/<name><suffix>`.

Versions before this one called files by plain names. What they have left is found, and goes when it is written anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.file_names import earlier_file_name, file_name, is_altered
from twinhive.core.model.files import FileStatus, base_name, join
from twinhive.core.ports import FileReader, FileWriter

NameIn = Callable[[bytes], str | None]
"""Returns the name that the content of a file says, None for content of an earlier version, which says none."""


@dataclass(frozen=True)
class NamedFiles:
    """The files of one directory."""

    directory: str
    suffix: str

    def names(self, files: FileReader, name_in: NameIn) -> list[str]:
        """Return what there is a file of, sorted. Only files whose names are altered are read for it."""
        return sorted(
            {name for path in self._paths(files) if (name := self._name_of(files, path, name_in)) is not None}
        )

    def statuses(self, files: FileReader) -> Iterator[FileStatus]:
        """Yield what a listing shows of each file."""
        waiting = [self.directory]
        while waiting:
            listed = list(files.list_directories(waiting))
            waiting = []
            for child in (child for _, children in listed for child in children or ()):
                if self.is_one(child):
                    yield child
                elif child.is_directory:
                    waiting.append(child.path)  # An earlier version wrote a name with a slash as a path.

    def read(self, files: FileReader, name: str) -> bytes:
        """Return what is in the file of a name. Raises Missing when there is none."""
        try:
            return files.read(self.path(name))
        except Missing:
            earlier = self._earlier(name)
            if earlier is None:
                raise
            return files.read(earlier)

    def write(self, files: FileWriter, name: str, content: bytes) -> None:
        """Write a file over the one before."""
        files.write(self.path(name), content)
        self._delete_earlier(files, name)

    def remove(self, files: FileWriter, name: str) -> None:
        """Delete a file; one that is not there is fine."""
        files.delete_file(self.path(name))
        self._delete_earlier(files, name)

    def remove_all(self, files: FileWriter) -> None:
        """Delete all files."""
        for path in list(self._paths(files)):
            files.delete_file(path)

    def path(self, name: str) -> str:
        """Return the path of the file of a name."""
        return join(self.directory, file_name(name) + self.suffix)

    def is_one(self, status: FileStatus) -> bool:
        """True for what a listing shows of a file of ours; False for directories, and for what is being written."""
        return not status.is_directory and status.path.endswith(self.suffix)

    def _delete_earlier(self, files: FileWriter, name: str) -> None:
        if earlier := self._earlier(name):
            files.delete_file(earlier)

    def _earlier(self, name: str) -> str | None:
        earlier = earlier_file_name(name)
        return None if earlier is None else join(self.directory, earlier + self.suffix)

    def _paths(self, files: FileReader) -> Iterator[str]:
        return (status.path for status in self.statuses(files))

    def _name_of(self, files: FileReader, path: str, name_in: NameIn) -> str | None:
        plain = path[len(self.directory) + 1 :].removesuffix(self.suffix)
        if not is_altered(base_name(path)):
            return plain
        try:
            return name_in(files.read(path)) or plain
        except Missing:
            return None  # It went while we looked.
