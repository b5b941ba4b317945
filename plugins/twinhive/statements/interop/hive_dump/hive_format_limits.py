"""Check what goes into Hive's layout for what it cannot say.

Hive reads event ids as 32-bit integers (`IncrementalLoadTasksBuilder`), splits the entries of files at `#`, and
reads names in the charset of its server: another one than UTF-8 would make other names of them.
"""

from collections.abc import Iterable

from twinhive.core.model.changes.affected_objects import partitions_named, tables_of
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import Change
from twinhive.statements.interop.hive_dump.hive_dump_errors import unsayable

_LARGEST_ID = 2**31 - 1
_PRINTABLE = range(0x20, 0x7F)


def check_event_id(event_id: int) -> None:
    """Raise ActNow for an event id that Hive's loader cannot hold."""
    if event_id > _LARGEST_ID:
        raise unsayable("an event id of more than 31 bits", f"event {event_id}", f"at most {_LARGEST_ID}")


def check_name(what: str, name: str) -> None:
    """Raise ActNow for a name that is not plain ASCII; `what` says whose it is."""
    if not all(ord(char) in _PRINTABLE for char in name):
        raise unsayable(f"the name of {what}", repr(name), "printable ASCII characters alone")


def check_table_name(what: str, name: str) -> None:
    """Raise ActNow for the name of a table that is no name of a directory: Hive's layout has one for each table."""
    check_name(what, name)
    if "/" in name or name in (".", ".."):
        raise unsayable(f"the name of {what}", repr(name), "a name that a directory can have")


def check_values(table: object, values: Iterable[str]) -> None:
    """Raise ActNow for the values of a partition that are not plain ASCII."""
    for value in values:
        check_name(f"a partition of {table}", value)


def check_file(owner: object, file: SourceFile) -> None:
    """Raise ActNow for a file whose entry Hive would read as another one."""
    if "#" in file.path:
        raise unsayable(f"a path with '#' (a file of {owner})", file.path, "paths without '#', at which Hive cuts")
    check_name(f"a file of {owner}", file.path)


def check_change(change: Change) -> None:
    """Raise ActNow for an event of tables or partitions whose names Hive would read as others."""
    for table in tables_of(change):
        check_table_name("a table", table.table)
    for values in partitions_named(change):
        check_values(tables_of(change)[0], values)
