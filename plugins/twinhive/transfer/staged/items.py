"""Turn files of the source, as dumps and events describe them, into items to copy, and back."""

from twinhive.model.changes.contents import SourceFile
from twinhive.model.names import TableName
from twinhive.transfer.staged.staged import CopyItem


def item_of(file: SourceFile, table: TableName, partition: str | None) -> CopyItem:
    """Return the item that copies a file of a table or of one of its partitions."""
    return CopyItem(
        source_path=file.path,
        length=file.length,
        modified_ms=file.modified_ms,
        file_id=file.file_id,
        block_size=file.block_size,
        permission=file.permission,
        table=str(table),
        partition=partition,
        relative=file.relative,
        checksum=file.checksum,
        cmroot=file.cmroot,
        event_id=file.event_id,
    )


def file_of(item: CopyItem) -> SourceFile:
    """Return the file that an item copies."""
    return SourceFile(
        path=item.source_path,
        relative=item.relative,
        length=item.length,
        modified_ms=item.modified_ms,
        file_id=item.file_id,
        block_size=item.block_size,
        permission=item.permission,
        checksum=item.checksum,
        cmroot=item.cmroot,
        event_id=item.event_id,
    )
