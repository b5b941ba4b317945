"""Find out how far a first copy is, from what its tasks have left on the clusters: the lists and results of batches."""

from typing import Any

from twinhive.core.model.files import FileStatus, base_name, parent
from twinhive.core.model.policy import Policy
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.core.ports import FileReader, ReadPorts, children
from twinhive.replication.dump.batch_records import CopiedBatch, ListedBatch
from twinhive.replication.dump.dump_layout import result_path
from twinhive.replication.dump.dump_store import Dump, newest_dump
from twinhive.replication.dump.json_files import read_json


def read_progress(ports: ReadPorts, policy: Policy, at: float) -> LoadProgress | None:
    """Return how far the copy of the newest dump is, None as long as there is none."""
    dump = newest_dump(ports.dump_files, policy)
    if dump is None:
        return None
    lists = parent(dump.layout.summary("x"))
    results = parent(result_path(policy.staging, dump.key, "x"))
    listed = {name: ListedBatch.parse(record) for name, (_, record) in _records(ports.dump_files, dump, lists).items()}
    found = _records(ports.replica_files, dump, results)
    copied = {name: CopiedBatch.parse(record) for name, (_, record) in found.items()}
    # What was staged before took no time.
    began = [found[name][0].modified_ms / 1000 - one.seconds for name, one in copied.items() if one.copied_bytes]
    return LoadProgress(
        dump=dump.key,
        at=at,
        began=min(began, default=None),
        batches=len(dump.manifest.batches),
        listed=len(listed),
        done=sum(not one.files or (name in copied and not copied[name].failures) for name, one in listed.items()),
        files=sum(one.files for one in listed.values()),
        files_done=sum(one.files - one.failures for one in copied.values()),
        bytes=sum(one.bytes for one in listed.values()),
        bytes_done=sum(one.bytes for one in copied.values()),
    )


_Records = dict[str, tuple[FileStatus, dict[str, Any]]]


def _records(files: FileReader, dump: Dump, directory: str) -> _Records:
    """Return the records of the dump's batches that a directory holds, by the batches' names."""
    names = {batch.name for batch in dump.manifest.batches}
    found: _Records = {}
    for child in children(files, directory):
        name = base_name(child.path).removesuffix(".json")
        record = read_json(files, child.path) if name in names else None
        if record is not None:
            found[name] = child, record
    return found
