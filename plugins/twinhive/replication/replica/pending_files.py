"""Keep what waits of external tables as files on the replica: `external/pending/<table>.jsonl.gz` in staging."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, get_args

from twinhive.core.model.changes.kinds import OfDetails
from twinhive.core.model.errors import Missing
from twinhive.core.model.file_names import is_altered
from twinhive.core.model.files import FileStatus, base_name, join, short_hash
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, Lease
from twinhive.replication.dump.hashed_files import HashedFiles
from twinhive.replication.dump.named_files import NamedFiles
from twinhive.replication.dump.shards import (
    pack_lines,
    partition_line,
    partition_of_line,
    table_line,
    table_of_line,
    unpack_lines,
)
from twinhive.replication.replica.pending_tables import PendingTable, PurgeNote, Waiting

_SUFFIX = ".jsonl.gz"
_LOOKED_INTO = 20
_DETAILS: dict[str, type[OfDetails]] = {kind.__name__: kind for kind in get_args(OfDetails)}


def pending_directory(policy: Policy) -> str:
    """Return the directory of the records of a policy."""
    return join(policy.staging, "external", "pending")


def remove_pending(files: FileWriter, policy: Policy) -> None:
    """Remove all records of what waits."""
    _records(policy).remove_all(files)


def remove_purges(files: FileWriter, policy: Policy) -> None:
    """Remove all notes that ask for data to be deleted: by now people may use the directories that they name."""
    for path in purge_paths(files, policy):
        files.delete_file(path)


def purge_paths(files: FileReader, policy: Policy) -> list[str]:
    """Return the files that ask for data of dropped objects to be deleted."""
    return [path for _, path in _purges(policy).listing(files).all()]


def purge_path(policy: Policy, location: str) -> str:
    """Return the file that asks for the data of a dropped object to be deleted, by its source location."""
    return _purges(policy).path(short_hash(location))


def _purges(policy: Policy) -> HashedFiles:
    return HashedFiles(join(policy.staging, "external", "purge"))


def pending_names(files: FileReader, policy: Policy) -> tuple[str, ...]:
    """Return the source tables of which something waits, sorted.

    What the policy does not select any more waits for nothing: it stays as it is.
    """
    return tuple(table for table in _recorded(files, policy) if policy.selects(table))


def _recorded(files: FileReader, policy: Policy) -> tuple[str, ...]:
    return tuple(_records(policy).names(files, lambda content: decode_pending(content).name.table))


@dataclass(frozen=True)
class TablesWaiting:
    """How many external tables wait for data, and the first event for whose data one does."""

    tables: int
    since: int


def what_waits(files: FileReader, policies: Iterable[Policy]) -> dict[str, TablesWaiting]:
    """Return what waits of policies, of those that have such tables; their directories are listed in bulk.

    Of many tables those are looked at whose records nobody has written for longest.
    """
    by_directory = {pending_directory(policy): policy for policy in policies}
    found = {}
    for directory, children in files.list_directories(by_directory):
        policy = by_directory[directory]
        records = [child for child in children or () if _is_selected(policy, child)]
        oldest = sorted(records, key=lambda record: record.modified_ms)[:_LOOKED_INTO]
        since = [event_id for record in oldest for event_id in _events(files, record.path)]
        if since:
            found[policy.name] = TablesWaiting(len(records), min(since))
    return found


def _is_selected(policy: Policy, child: FileStatus) -> bool:
    """True for the record of a table that the policy selects, as far as the name of the file tells."""
    name = base_name(child.path)
    return name.endswith(_SUFFIX) and (is_altered(name) or policy.selects(name.removesuffix(_SUFFIX)))


def _events(files: FileReader, path: str) -> Iterator[int]:
    """Yield since which events something of a record waits; one that is gone meanwhile waits for nothing."""
    with suppress(Missing):
        lines = (json.loads(line) for line in unpack_lines(files.read(path)))
        yield from (line["since"] for line in lines if "since" in line)


def pending_statuses(files: FileReader, policy: Policy) -> Iterator[FileStatus]:
    """Yield what a listing shows of each record."""
    return _records(policy).statuses(files)


def pending_file(policy: Policy, table: str) -> str:
    """Return the name of the file that holds the record of a source table."""
    return base_name(_records(policy).path(table))


def read_pending(files: FileReader, policy: Policy, table: str) -> PendingTable:
    """Return the record of one source table. Raises Missing when it has none."""
    return decode_pending(_records(policy).read(files, table))


@dataclass(frozen=True)
class PendingFiles:
    """The records of a policy, written under its lease."""

    files: FileWriter
    policy: Policy
    lease: Lease

    def tables(self) -> tuple[str, ...]:
        """Return the source tables that have a record, those that are not selected any more as well."""
        return _recorded(self.files, self.policy)

    def read(self, table: str) -> PendingTable:
        """Return the record of a table."""
        return read_pending(self.files, self.policy, table)

    def write(self, record: PendingTable) -> None:
        """Write a record over the one before."""
        self.lease.confirm()
        _records(self.policy).write(self.files, record.name.table, encode_pending(record))

    def remove(self, table: str) -> None:
        """Delete a record; one that is not there is fine."""
        self.lease.confirm()
        _records(self.policy).remove(self.files, table)

    def note_purge(self, note: PurgeNote) -> None:
        """Write that the data of a dropped object is to be deleted."""
        self.lease.confirm()
        self.files.write(purge_path(self.policy, note.location), json.dumps(asdict(note)).encode())


def encode_pending(record: PendingTable) -> bytes:
    """Pack a record as gzipped lines: the table, then its partitions."""
    return pack_lines(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in _lines(record))


def _lines(record: PendingTable) -> Iterator[dict[str, Any]]:
    details = [_detail_line(event_id, detail) for event_id, detail in record.details.items()]
    whose = [record.name.database, record.name.table]
    head: dict[str, Any] = {"name": whose, "replaces": record.replaces, "details": details}
    waiting = record.table
    yield head if waiting is None else {**head, **_when(waiting), "table": table_line(waiting.thing)}
    for name, partition in record.partitions.items():
        yield {"partition": name, **_when(partition), **partition_line(partition.thing)}


def _when(waiting: Waiting[Any]) -> dict[str, int]:
    return {"event_id": waiting.event_id, "since": waiting.since}


def decode_pending(content: bytes) -> PendingTable:
    """Unpack what `encode_pending` packed."""
    head, *lines = (json.loads(line) for line in unpack_lines(content))
    name = TableName(*head["name"])
    table = Waiting(table_of_line(head["table"]), head["event_id"], head["since"]) if "table" in head else None
    partitions = {
        line["partition"]: Waiting(partition_of_line(line, name), line["event_id"], line["since"]) for line in lines
    }
    details = dict(_detail_of_line(line, name) for line in head["details"])
    return PendingTable(name, table, partitions, head["replaces"], details)


def _detail_line(event_id: int, detail: OfDetails) -> dict[str, Any]:
    said = {key: value for key, value in asdict(detail).items() if key != "table"}
    return {"event_id": event_id, "type": type(detail).__name__, "said": said}


def _detail_of_line(line: dict[str, Any], table: TableName) -> tuple[int, OfDetails]:
    said: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in line["said"].items()
    }
    return line["event_id"], _DETAILS[line["type"]](table=table, **said)


def _records(policy: Policy) -> NamedFiles:
    return NamedFiles(pending_directory(policy), _SUFFIX)
