"""Refuse to replicate a remote database: its tables are another metastore's, and so are their events."""

from twinhive.core.model.errors import Refused
from twinhive.core.model.next_steps import CORRECT_THE_SOURCE
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.remotes.definitions import REMOTE
from twinhive.core.model.tjson import from_text

_TYPE, _TYPE_REMOTE = "12", 2
"""`Database.type` and `DatabaseType.REMOTE` of Hive's API."""


def refused_remote(database: Database, address: DatabaseAddress) -> Refused | None:
    """Return the error for a database that stands for one elsewhere, None for one of its own."""
    stands_for = database.parameters.get(REMOTE)
    if stands_for is None and from_text(database.thrift).get(_TYPE, {}).get("i32") != _TYPE_REMOTE:
        return None
    return Refused(
        f"database {address} is a remote: its tables, and their events, are in another metastore",
        found="a database of type REMOTE" if stands_for is None else f"{REMOTE} = {stands_for!r}",
        expected="a database whose tables this metastore has itself",
        next_step=CORRECT_THE_SOURCE + ": name the cluster that has the tables, and the database there",
    )
