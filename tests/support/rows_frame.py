"""A data frame of a few rows in memory, which writes them as files of lines."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import base_name, join, parent, relative_to
from twinhive.core.model.names import partition_name, unescape_path_name
from twinhive.publishing.partition_writes.frame_schema import FittedColumn
from twinhive.publishing.partition_writes.write_target import WriteTarget


class RowsFrame:
    """Rows as (values of the keys, text); each task writes a file of its own into each partition, as Spark does.

    `loses`: the second pass leaves a row out. `files` may be a port with a switch.
    """

    def __init__(self, files: Any, rows: Sequence[tuple[tuple[str, ...], str]], *, tasks: int = 1) -> None:
        self.files = files
        self.rows_given = rows
        self.tasks = tasks
        self.schema: Sequence[tuple[str, str]] = (("id", "int"), ("p", "string"))
        self.loses = False
        self.passes = 0

    def columns(self) -> Sequence[tuple[str, str]]:
        return self.schema

    def write(self, directory: str, target: WriteTarget, columns: Sequence[FittedColumn], file_bytes: int) -> None:
        self._save(directory, target, self.rows_given, self.tasks)

    def rewrite(self, base: str, paths: Sequence[str], directory: str, target: WriteTarget, file_bytes: int) -> None:
        rows = [(values, row) for values, lines in self._read(base, paths).items() for row in lines]
        self._save(directory, target, rows[1:] if self.loses else rows, 1)

    def rows(self, base: str, paths: Sequence[str], target: WriteTarget) -> dict[tuple[str, ...], int]:
        return {values: len(lines) for values, lines in self._read(base, paths).items()}

    def _save(
        self, directory: str, target: WriteTarget, rows: Sequence[tuple[tuple[str, ...], str]], tasks: int
    ) -> None:
        self.passes += 1
        files: dict[str, list[str]] = defaultdict(list)
        for number, (values, text) in enumerate(rows):
            place = join(directory, partition_name(target.key_names, values))
            files[f"{place}/part-{number % tasks:05d}-{base_name(directory)}"].append(text)
        for path, lines in files.items():
            self.files.make_directories(parent(path))
            self.files.write(path, "\n".join(lines).encode())
        self.files.write(join(directory, "_SUCCESS"), b"")

    def _read(self, base: str, paths: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
        found: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path in paths:
            names = relative_to(parent(path), base).split("/")
            found[tuple(unescape_path_name(name.partition("=")[2]) for name in names)] += (
                self.files.read(path).decode().split("\n")
            )
        return found


def lines_of(files: InMemoryFiles, location: str) -> list[str]:
    """Return what readers of a directory see, in order."""
    ((_, children),) = files.list_directories([location])
    shown = [child.path for child in children or () if not child.is_directory and base_name(child.path)[0] not in "._"]
    return sorted(line for path in shown for line in files.read(path).decode().split("\n"))
