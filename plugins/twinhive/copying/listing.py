"""List the files below many directories, level by level, in bulk calls."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from twinhive.domain.files import FileStatus, base_name, is_hidden, join
from twinhive.ports import FileReader

Owner = TypeVar("Owner")


def list_files(files: FileReader, roots: Sequence[tuple[Owner, str]]) -> Iterator[tuple[Owner, str, FileStatus]]:
    """Yield (owner, path relative to its root, status) for every file below the roots.

    `roots` pairs an owner with its directory. Names that start with `_` or `.` are skipped at
    every level, as Hive's readers do: they are markers and unfinished writes. A root that does
    not exist has no files.
    """
    level = [(owner, "", directory) for owner, directory in roots]
    while level:
        below = []
        children = files.list_directories([directory for _, _, directory in level])
        for (owner, relative, _), (_, entries) in zip(level, children, strict=True):
            for entry in entries or []:
                name = base_name(entry.path)
                if is_hidden(name):
                    continue
                path = join(relative, name) if relative else name
                if entry.is_directory:
                    below.append((owner, path, entry.path))
                else:
                    yield owner, path, entry
        level = below
