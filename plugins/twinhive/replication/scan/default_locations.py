"""Look whether anything of ours lies where Hive would put a table or a partition by itself.

Our content lies in directories that bear an event. In Hive's own places lie partitions that were renamed, what these
have left behind, and all that an old primary held before it became a replica.
"""

from collections.abc import Iterable

from twinhive.core.directory_marks.directories import table_mark
from twinhive.core.model.files import base_name, is_hidden
from twinhive.core.model.objects import Table
from twinhive.core.ports import FileReader
from twinhive.replication.replica.replica_locations import event_of_directory


def lies_in_default_places(files: FileReader, policy: str, root: str, tables: Iterable[Table]) -> bool:
    """True if there may be such content, used or not. Partitions are not asked for, however many there are.

    files     of the replica; read are `root`, where its managed tables lie, and the directories of partitioned tables
    policy    whose mark directories of ours bear
    """
    managed = [one for one in tables if one.location and not one.is_external]
    used = {one.location for one in managed}
    for _, children in files.list_pages([root]):
        for child in children or ():
            bears_event = event_of_directory(base_name(child.path)) is not None
            is_unused = child.is_directory and not bears_event and child.path not in used
            if is_unused and table_mark(files, child.path) == policy:
                return True
    partitioned = sorted({one.location for one in managed if one.partition_keys and one.location})
    return any(
        child.is_directory and not is_hidden(base_name(child.path))
        for _, children in files.list_pages(partitioned)
        for child in children or ()
    )
