"""Decode the events of partitions: added, altered, renamed, dropped."""

from twinhive.core.model.changes.kinds import (
    AddedPartition,
    AddPartitions,
    AlterPartitions,
    DropPartitions,
    Files,
    RenamePartition,
)
from twinhive.core.model.objects import Table
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.event_objects import partition_of, table
from twinhive.hive.events.fields import MessageFields
from twinhive.hive.events.file_entries import event_files


def add_partition(message: MessageFields) -> AddPartitions:
    """Decode ADD_PARTITION, one row for all partitions of a call."""
    owner = message.struct("tableObjJson", table)
    files = _files_by_name(message)
    added = tuple(
        AddedPartition(partition, files.pop(partition.name(owner.partition_keys), ()))
        for partition in message.structs("partitionListJson", partition_of(owner))
    )
    if files:
        raise unreadable(message.row, f"partitionFiles of {', '.join(files)!s:.80}", "those of the partitions added")
    return AddPartitions(owner, added)


def alter_partition(message: MessageFields) -> AlterPartitions | RenamePartition:
    """Decode ALTER_PARTITION, which is a rename when the values before and after differ."""
    owner = message.struct("tableObjJson", table)
    before = message.struct("partitionObjBeforeJson", partition_of(owner))
    after = message.struct("partitionObjAfterJson", partition_of(owner))
    if before.values != after.values:
        return RenamePartition(owner, before, after)
    return AlterPartitions(owner, (after,), message.flag("isTruncateOp"), (before,))


def alter_partitions(message: MessageFields) -> AlterPartitions:
    """Decode ALTER_PARTITIONS (Hive 4.1 and later), which has no objects from before."""
    owner = message.struct("tableObjJson", table)
    after = message.structs("partitionListJson", partition_of(owner))
    return AlterPartitions(owner, after, message.flag("isTruncateOp"))


def drop_partition(message: MessageFields) -> DropPartitions:
    """Decode DROP_PARTITION, one row for all partitions of a call, by their values."""
    owner = message.struct("tableObjJson", table)
    return DropPartitions(owner, tuple(_values(pairs, owner) for pairs in message.records("partitions")))


def _values(pairs: MessageFields, owner: Table) -> tuple[str, ...]:
    by_key = {key.lower(): value for key, value in pairs.values.items()}
    found = [by_key.get(key.lower()) for key in owner.partition_keys]
    values = tuple(value for value in found if isinstance(value, str))
    if not len(values) == len(found) == len(by_key):
        raise unreadable(pairs.row, f"partitions: {pairs.values!r:.80}", f"a value of each of {owner.partition_keys}")
    return values


def _files_by_name(message: MessageFields) -> dict[str, Files]:
    return {
        entry.text("partitionName"): event_files(message, entry.optional_texts("files"))
        for entry in message.optional_records("partitionFiles")
    }
