"""Find where a metastore keeps managed tables."""

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import authority, join, qualified
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import MetastoreReader


def managed_root(replica: MetastoreReader, policy: Policy) -> str:
    """Return the directory of the managed tables of the replica's database, a full URI.

    A warehouse that names no host is on the file system of staging, from where files are renamed. Raises Missing
    without the database.
    """
    database = replica.database(policy.replica.database)
    if database is None:
        raise Missing(
            f"database {policy.replica.database} vanished from {policy.replica.cluster}",
            found="no such database",
            expected="the database that a load has made",
            next_step="find out who dropped it; then " + Clear("the failed task"),
        )
    return qualified(managed_directory(replica, database), authority(policy.staging_root))


def managed_directory(metastore: MetastoreReader, database: Database) -> str:
    """Return the directory of a database's managed tables, as the metastore writes it."""
    if database.managed_location:
        return database.managed_location
    warehouse = metastore.configuration(metastore.addresses()[0], "metastore.warehouse.dir")
    # Hive: `Warehouse.getDefaultDatabasePath`; the tables of the database `default` lie beside the other databases.
    return warehouse if database.name == "default" else join(warehouse, f"{database.name}.db")
