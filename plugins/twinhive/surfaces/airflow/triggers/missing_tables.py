"""A table that was there when a wait for its sets began, and is not there now, may come again by itself."""

from twinhive.core.model.errors import TryAgain, TwinhiveError, Unexplained
from twinhive.core.model.marks import followed_policy
from twinhive.core.model.names import TableName
from twinhive.core.ports import MetastoreReader


def is_replica(metastore: MetastoreReader, database: str) -> bool:
    """True for the database of a replica."""
    found = metastore.database(database)
    return found is not None and followed_policy(found.parameters) is not None


def gone_meanwhile(name: TableName, *, on_replica: bool) -> TwinhiveError:
    """Return what is said of a table that is gone since the wait began.

    A replica drops a table before it has placed the files of its new state, however long these take: that is waited
    for. At a source it may be made anew as well, by a DROP and a CREATE, but soon: that counts as an odd answer.
    """
    if on_replica:
        return TryAgain(
            f"table {name} is not on the replica now",
            found="no such table",
            expected="the table that was there when this wait began: one that is brought anew is gone for a while",
            next_step="wait on; if it was dropped at the source for good, end this task",
        )
    return Unexplained(
        f"table {name} is not there any more",
        found="no such table",
        expected="the table that was there when this wait began",
        next_step="make the table again, or wait for another one; then clear this task",
    )
