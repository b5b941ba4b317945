"""Change parameters of ours on objects that other people write too, and nothing else of them.

Each is read right before it is written, and written as it was read but for the keys that change: a column that users
have added since a listing, or a partition that they have moved, stays so. A table is written only if nobody has altered
it since it was read: the metastore compares the time of its last DDL, in seconds. Whoever alters a table twice within
one second, or sends that time back as it was read, as clients of bare Thrift may, is not seen by that. Partitions and
databases have no such comparison. Then all that holds is that nothing lies between reading and writing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from twinhive.core.model.errors import ChangedMeanwhile, Missing
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import DDL_TIME, Database, Parameters, Partition, Table
from twinhive.core.ports import MetastoreWriter

_TRIES = 5


def change_table(
    metastore: MetastoreWriter, name: TableName, change: Callable[[Table], Parameters | None]
) -> Table | None:
    """Give a table other parameters; return it as it was written.

    `change` is asked of the table as it is now; it returns all of its parameters, or None where it is to stay as it is
    (then, and for a table that is gone, None is returned). Raises ChangedMeanwhile when others alter it time and again.
    """
    for left in reversed(range(_TRIES)):
        table = metastore.table(name)
        parameters = change(table) if table is not None else None
        if table is None or parameters is None:
            return None
        if parameters == table.parameters:
            return table
        altered = table.with_parameters(parameters)
        try:
            metastore.alter_table(name, altered, expected=table.parameters.get(DDL_TIME), of_key=DDL_TIME)
        except Missing:
            return None
        except ChangedMeanwhile:
            if not left:
                raise
            continue
        return altered
    raise AssertionError("a loop that ends by returning or raising")


def change_partitions(
    metastore: MetastoreWriter,
    table: TableName,
    names: Sequence[str],
    change: Callable[[Partition], Parameters | None],
) -> int:
    """Give some partitions of a table other parameters, as many as one call takes; return how many were written.

    `change` is asked of each as it is now, as for tables. One that is gone when all are written makes the metastore
    refuse all: they are read again.
    """
    for left in reversed(range(_TRIES)):
        try:
            found = [(one, change(one)) for one in metastore.partitions(table, names)]
            altered = [
                one.with_parameters(parameters)
                for one, parameters in found
                if parameters is not None and parameters != one.parameters
            ]
            if altered:
                metastore.alter_partitions(altered)
        except Missing:
            if metastore.table(table) is None:
                return 0
            if not left:
                raise
            continue
        return len(altered)
    raise AssertionError("a loop that ends by returning or raising")


def change_database(
    metastore: MetastoreWriter, name: str, change: Callable[[Database], Parameters | None]
) -> Database | None:
    """Give a database other parameters; return it as it was written, None where it stays, or is gone."""
    database = metastore.database(name)
    parameters = change(database) if database is not None else None
    if database is None or parameters is None:
        return None
    if parameters != database.parameters:
        metastore.set_database_parameters(name, parameters)
    return replace(database, parameters=parameters)
