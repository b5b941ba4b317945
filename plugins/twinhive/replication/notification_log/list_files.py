"""List the files of one batch of the dump: path, length, mtime and file id, no checksums.

Reading checksums of petabytes takes days; the copy compares checksums of what it copies.
"""

from dataclasses import dataclass

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.names import TableName
from twinhive.core.ports import ReadPorts, SourcePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.batch_records import ListedBatch, listed_batch, write_file_list
from twinhive.replication.dump.dump_store import Dump, dump_of_key
from twinhive.replication.dump.shards import TableRecord
from twinhive.replication.replica.replica_state import already_published, state_now
from twinhive.transfer.staged.listing import list_files
from twinhive.transfer.staged.staged_files import CopyItem

FileOwner = tuple[TableName, str | None]


@dataclass(frozen=True)
class FilesListed:
    """What one batch holds: files and bytes."""

    files: int = 0
    bytes: int = 0
    already: str | None = None


@dataclass(frozen=True)
class ListFiles:
    """Write the list of files of one batch; a list that is finished is kept."""

    work: Work

    def run(self, ports: ReadPorts) -> FilesListed:
        """Return the totals of the batch."""
        policy = self.work.policy
        if already := already_published(state_now(ports, policy)):
            self.work.report(already)
            return FilesListed(already=already)
        dump = dump_of_key(ports.dump_files, policy, self.work.dump)
        found = listed_batch(ports.dump_files, dump.layout, self.work.batch)
        if found is None:
            found = list_batch(ports, dump, self.work.batch)
        else:
            self.work.report("the list is there already, from an earlier try; it is kept")
        self.work.report(f"{found.files} files, {found.bytes} bytes")
        return FilesListed(found.files, found.bytes)


def list_batch(ports: SourcePorts, dump: Dump, batch: str) -> ListedBatch:
    """Write the list of files of a batch of a dump; return what it adds up to."""
    # Read before the first directory: what the log says up to here is in the list.
    lo = ports.source.current_event_id()
    records = dump.objects(ports.dump_files, batch)
    roots = [root for record in records for root in _roots(record)]
    items = (
        CopyItem.of(SourceFile.of_listing(status, relative), table, partition)
        for (table, partition), relative, status in list_files(ports.source_files, roots)
    )
    return write_file_list(ports.dump_files, dump.layout, batch, items, lo)


def _roots(record: TableRecord) -> list[tuple[FileOwner, str]]:
    """Return the directories that hold a record's rows, each with its owner; those of external tables are synced."""
    table = record.table
    if table.is_external:
        return []
    if not table.partition_keys:
        return [((table.name, None), table.location)] if table.location else []
    return [
        ((table.name, partition.name(table.partition_keys)), partition.location)
        for partition in record.partitions
        if partition.location
    ]
