"""Create what was not there when it was looked for, and say what a metastore made of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from twinhive.core.model.errors import ActNow, AlreadyThere, ChangedMeanwhile
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Table
from twinhive.core.model.text import Clear
from twinhive.replication.replica.replica_locations import TRANSLATED


@contextmanager
def absent_before() -> Iterator[None]:
    """Create inside what is absent. Raises ChangedMeanwhile when it has come since.

    A call that an earlier try sent may be carried out late by a slow metastore. The next try looks first: it goes on
    with what is ours, and names what is not.
    """
    try:
        yield
    except AlreadyThere as error:
        raise ChangedMeanwhile(
            error.what + "; it was not there just before",
            found=error.found,
            expected="nothing of that name, as a look before the call has found",
            next_step=RETRIES,
        ) from error


def is_as_made(wanted: Table, found: Table) -> bool:
    """True when a metastore has created a table of the type, and in the place, that it was to have."""
    return (found.table_type, found.location) == (wanted.table_type, wanted.location)


def made_otherwise(wanted: Table, found: Table, task: str) -> ActNow:
    """Return the error of a table that the replica's metastore has created otherwise, and that is removed again.

    Hive's metadata transformer leaves its mark on what it turns into an external table.
    """
    if TRANSLATED in found.parameters:
        mend = "set metastore.metadata.transformer.class to a blank on the replica's metastore and restart it "
        mend += "(with the transformer on, Hive makes an external table of every managed one that is not ACID), then "
    else:
        mend = "find out which listener or setting of the replica's metastore changes what is created, "
        mend += "switch it off, then "
    return ActNow(
        f"the replica's metastore turned table {wanted.name} into something else; it was removed again",
        found=f"{found.table_type} at {found.location}",
        expected=f"{wanted.table_type} at {wanted.location}",
        next_step=mend + Clear(f"the task {task}"),
    )
