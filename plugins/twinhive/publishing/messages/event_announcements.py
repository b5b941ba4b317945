"""Make announcements of the notification log's events: partitions that are new, sets that are done or open."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import (
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Insert,
    NoContent,
    OfPartitions,
    RenamePartition,
)
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.marks import STAMP
from twinhive.core.model.messages.hive_message import Announcement, AnnouncementKind
from twinhive.core.model.messages.topics import own_topic
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.sets.set_mark import SETS_TABLE, SetMark, is_findable, is_sets_table
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_scope import is_of_default_catalog
from twinhive.hive.events.event_types import EventType

OWN_DATABASE = "twinhive"
"""Where publishers keep their positions: of it nothing is told."""
_OF_SETS = (
    EventType.ADD_PARTITION,
    EventType.ALTER_PARTITION,
    EventType.ALTER_PARTITIONS,
    EventType.DROP_PARTITION,
    EventType.DROP_TABLE,
)


@dataclass(frozen=True)
class AnnouncedDatabases:
    """The databases that are told about: regular expressions for whole names."""

    patterns: tuple[str, ...] = (".*",)

    def __contains__(self, database: str) -> bool:
        name = database.lower()
        return name != OWN_DATABASE and any(re.fullmatch(one, name, re.IGNORECASE) for one in self.patterns)

    def concern(self, row: EventRow) -> bool:
        """True for an event of which something is told; no message is opened but of one that may be a rename."""
        if not is_of_default_catalog(row) or not row.database or not row.table or row.database not in self:
            return False
        if row.table.lower() == COPY_MARKS.name:
            return False
        if row.table.lower() == SETS_TABLE:
            return row.event_type in _OF_SETS
        return row.event_type == EventType.ADD_PARTITION or (
            row.event_type == EventType.ALTER_PARTITION and _may_rename(row)
        )


def _may_rename(row: EventRow) -> bool:
    try:
        return isinstance(decode_event(row).change, RenamePartition)
    except UnreadableEvent:
        return True


def announcements_of(row: EventRow) -> Iterator[Announcement]:
    """Yield what is told of an event, always in the same order. Raises UnreadableEvent before the first."""
    change = decode_event(row).change
    for number, (kind, table, said, own) in enumerate(_told(change)):
        yield Announcement(kind, table, str(row.event_id), number, row.time, said, own)


_Told = tuple[AnnouncementKind, TableName, Mapping[str, object], str | None]


def _told(change: Change) -> Iterator[_Told]:
    match change:
        case AddPartitions(table=table, added=added) if not is_sets_table(table):
            yield from (_added(table, one.partition) for one in added)
        case RenamePartition(table=table, after=after) if not is_sets_table(table):
            yield _added(table, after)
        case AddPartitions() | AlterPartitions() | RenamePartition() | DropPartitions():
            if is_sets_table(change.table):
                yield from _of_sets(change)
        case CreateTable() | DropTable() | AlterTable() | Insert() | NoContent():
            return
        case _:
            assert_never(change)


def _of_sets(change: OfPartitions) -> Iterator[_Told]:
    """Yield which sets are done or open again: their marks are partitions."""
    match change:
        case AddPartitions(added=added):
            yield from (_done(one.partition) for one in added if _is_waited_for(one.partition))
        case AlterPartitions(after=partitions):
            yield from (_done(partition) for partition in partitions if _is_waited_for(partition))
        case RenamePartition(table, before, after):
            yield from _opened(table, before.values)
            if _is_waited_for(after):
                yield _done(after)
        case DropPartitions(table, every):
            yield from (told for values in every for told in _opened(table, values))
        case _:
            assert_never(change)


def _added(table: Table, partition: Partition) -> _Told:
    values = dict(zip(table.partition_keys, partition.values, strict=True))
    said = {
        "tableType": table.table_type,
        "partitions": [values],
        "partition": _sorted_name(values),
        **_stamp(partition),
    }
    return AnnouncementKind.PARTITION, table.name, said, own_topic(table.parameters)


def _done(partition: Partition) -> _Told:
    mark = SetMark.read(partition)
    told = {"by": mark.by, "partition_count": mark.partitions, "note": mark.note}
    said = {
        "set": mark.spec,
        "count": mark.count,
        **{key: value for key, value in told.items() if value is not None},
        **_stamp(partition),
    }
    return AnnouncementKind.SET_DONE, mark.table, said, None


def _opened(table: Table, values: tuple[str, ...]) -> Iterator[_Told]:
    name, spec = values
    if _is_kept_so(values):
        yield AnnouncementKind.SET_OPEN, TableName(table.name.database, name), {"set": spec}, None


def _is_waited_for(partition: Partition) -> bool:
    """True for a mark that counts: what plain SQL has written otherwise nobody finds, so nobody is told of it."""
    return _is_kept_so(partition.values)


def _is_kept_so(values: tuple[str, ...]) -> bool:
    _, spec = values
    try:
        return is_findable(values) and str(SetSpec.unchecked(spec)) == spec
    except InvalidSettings:
        return False


def _stamp(partition: Partition) -> dict[str, object]:
    """Return the source's event, on a replica."""
    stamp = partition.parameters.get(STAMP)
    return {} if stamp is None else {"stamp": stamp}


def _sorted_name(values: Mapping[str, str]) -> str:
    keys = sorted(values, key=str.lower)
    return partition_name(tuple(keys), tuple(values[key] for key in keys))


def gap_announcements(
    tables: Iterable[tuple[TableName, str | None]], first: int, last: int, time: int
) -> Iterator[Announcement]:
    """Yield that events from one to another were never told, for each table with the topic that it names.

    time  Unix seconds: when that was seen; of an event that cannot be read its own
    """
    said = {"first": first, "last": last}
    for number, (table, own) in enumerate(tables):
        yield Announcement(AnnouncementKind.GAP, table, f"{first}-{last}", number, time, said, own)
