"""The table in which a database's marks are kept: found, made, or refused."""

from contextlib import suppress
from types import MappingProxyType

from twinhive.core.model.errors import ActNow, AlreadyThere, InvalidSettings, Missing
from twinhive.core.model.marks import POLICY, followed_policy
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.model.sets.set_mark import IS_SETS_TABLE, SETS_KEYS, is_sets_table, sets_table
from twinhive.core.model.thrift_objects import text_table
from twinhive.core.ports import MetastoreReader, MetastoreWriter


def find_sets_table(metastore: MetastoreReader, database: str) -> Table | None:
    """Return a database's set table, None where nothing was marked yet. Raises ActNow for a table of somebody else."""
    found = metastore.table(sets_table(database))
    if found is None:
        return None
    if not is_sets_table(found):
        raise ActNow(
            f"{found.name} is not a table of sets, and sets are kept in a table of that name",
            found=f"partition keys {', '.join(found.partition_keys) or '(none)'}, "
            f"{IS_SETS_TABLE}={found.parameters.get(IS_SETS_TABLE, '(not set)')}",
            expected=f"partition keys {', '.join(SETS_KEYS)}, {IS_SETS_TABLE}=1",
            next_step="rename that table; or, if it was made for sets and has these keys: "
            f"ALTER TABLE {found.name} SET TBLPROPERTIES ('{IS_SETS_TABLE}'='1')",
        )
    return found


def make_sets_table(
    metastore: MetastoreWriter, database: str, owner: str | None, parameters: Parameters = MappingProxyType({})
) -> Table:
    """Return a database's set table, which is made where it is missing, with further parameters."""
    found = find_sets_table(metastore, database)
    if found is None:
        made = text_table(sets_table(database), (("note", "string"),), SETS_KEYS, owner)
        # Another one may have marked his first set at the same moment.
        with suppress(AlreadyThere):
            metastore.create_table(made.with_parameters({**parameters, IS_SETS_TABLE: "1"}))
        found = find_sets_table(metastore, database)
    if found is None:
        raise Missing(
            f"{sets_table(database)} was made, and is gone",
            found="no such table",
            expected="the table of the database's sets",
            next_step="see who dropped it, then mark the set again",
        )
    return found


def data_table(metastore: MetastoreReader, name: TableName) -> Table:
    """Return the table whose sets are asked for. Raises Missing, and InvalidSettings for the one that keeps sets."""
    table = metastore.table(name)
    if table is None:
        raise no_table(name)
    if is_sets_table(table):
        raise InvalidSettings(
            f"{name} keeps the sets of its database, and has none itself: no replica could show one",
            found=str(name),
            expected="a table with data",
            next_step="name the table whose data is complete, once for each such table",
        )
    return table


def no_table(name: TableName) -> Missing:
    """Return what is said of sets whose table is not there."""
    return Missing(
        f"there is no table {name}",
        found="no such table",
        expected="a table whose sets are meant",
        next_step="correct the name: database.table",
    )


def refuse_replica(metastore: MetastoreReader, database: str) -> None:
    """Refuse to mark in a replica's database: sets come there from the source, behind their data. Raises ActNow."""
    found = metastore.database(database)
    policy = followed_policy(found.parameters) if found else None
    if policy:
        raise ActNow(
            f"database {database} is the replica of policy {policy}: its sets come from the source",
            found=f"{POLICY}={policy}",
            expected="the database at the source",
            next_step="mark the set at the source's cluster",
        )
