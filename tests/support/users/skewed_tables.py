"""Tables whose values have directories of their own (list bucketing), as Hive leaves them after an insert."""

from typing import Any

from tests.support.hive.metastore_objects import skewed
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.thrift_objects import read_partition, read_table
from twinhive.core.model.tjson import from_text

VALUES = [("1", "x y"), ("2", "ü/="), ("3", 'a"]:')]
PLACES = [partition_name(("a", "b"), values) for values in VALUES]
"""Where Hive puts the rows of each, below the table or partition."""
CONTENTS = {f"{place}/f": place.encode() for place in PLACES}


def create_skewed(users: SourceWriter, table: str, *partitions: str) -> None:
    """Create a table with files of each of the values; with partitions these have them."""
    users.create_table(table, ("p",) if partitions else (), files={} if partitions else CONTENTS)
    if not partitions:
        give_directories(users, table)
    for value in partitions:
        users.add_partitions(table, {(value,): CONTENTS})
        give_directories(users, table, value)


def give_directories(users: SourceWriter, table: str, value: str | None = None) -> None:
    """Let the metastore say where the rows of each of the values lie."""
    name = TableName(users.database, table)
    if value is None:
        found = users.table(table)
        tree, sd = from_text(found.thrift), "7"
        tree[sd]["rec"] = _with_directories(tree[sd]["rec"], str(found.location))
        users.metastore.alter_table(name, read_table(tree))
        return
    (one,) = users.metastore.partitions(name, [partition_name(("p",), (value,))])
    tree, sd = from_text(one.thrift), "6"
    tree[sd]["rec"] = _with_directories(tree[sd]["rec"], str(one.location))
    users.metastore.alter_partitions([read_partition(tree)])


def said_places(one: Table | Partition) -> list[str]:
    """Return where a metastore says that the rows of the values lie, in their order."""
    tree = from_text(one.thrift)
    descriptor = tree["7" if isinstance(one, Table) else "6"]["rec"]
    return list(descriptor["11"]["rec"]["3"]["map"][3].values())


def assert_directories_below(one: Table | Partition) -> None:
    """Check that they lie below the location, where Hive puts them, and nowhere else."""
    assert said_places(one) == [f"{one.location}/{place}" for place in PLACES]


def _with_directories(sd: dict[str, Any], location: str) -> dict[str, Any]:
    return skewed(sd, ("a", "b"), {values: f"{location}/{place}" for values, place in zip(VALUES, PLACES, strict=True)})
