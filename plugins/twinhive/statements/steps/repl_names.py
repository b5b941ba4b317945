"""Name what REPL statements make: such a name says the replica, and no policy file can have it."""

from twinhive.core.model.policy import DatabaseAddress

NAME_PREFIX = "repl."


def replica_name(replica: DatabaseAddress) -> str:
    """Return the name of a replica of statements: its mark, and its staging directory."""
    return f"{NAME_PREFIX}{replica.cluster}.{replica.database}"


def replica_named(name: str, cluster: str) -> DatabaseAddress | None:
    """Return the replica on a cluster that a name says, None for all other names.

    Names of clusters may have dots in them, those of databases never do.
    """
    beginning = replica_name(DatabaseAddress(cluster, ""))
    database = name.removeprefix(beginning)
    is_one = name.startswith(beginning) and database and "." not in database
    return DatabaseAddress(cluster, database) if is_one else None
