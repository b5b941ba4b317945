"""List the files of one batch of the dump: path, length, mtime and file id, no checksums.

Reading checksums of petabytes takes days; the copy compares checksums of what it copies.
"""

from dataclasses import dataclass

from twinhive.copying.listing import list_files
from twinhive.copying.staged import CopyItem
from twinhive.domain.errors import ActNow
from twinhive.domain.files import FileStatus
from twinhive.domain.names import TableName
from twinhive.dump.shards import TableRecord, pack_lines
from twinhive.dump.store import Dump, current_dump, read_json, write_json
from twinhive.ports import ReadPorts
from twinhive.steps.base import Work
from twinhive.steps.replica_state import already_published, read_state

Owner = tuple[TableName, str | None]


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
        if already := already_published(read_state(ports.replica, policy, ports.source.log_id())):
            self.work.report(already)
            return FilesListed(already=already)
        dump = current_dump(ports.dump_files, policy)
        check_dump(dump, self.work)
        summary = read_json(ports.dump_files, dump.layout.summary(self.work.batch))
        if summary is None:
            summary = self._list(ports, dump)
        else:
            self.work.report("the list is there already, from an earlier try; it is kept")
        self.work.report(f"{summary['files']} files, {summary['bytes']} bytes")
        return FilesListed(summary["files"], summary["bytes"])

    def _list(self, ports: ReadPorts, dump: Dump) -> dict[str, int]:
        records = dump.objects(ports.dump_files, self.work.batch)
        roots = [root for record in records for root in _roots(record)]
        items = [
            _item(status, table, partition, relative)
            for (table, partition), relative, status in list_files(ports.source_files, roots)
        ]
        ports.dump_files.write(dump.layout.files(self.work.batch), pack_lines(item.to_line() for item in items))
        # Written last: its presence says that the list is complete.
        summary = {"files": len(items), "bytes": sum(item.length for item in items)}
        write_json(ports.dump_files, dump.layout.summary(self.work.batch), summary)
        return summary


def check_dump(dump: Dump, work: Work) -> None:
    """Refuse to work for a dump that another one has replaced."""
    if dump.key != work.dump:
        raise ActNow(
            f"the dump of this task has been replaced (policy {work.policy.name})",
            found=f"current dump {dump.key}",
            expected=work.dump,
            next_step="clear the task list_objects with all tasks after it",
        )


def _item(status: FileStatus, table: TableName, partition: str | None, relative: str) -> CopyItem:
    return CopyItem(
        source_path=status.path,
        length=status.length,
        modified_ms=status.modified_ms,
        file_id=status.file_id,
        block_size=status.block_size,
        permission=status.permission,
        table=str(table),
        partition=partition,
        relative=relative,
    )


def _roots(record: TableRecord) -> list[tuple[Owner, str]]:
    """Return the directories that hold a record's rows, each with its owner."""
    table = record.table
    if not table.partition_keys:
        return [((table.name, None), table.location)] if table.location else []
    return [
        ((table.name, partition.name(table.partition_keys)), partition.location)
        for partition in record.partitions
        if partition.location
    ]
