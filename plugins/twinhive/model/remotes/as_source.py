"""Refuse to replicate a remote database: its tables are another metastore's, and so are their events."""

from twinhive.model.errors import Refused
from twinhive.model.next_steps import CORRECT_THE_SOURCE
from twinhive.model.objects import Database
from twinhive.model.policy import DatabaseAddress
from twinhive.model.remotes.definitions import REMOTE


def refused_remote(database: Database, address: DatabaseAddress) -> Refused | None:
    """Return the error for a database that stands for one elsewhere, None for one of its own."""
    stands_for = database.parameters.get(REMOTE)
    if stands_for is None:
        return None
    return Refused(
        f"database {address} is a remote: its tables, and their events, are in another metastore",
        found=f"{REMOTE} = {stands_for!r}",
        expected="a database whose tables this metastore has itself",
        next_step=CORRECT_THE_SOURCE + ": name the cluster that has the tables, and the database there",
    )
