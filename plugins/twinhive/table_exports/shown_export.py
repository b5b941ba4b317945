"""Know an export again that was cut off after it had been shown: what it holds is written down before that."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from twinhive.model.errors import Missing, Refused, Unexplained
from twinhive.model.files import join
from twinhive.model.names import TableName
from twinhive.ports import FileReader, FileWriter

_NAME = "shown.json"


@dataclass(frozen=True)
class Exported:
    """What an export holds: partitions (0 for a table without), files, bytes, as of an event of the source's log."""

    directory: str
    event_id: int
    partitions: int
    files: int
    bytes: int


@dataclass(frozen=True)
class ShownExport:
    """An export that is about to be shown, or has been.

    file_id    of its directory, which keeps it when it is renamed
    statement  what is exported: another statement to the same directory has not made this one
    """

    file_id: int
    statement: str
    sums: Exported

    def write(self, files: FileWriter, work: str) -> None:
        """Write it down in the directory of work."""
        files.write(join(work, _NAME), json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, files: FileReader, work: str) -> "ShownExport | None":
        """Return what `write` wrote, None for nothing, for anything else, and for what is not ours to read."""
        try:
            said = json.loads(files.read(join(work, _NAME)))
            return cls(int(said["file_id"]), str(said["statement"]), Exported(**said["sums"]))
        except Unexplained:
            raise
        except (Missing, Refused, ValueError, KeyError, TypeError):
            return None


def statement_of(table: TableName, spec: Mapping[str, str]) -> str:
    """Return what tells exports to one directory apart."""
    return json.dumps([str(table), sorted((key.lower(), value) for key, value in spec.items())])
