"""`_metadata` of an export: the table and its partitions, without the marks of any replication.

The layout is Hive's (`EximUtil`, version 0.2): beside `_metadata` the files lie in `data`, or of a partitioned table in
a directory for each partition, by its name. `_metadata` is there last: a directory without it is no export.
"""

import json
from dataclasses import dataclass, replace
from typing import TypeVar

from twinhive.core.model.errors import ActNow, Missing
from twinhive.core.model.files import join
from twinhive.core.model.marks import without_marks
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.ports import FileReader
from twinhive.hive.events import event_objects
from twinhive.hive.events.structs import parse_struct
from twinhive.statements.interop.hive_dump.hive_structs import partition_text, table_text
from twinhive.statements.interop.hive_dump.object_descriptions import VERSION, encode_table

METADATA = "_metadata"
DATA = "data"
_EXPORT_AGAIN = "export the table again, by EXPORT TABLE of Hive or of twinhive"
One = TypeVar("One", Table, Partition)


@dataclass(frozen=True)
class DescriptionState:
    """What tells the description of an export from that of another one at the same place."""

    file_id: int
    modified_ms: int
    length: int

    def __str__(self) -> str:
        return f"a description with file id {self.file_id}, time {self.modified_ms}, {self.length} bytes"


@dataclass(frozen=True)
class Described:
    """A table with those of its partitions that are exported, as they were where they come from."""

    table: Table
    partitions: tuple[Partition, ...] = ()

    def encode(self) -> bytes:
        """Return the content of `_metadata`."""
        return encode_table(None, table_text(self.table), (partition_text(one) for one in self.partitions))

    @property
    def directories(self) -> dict[str, Partition | None]:
        """The directories with files, by their names below the export; None stands for the table itself."""
        if not self.table.partition_keys:
            return {DATA: None}
        return {self.name_of(one): one for one in self.partitions}

    def name_of(self, partition: Partition) -> str:
        """Return the name of a partition, which is its directory too."""
        return partition_name(self.table.partition_keys, partition.values)


def read_description(files: FileReader, directory: str) -> Described:
    """Read what an export holds. Raises Missing for a directory that is none, ActNow for what cannot be read."""
    path = join(directory, METADATA)
    try:
        content = files.read(path)
    except Missing as error:
        raise Missing(
            f"{directory} is no export of a table",
            found=f"no {METADATA} in it",
            expected=f"a directory that EXPORT TABLE has written; {METADATA} is written last",
            next_step="correct the directory; if its export was cut off, run that again",
        ) from error
    fields = _fields(content, path)
    try:
        table = _plain(event_objects.table(*parse_struct(str(fields["table"]))))
        read = event_objects.partition_of(table)
        found = tuple(_plain(read(*parse_struct(text))) for text in _texts(fields.get("partitions")))
        bad = next((one for one in found if len(one.values) != len(table.partition_keys)), None)
        if bad is not None:
            raise ValueError(f"a partition with the values {bad.values} of {len(table.partition_keys)} keys")
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}", "Thrift structs of Hive in TJSON text") from error
    return Described(table, found)


def description_state(files: FileReader, directory: str) -> DescriptionState | None:
    """Return which description an export has; None without one."""
    there = files.status(join(directory, METADATA))
    return None if there is None else DescriptionState(there.file_id, there.modified_ms, there.length)


def refuse_kind(table: Table, doing: str) -> None:
    """Raise ActNow for a table whose rows are not plain files. Hive refuses views too."""
    if not table.has_plain_files:
        raise ActNow(
            f"{table.name} cannot be {doing}",
            found=f"a {table.kind.value} table" if table.has_files else f"a {table.kind.value}",
            expected="a managed table without transactions, or an external one, with files of its own",
            next_step="write its rows into a plain table (CREATE TABLE ... AS SELECT), and take that",
        )


def _fields(content: bytes, path: str) -> dict[str, object]:
    try:
        fields = json.loads(content, strict=False)
    except ValueError as error:
        raise _unreadable(path, str(error), "JSON") from error
    version = fields.get("version") if isinstance(fields, dict) else None
    if version != VERSION:
        raise _unreadable(path, f"version {version}", f"version {VERSION}, that of Hive 4")
    return dict(fields)


def _texts(partitions: object) -> list[str]:
    # Some versions of Hive write the list as a text that holds one.
    found = json.loads(partitions, strict=False) if isinstance(partitions, str) else partitions or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError("partitions are no list of texts")
    return found


def _plain(one: One) -> One:
    return replace(one, parameters=without_marks(one.parameters))


def _unreadable(path: str, found: object, expected: str) -> ActNow:
    return ActNow(f"{path} cannot be read", found=f"{found!s:.200}", expected=expected, next_step=_EXPORT_AGAIN)
