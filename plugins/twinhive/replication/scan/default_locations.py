"""Find what of ours lies, unused, where Hive would put a table or a partition by itself.

Our content lies in directories that bear an event. In Hive's own places lie partitions that were renamed, what these
have left behind, and all that an old primary held before it became a replica.
"""

from collections.abc import Callable, Collection, Iterable, Iterator

from twinhive.core.directory_marks.directories import table_mark, table_of
from twinhive.core.model.files import base_name, is_hidden
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.replication.replica.replica_locations import event_of_directory
from twinhive.replication.replica.used_directories import UsedPlaces
from twinhive.replication.scan.left_directories import left_among
from twinhive.replication.scan.unused_directories import unused_among


def unused_in_default_places(
    ports: WritePorts, policy: Policy, root: str, tables: Iterable[Table], may_go_on: Callable[[], bool]
) -> Iterator[str]:
    """Yield the directories of ours in such places that the table around them does not use; others may.

    Only of tables with anything there the partitions are asked for, and only as long as it may go on.

    root     where the managed tables of the replica lie
    tables   those of the replica
    """
    managed = [one for one in tables if one.location and not one.is_external]
    yield from _unused_tables(ports, policy, root, {str(one.location) for one in managed})
    files, places = ports.replica_files, dict[str, UsedPlaces]()
    by_place = {str(one.location): one for one in managed if one.partition_keys}
    for place, children in files.list_pages(sorted(by_place)):
        if not may_go_on():
            return
        found = [one.path for one in children or () if one.is_directory and not is_hidden(base_name(one.path))]
        if not found:
            continue
        if place not in places:
            places = {place: UsedPlaces(root)}
            places[place].add_table(ports.replica, by_place[place])
        if table_of(files, root, place, policy.name) is None:
            yield from left_among(files, policy.name, found, places[place])
        else:
            yield from unused_among(files, found, places[place], 0)


def _unused_tables(ports: WritePorts, policy: Policy, root: str, used: Collection[str]) -> Iterator[str]:
    files = ports.replica_files
    for _, children in files.list_pages([root]):
        for child in children or ():
            bears_event = event_of_directory(base_name(child.path)) is not None
            is_unused = child.is_directory and not bears_event and child.path not in used
            if is_unused and table_mark(files, child.path) == policy.name:
                yield child.path
