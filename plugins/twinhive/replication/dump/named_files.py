"""Keep one file for each of many names that come from outside: `<directory>/<name><suffix>`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.file_names import file_name, is_altered
from twinhive.core.model.files import FileStatus, base_name, join
from twinhive.core.ports import FileReader, FileWriter, children

NameIn = Callable[[bytes], str | None]
"""Returns the name that the content of a file says, None for content that says none."""


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
        yield from filter(self.is_one, children(files, self.directory))

    def read(self, files: FileReader, name: str) -> bytes:
        """Return what is in the file of a name. Raises Missing when there is none."""
        return files.read(self.path(name))

    def write(self, files: FileWriter, name: str, content: bytes) -> None:
        """Write a file over the one before."""
        files.write(self.path(name), content)

    def remove(self, files: FileWriter, name: str) -> None:
        """Delete a file; one that is not there is fine."""
        files.delete_file(self.path(name))

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

    def _paths(self, files: FileReader) -> Iterator[str]:
        return (status.path for status in self.statuses(files))

    def _name_of(self, files: FileReader, path: str, name_in: NameIn) -> str | None:
        plain = base_name(path).removesuffix(self.suffix)
        if not is_altered(plain):
            return plain
        try:
            return name_in(files.read(path)) or plain
        except Missing:
            return None  # It went while we looked.
