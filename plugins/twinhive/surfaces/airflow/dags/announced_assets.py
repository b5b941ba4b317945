"""Make the assets that other DAGs start on: who announces one and who waits for it mean the same.

Hive knows databases and tables in lower case, so a name counts in any; what a URI would not keep is percent-encoded.
"""

from urllib.parse import quote

from airflow.sdk import Asset


def database(cluster: str, database: str) -> Asset:
    """Return the asset of a replica's database; its events carry `event_id`, the replicated event id."""
    return Asset(uri=f"twinhive://{_part(cluster)}/{_part(database)}")


def table(cluster: str, database: str, table: str) -> Asset:
    """Return the asset of one table of a replica; it has events when the policy's `announced_tables` selects it."""
    return Asset(uri=f"twinhive://{_part(cluster)}/{_part(database)}/{_part(table)}")


def sets(cluster: str, database: str, table: str) -> Asset:
    """Return the asset of a table's sets of partitions; each event has the set as its partition key."""
    return Asset(uri=f"twinhive-set://{_part(cluster)}/{_part(database)}/{_part(table)}")


def verified(cluster: str, database: str, policy: str) -> Asset:
    """Return the asset that has an event when a replica was verified and nothing was found.

    policy  as its file says it: names of policies count in the case that they have
    """
    return Asset(uri=f"twinhive-verified://{_part(cluster)}/{_part(database)}/{policy}")


def _part(name: str) -> str:
    # Airflow leaves out what comes after a number sign, and puts what comes after a question mark in another order.
    return "".join(quote(char, safe="") if char in "%/?#" else char for char in name.lower())
