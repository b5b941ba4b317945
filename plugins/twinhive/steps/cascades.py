"""Find out which changes of columns the partitions of the source have followed (CASCADE).

The log does not say: the event names the table alone. The source's partitions tell, as long as no later
change of columns has come over them; of several, the last one stands for all.
"""

from twinhive.domain.changes import AlterTable, DropTable, Event, tables_of
from twinhive.domain.errors import Missing
from twinhive.domain.events import Position
from twinhive.domain.names import TableName
from twinhive.domain.policy import Policy
from twinhive.domain.thrift_objects import columns_of_partition
from twinhive.events.decoder import decode_event
from twinhive.events.reader import read_events
from twinhive.events.scope import in_scope
from twinhive.ports import MetastoreReader

_PER_CALL = 1_000


def followed_by_partitions(
    source: MetastoreReader, policy: Policy, events: list[Event], end: Position
) -> tuple[int, ...]:
    """Return the ids of those changes of columns in a window that all partitions of the table have followed."""
    last = _last_changes(events)
    followed = {name: event for name, event in last.items() if _all_follow(source, name, event)}
    if not followed:
        return ()
    # What came after the window may be what the partitions show: then that later event tells.
    later = (decode_event(row) for row in read_events(source, end) if in_scope(row, policy))
    for event in later:
        change = event.change
        if isinstance(change, DropTable) or (isinstance(change, AlterTable) and _is_change(change)):
            for name in tables_of(change):
                followed.pop(name, None)
    return tuple(sorted(event.event_id for event in followed.values()))


def _last_changes(events: list[Event]) -> dict[TableName, Event]:
    last: dict[TableName, Event] = {}
    for event in events:
        change = event.change
        if isinstance(change, AlterTable) and change.after.partition_keys and change.changes_columns:
            last[change.after.name] = event
        elif isinstance(change, DropTable) or (isinstance(change, AlterTable) and change.renames):
            for name in tables_of(change):
                last.pop(name, None)
    return last


def _is_change(change: AlterTable) -> bool:
    return change.renames or change.changes_columns


def _all_follow(source: MetastoreReader, name: TableName, event: Event) -> bool:
    change = event.change
    assert isinstance(change, AlterTable)
    try:
        names = source.partition_names(name)
    except Missing:
        return False
    for start in range(0, len(names), _PER_CALL):
        for partition in source.partitions(name, names[start : start + _PER_CALL]):
            if columns_of_partition(partition) != change.after.columns:
                return False
    return bool(names)
