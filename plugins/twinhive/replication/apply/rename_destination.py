"""Clear the way of a partition that gets another name: the metastore moves it to its default place, which must be free.

An earlier partition of that name, dropped meanwhile or with other content since, may have left its directory there. It
goes aside in its table's directory, if that bears our mark and no partition uses what stands there. Anything else is
somebody's.
"""

from twinhive.core.directory_marks.directories import table_directory_of
from twinhive.core.model.errors import Foreign, TryAgain
from twinhive.core.model.files import is_below
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.text import Clear
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.replica_locations import partition_directory


def is_moved_already(target: Target, old: Partition, place: str) -> bool:
    """True when the metastore was killed after it had moved the directory: what lies at the place are the rows."""
    is_gone = old.location is not None and target.files.status(old.location) is None
    return is_gone and target.files.status(place) is not None


def clear_way(target: Target, table: Table, place: str, event_id: int) -> None:
    """Move aside what stands at a partition's default place. Raises Foreign for what is not proven ours, or used."""
    if target.files.status(place) is None:
        return
    owned = table_directory_of(target.files, table.location or "", target.policy.name)
    if owned is None:
        raise _foreign(table, place, found=f"a directory, and no mark of this policy on {table.location}")
    if user := _user(target, table, place):
        raise _foreign(table, place, found=f"the data of partition {user}")
    target.lease.confirm()
    away = partition_directory(table.location or "", event_id, "_left")
    if owned.move_aside(away, place) is None:
        raise TryAgain(
            f"{place} was not moved aside",
            found=f"nothing there, or {away}",
            expected="a directory there that nobody else moves, and no other in its new place",
            next_step=RETRIES,
        )


def _user(target: Target, table: Table, place: str) -> str | None:
    locations = target.replica.partition_locations(table)
    used = ((name, at) for name, at in locations if at)
    return next((name for name, at in used if at == place or is_below(at, place) or is_below(place, at)), None)


def _foreign(table: Table, place: str, *, found: str) -> Foreign:
    return Foreign(
        f"the place of a renamed partition of {table.name} is not free: {place}",
        found=found,
        expected="nothing there, or what an earlier partition has left in a directory with our mark",
        next_step=f"look what it is and move it away (hdfs dfs -mv '{place}' ...), then " + Clear("the task apply"),
    )
