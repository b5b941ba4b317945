"""Read from dumps and staging what people want to know of a run: its events, its copies, the tables that it touched."""

from collections.abc import Iterator
from dataclasses import dataclass

from twinhive.core.model.changes.affected_objects import tables_of
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_types import EventType
from twinhive.replication.dump.batch_records import copied_batch
from twinhive.replication.dump.dump_store import dump_of_key, windows_ending_at
from twinhive.replication.dump.passes.external_passes import entries_of_task

_MAY_RENAME = EventType.ALTER_TABLE


@dataclass(frozen=True)
class DumpFacts:
    """The events (begin, end] of a dump, how many of them are in scope, and its batches by name with their labels."""

    begin: int
    end: int
    events: int
    batches: dict[str, str]


@dataclass(frozen=True)
class BatchCopied:
    """What the last try of a batch's copy has moved, and how long it took."""

    name: str
    label: str
    files: int
    bytes: int
    seconds: float


def facts_of(ports: ReadPorts, policy: Policy, key: str) -> DumpFacts:
    """Return what a dump holds. Raises DumpReplaced when it has been replaced."""
    manifest = dump_of_key(ports.dump_files, policy, key).manifest
    labels = {batch.name: batch.label for batch in manifest.batches}
    return DumpFacts(manifest.begin.event_id, manifest.end.event_id, manifest.events, labels)


def copies_of(ports: ReadPorts, policy: Policy, key: str, labels: dict[str, str]) -> Iterator[BatchCopied]:
    """Yield what the copies of some batches, by name with their labels, have reported under this dump.

    Batches without files report nothing; those that a round carries over have reported under the dump before.
    """
    for name, label in labels.items():
        copied = copied_batch(ports.replica_files, policy.staging, key, name)
        if copied is not None and copied.dump == key:
            yield BatchCopied(name, label, copied.copied_files, copied.copied_bytes, copied.seconds)


def touched_tables(ports: ReadPorts, policy: Policy, event_id: int) -> frozenset[str]:
    """Return the tables that the window which ends at an event has events of, or has resynced."""
    touched: set[str] = set()
    for dump in windows_ending_at(ports.dump_files, policy, event_id):
        touched |= set(dump.manifest.window.snapshots)
        for row in dump.rows(ports.dump_files):
            touched |= policy.followed(_tables_of(row))
    return frozenset(touched)


def _tables_of(row: EventRow) -> set[TableName]:
    """Return the tables of an event: a renamed one has two names, and only the message tells both."""
    if row.event_type == _MAY_RENAME:
        return set(tables_of(decode_event(row).change))
    return {TableName(row.database.lower(), row.table.lower())} if row.database and row.table else set()


def synced_tables(ports: ReadPorts, policy: Policy, name: str, task: str) -> frozenset[str]:
    """Return the tables whose data a task of a pass copies. Raises ActNow when the pass does not have it."""
    return frozenset(entry.table.table for entry in entries_of_task(ports.dump_files, policy, name, task))
