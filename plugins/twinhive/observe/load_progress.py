"""Find out how far a first copy is, from what its tasks have left on the clusters: the lists and results of batches."""

from typing import Any

from twinhive.dump.layout import result_path
from twinhive.dump.store import Dump, newest_dump, read_json
from twinhive.model.files import FileStatus, base_name, parent
from twinhive.model.policy import Policy
from twinhive.model.watching.load_progress import LoadProgress
from twinhive.ports import FileReader, ReadPorts


def read_progress(ports: ReadPorts, policy: Policy, at: float) -> LoadProgress | None:
    """Return how far the copy of the newest dump is, None as long as there is none."""
    dump = newest_dump(ports.dump_files, policy)
    if dump is None:
        return None
    summaries = _records(ports.dump_files, dump, parent(dump.layout.summary("x")))
    results = _records(ports.replica_files, dump, parent(result_path(policy.staging, dump.key, "x")))
    lists = [record for _, record in summaries.values()]
    copied = {name: _copied(record) for name, (_, record) in results.items()}
    began = [status.modified_ms / 1000 - record["seconds"] for status, record in results.values() if _is_own(record)]
    return LoadProgress(
        dump=dump.key,
        at=at,
        began=min(began, default=None),
        batches=len(dump.manifest.batches),
        listed=len(summaries),
        done=sum(_is_done(name, summaries, results) for name in summaries),
        files=sum(record["files"] for record in lists),
        files_done=sum(files for files, _ in copied.values()),
        bytes=sum(record["bytes"] for record in lists),
        bytes_done=sum(length for _, length in copied.values()),
    )


_Records = dict[str, tuple[FileStatus, dict[str, Any]]]


def _records(files: FileReader, dump: Dump, directory: str) -> _Records:
    """Return the records of the dump's batches that a directory holds, by the batches' names."""
    names = {batch.name for batch in dump.manifest.batches}
    ((_, children),) = files.list_directories([directory])
    found: _Records = {}
    for child in children or ():
        name = base_name(child.path).removesuffix(".json")
        record = read_json(files, child.path) if name in names else None
        if record is not None:
            found[name] = child, record
    return found


def _copied(record: dict[str, Any]) -> tuple[int, int]:
    return record["files"] - record["failure_count"], record["bytes"]


def _is_own(record: dict[str, Any]) -> bool:
    """Tell whether a record is of a copy that has moved something: what was staged before took no time."""
    return bool(record["copied_bytes"])


def _is_done(name: str, summaries: _Records, results: _Records) -> bool:
    """Tell whether all files of a batch are staged; one without files is never copied."""
    if not summaries[name][1]["files"]:
        return True
    return name in results and not results[name][1]["failure_count"]
