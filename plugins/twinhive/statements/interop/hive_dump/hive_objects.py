"""Read the Thrift structs of Hive's dumps, without the marks that its replication leaves on them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from twinhive.core.model.marks import without_marks
from twinhive.core.model.objects import Database, Function, Partition, Table
from twinhive.core.model.tjson import Tree
from twinhive.hive.events import event_objects
from twinhive.hive.events.structs import parse_struct
from twinhive.statements.interop.hive_dump.file_lines import decode_entry
from twinhive.statements.interop.hive_dump.hive_dump_errors import unreadable

Read = TypeVar("Read")


def source_database(text: str, path: str) -> Database:
    """Read a database as the source has it. Raises ActNow, as all of these do."""
    database = _read(text, path, event_objects.database)
    return replace(database, parameters=without_marks(database.parameters))


def table_of(text: str, path: str) -> Table:
    """Read a table or view."""
    table = _read(text, path, event_objects.table)
    return table.with_parameters(without_marks(table.parameters))


def partition_of(text: str, table: Table, path: str) -> Partition:
    """Read a partition of a table."""
    partition = _read(text, path, event_objects.partition_of(table))
    return partition.with_parameters(without_marks(partition.parameters))


def function_of(text: str, path: str) -> Function:
    """Read a function; its files are named without their checksums."""
    function = _read(text, path, event_objects.function)
    return function.at(function.database, tuple(decode_entry(entry).path for entry in function.resources))


def _read(text: str, path: str, read: Callable[[Tree, str], Read]) -> Read:
    try:
        return read(*parse_struct(text))
    except (ValueError, TypeError, AttributeError) as error:
        raise unreadable(path, error, "the TJSON text of a Thrift struct of Hive") from error
