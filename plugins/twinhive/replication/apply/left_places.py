"""Know what the replica has left where Hive puts tables and partitions by itself, and clear the way there.

The directory of a table that we built bears our mark, and with it all that lies there. In a database that people have
written, an old primary or one that was seeded, none does, and tables lie where Hive has put them. What the replica
leaves there would be rows again of whoever drops a partition and adds it once more. So each directory that something of
the replica uses is marked just before that is dropped or shown elsewhere: it held the replica's content, and nothing of
other people's.

A partition that gets another name is moved to its default place, which must be free. An earlier partition of that name,
dropped meanwhile or with other content since, may have left its directory there. It goes aside in its table's
directory, if that or what stands there bears our mark, and no partition uses it. Anything else is somebody's.
"""

from collections.abc import Iterable, Sequence

from twinhive.core.directory_marks.directories import mark_left, table_of
from twinhive.core.model.errors import Foreign, TryAgain
from twinhive.core.model.files import is_below, join, relative_to
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.text import Clear
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.replica_locations import partition_directory

_THREADS = 8


def leave_table(target: Target, table: Table) -> None:
    """Mark where a table's rows are, in its partitions or in its own directory, before it is dropped."""
    if not table.location or table.is_external or not _is_of_people(target, table.location):
        return
    parts = target.replica.partition_locations(table) if table.partition_keys else [("", table.location)]
    _leave(target, (place for _, place in parts))


def leave_for(target: Target, there: Table, after: Table) -> None:
    """Mark where a table's own rows are, before it is shown elsewhere."""
    if there.location and there.location != after.location and not there.is_external and not there.partition_keys:
        _leave(target, [there.location])


def leave_partitions(target: Target, table: Table, names: Sequence[str], after: Sequence[Partition] = ()) -> None:
    """Mark where partitions are, before they are dropped or shown elsewhere (`after`)."""
    if not table.location or table.is_external:
        return
    stays = {one.location for one in after}
    known = [target.twin.known_partition(table.name, name) for name in names]
    if after and all(one is not None and one.location in stays for one in known):
        return
    if _is_of_people(target, table.location):
        there = target.twin.partitions(table.name, names).values()
        _leave(target, (one.location for one in there if one and one.location and one.location not in stays))


def _leave(target: Target, places: Iterable[str]) -> None:
    if found := [place for place in places if _is_of_people(target, place)]:
        target.lease.confirm()
        in_threads(lambda place: mark_left(target.files, place, target.policy.name), found, _THREADS)


def _is_of_people(target: Target, place: str) -> bool:
    """True below the directory of a table that bears no mark of ours: people made it, or it became theirs."""
    if not is_below(place, target.root):
        return False
    return not target.owns(join(target.root, relative_to(place, target.root).partition("/")[0]))


def is_moved_already(target: Target, old: Partition, place: str) -> bool:
    """True when the metastore was killed after it had moved the directory: what lies at the place are the rows."""
    is_gone = old.location is not None and target.files.status(old.location) is None
    return is_gone and target.files.status(place) is not None


def clear_way(target: Target, table: Table, place: str, event_id: int) -> None:
    """Move aside what stands at a partition's default place. Raises Foreign for what is not proven ours, or used."""
    if target.files.status(place) is None:
        return
    owned = table_of(target.files, target.root, place, target.policy.name)
    if owned is None:
        raise _foreign(table, place, found=f"a directory, and no mark of this policy on it or {table.location}")
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
