"""Do to a file system what a metastore does: directories, file entries of events, the change manager."""

from collections.abc import Iterator

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import ChecksumForm, FileStatus, authority, base_name, is_hidden, join, parent
from twinhive.core.ports import FileWriter


class Storage:
    """Act on a file system, or on none: then nothing exists and every call is fine."""

    def __init__(self, files: FileWriter | None) -> None:
        self._files = files
        self.cmroot = join(files.root, "cmroot") if files else ""

    def make(self, *directories: str | None) -> None:
        """Make directories; those of other file systems, which Hive would make there, are nobody's here."""
        for directory in filter(None, directories):
            if self._files and authority(directory) == self._files.root:
                self._files.make_directories(directory)

    def exists(self, path: str) -> bool:
        """True when there is something."""
        return self._files is not None and self._files.status(path) is not None

    def lacks(self, directory: str | None) -> bool:
        """True when a directory of this file system is not there."""
        return bool(
            self._files and directory and authority(directory) == self._files.root and not self.exists(directory)
        )

    def move(self, source: str, target: str) -> None:
        """Rename a directory; parents are made."""
        if self._files and self.exists(source):
            self._files.make_directories(parent(target))
            self._files.rename(source, target)

    def remove(self, directory: str | None, *, recycles: bool) -> None:
        """Delete a directory; with `recycles` the change manager gets its files first."""
        if self._files and directory and self.exists(directory):
            if recycles:
                self.recycle(directory)
            self._files.delete(directory)

    def recycle(self, path: str) -> None:
        """Move a file, or all files below a directory, into the change manager. Raises Missing.

        They are kept as `<cmroot>/<name>_<checksum>`. What is kept already stays, and so do hidden files (`.`).
        """
        if self._files is None:
            return
        status = self._files.status(path)
        if status is None:
            raise Missing(f"{path}: there is nothing to recycle")
        for file in self._below(status):
            checksum = self._files.checksum(file.path, ChecksumForm.IDENTITY)
            self._files.make_directories(self.cmroot)
            self._files.rename(file.path, f"{self.cmroot}/{base_name(file.path)}_{checksum}")

    def keep_copy(self, path: str) -> None:
        """Copy a file into the change manager. Raises Missing."""
        if self._files:
            kept = f"{self.cmroot}/{base_name(path)}_{self._checksum(path)}"
            if not self.exists(kept):
                self._files.create_from(self._files.open(path), kept)
                self._files.set_attribute(kept, "user.original-loc", path)

    def count(self, directory: str | None) -> dict[str, str]:
        """Return the file statistics of a directory, as the server counts them: whole, without hidden names."""
        waiting, lengths = [directory], []
        while waiting:
            for child in self._children(waiting.pop() or ""):
                if child.is_directory and not is_hidden(base_name(child.path)):
                    waiting.append(child.path)
                elif not is_hidden(base_name(child.path)):
                    lengths.append(child.length)
        return {"numFiles": str(len(lengths)), "totalSize": str(sum(lengths)), "numFilesErasureCoded": "0"}

    def entries(self, directory: str | None) -> list[str]:
        """Return the entries of an event for the files directly in a directory, hidden ones left out."""
        found = self._children(directory) if directory else []
        return [
            self.entry(status.path, self._checksum(status.path))
            for status in found
            if not status.is_directory and not is_hidden(base_name(status.path))
        ]

    def entry(self, path: str, checksum: str | None) -> str:
        """Return the entry of an event for one file: `path#checksum#cmroot#subdirectory`."""
        return f"{path}###" if checksum is None else f"{path}#{checksum}#{self.cmroot}#"

    def _checksum(self, path: str) -> str | None:
        assert self._files is not None
        return self._files.checksum(path, ChecksumForm.IDENTITY)

    def _children(self, directory: str) -> list[FileStatus]:
        if self._files is None:
            return []
        ((_, found),) = self._files.list_directories([directory])
        return found or []

    def _below(self, status: FileStatus) -> Iterator[FileStatus]:
        if not status.is_directory:
            yield status
            return
        for child in self._children(status.path):
            if not base_name(child.path).startswith("."):
                yield from self._below(child)
