"""Decode the events of tables: created, altered, dropped, inserted into."""

from twinhive.core.model.changes.kinds import AlterTable, CreateTable, DropTable, Insert
from twinhive.hive.events.event_objects import partition_of, table
from twinhive.hive.events.fields import MessageFields
from twinhive.hive.events.file_entries import event_files


def create_table(message: MessageFields) -> CreateTable:
    """Decode CREATE_TABLE. Hive lists files for managed tables only."""
    files = event_files(message, message.optional_texts("files"))
    return CreateTable(message.struct("tableObjJson", table), files)


def drop_table(message: MessageFields) -> DropTable:
    """Decode DROP_TABLE."""
    return DropTable(message.struct("tableObjJson", table))


def alter_table(message: MessageFields) -> AlterTable:
    """Decode ALTER_TABLE, which is also a rename, and the truncation of a table."""
    return AlterTable(
        before=message.struct("tableObjBeforeJson", table),
        after=message.struct("tableObjAfterJson", table),
        truncates=message.flag("isTruncateOp"),
    )


def insert(message: MessageFields) -> Insert:
    """Decode INSERT, of a table or of one partition."""
    owner = message.struct("tableObjJson", table)
    partition = None
    if message.optional_text("ptnObjJson") is not None:
        partition = message.struct("ptnObjJson", partition_of(owner))
    return Insert(owner, partition, event_files(message, message.texts("files")), message.flag("replace"))
