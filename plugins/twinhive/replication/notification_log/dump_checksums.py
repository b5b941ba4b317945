"""Give the listed files of a dump their checksums: whoever loads it later finds these very files.

Hive's own dumps name files so (`_files`: path, checksum, change manager's directory), and so do events.
"""

from collections.abc import Iterable
from dataclasses import replace

from twinhive.core.model.batches import Batch
from twinhive.core.model.files import ChecksumForm, FileStatus, parent, qualified
from twinhive.core.ports import FileReader, MetastoreReader, SourcePorts, if_there
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.dump.batch_records import listed_batch, write_file_list
from twinhive.replication.dump.dump_layout import DumpLayout
from twinhive.replication.dump.shards import unpack_lines
from twinhive.transfer.staged.staged_files import CopyItem

_THREADS = 16


def seal_batches(ports: SourcePorts, layout: DumpLayout, batches: Iterable[Batch], end: int) -> list[Batch]:
    """Write the lists of a dump that describes the source at event `end` again, with checksums.

    Return the batches of files that are not any more what was listed: what took them away comes later in the log. A
    file system without checksums leaves its files as they were listed.
    """
    cmroot = change_manager_root(ports.source, ports.source_files.root)
    gone: list[Batch] = []
    for batch in batches:
        listed = listed_batch(ports.dump_files, layout, batch.name)
        if listed is None or not listed.files:
            continue
        items = [CopyItem.from_line(line) for line in unpack_lines(ports.dump_files.read(layout.files(batch.name)))]
        sealed = _sealed(ports.source_files, items, cmroot, end)
        whole = [found for found in sealed if found is not None]
        if len(whole) == len(items):
            write_file_list(ports.dump_files, layout, batch.name, whole, listed.lo)
        else:
            gone.append(batch)
    return gone


def change_manager_root(source: MetastoreReader, file_system: str) -> str | None:
    """Return the directory in which the source's change manager keeps removed files, None without one."""
    said = source.configuration(source.addresses()[0], "metastore.repl.cmrootdir").strip()
    return qualified(said, file_system) if said else None


def _sealed(files: FileReader, items: list[CopyItem], cmroot: str | None, end: int) -> list[CopyItem | None]:
    """Return each item with its checksum, None for one that has changed or is gone; event content has one already."""
    checksums = in_threads(lambda item: None if item.is_event_content else _checksum(files, item), items, _THREADS)
    # Looked at after the checksum: a file that still is as it was listed has had that checksum all the time.
    now = _statuses(files, [item.path for item in items if not item.is_event_content])
    sealed: list[CopyItem | None] = []
    for item, checksum in zip(items, checksums, strict=True):
        if item.is_event_content:
            sealed.append(item)
        elif item.path not in now or not item.is_still(now[item.path]):
            sealed.append(None)
        else:
            sealed.append(replace(item, checksum=checksum, cmroot=cmroot or None, event_id=end) if checksum else item)
    return sealed


def _checksum(files: FileReader, item: CopyItem) -> str | None:
    return if_there(files.checksum, item.path, ChecksumForm.IDENTITY)


def _statuses(files: FileReader, paths: list[str]) -> dict[str, FileStatus]:
    directories = sorted({parent(path) for path in paths})
    return {status.path: status for _, children in files.list_directories(directories) for status in children or ()}
