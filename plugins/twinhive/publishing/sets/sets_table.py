"""The table in which a database's marks are kept: found, made, or refused."""

from types import MappingProxyType

from twinhive.core.model.errors import ActNow, InvalidSettings, Missing
from twinhive.core.model.marks import POLICY, followed_policy
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters, Table
from twinhive.core.model.sets.own_tables import SETS
from twinhive.core.ports import MetastoreReader, MetastoreWriter
from twinhive.core.ports.own_table_lookup import find_own_table, make_own_table


def find_sets_table(metastore: MetastoreReader, database: str) -> Table | None:
    """Return a database's set table, None where nothing was marked yet. Raises ActNow for a table of somebody else."""
    return find_own_table(metastore, SETS, database)


def make_sets_table(
    metastore: MetastoreWriter, database: str, owner: str | None, parameters: Parameters = MappingProxyType({})
) -> Table:
    """Return a database's set table, which is made where it is missing, with further parameters."""
    return make_own_table(metastore, SETS, database, owner, parameters)


def data_table(metastore: MetastoreReader, name: TableName) -> Table:
    """Return the table whose sets are asked for. Raises Missing, and InvalidSettings for the one that keeps sets."""
    table = metastore.table(name)
    if table is None:
        raise no_table(name)
    if SETS.is_one(table):
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
