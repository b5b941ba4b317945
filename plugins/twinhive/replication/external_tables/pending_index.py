"""Know what waiting external tables wait for, without reading what waits: there may be a million partitions.

What each record waits for is remembered beside them, by the identity of its file. Only records that were written
since, and those of which a copy has brought something, are read.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from twinhive.core.model.errors import Missing
from twinhive.core.model.external.modes import External
from twinhive.core.model.files import FileStatus, base_name, join, parent, short_hash
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.ports.packed_json import unpack_json
from twinhive.replication.replica.pending_files import decode_pending, pending_file, pending_statuses
from twinhive.replication.replica.pending_tables import PendingTable
from twinhive.replication.replica.sync_records import Synced

Identity = tuple[int, int, int]


@dataclass(frozen=True)
class Waits:
    """What a record waits for; something of it may be there when one of these is.

    around  directories, each with the first event since which something in it is wanted: of the table, while that
            waits itself, else of those that hold partitions
    exact   hashes of the partitions' own directories: one may be copied by itself
    """

    table: str
    around: tuple[tuple[str, int], ...] = ()
    exact: frozenset[str] = frozenset()
    at_once: bool = False

    @classmethod
    def of(cls, record: PendingTable, external: External) -> "Waits":
        """Return what a record waits for."""
        if record.table is not None:
            location = record.table.thing.location
            if location is None or not external.is_copied(location):
                return cls(record.name.table, at_once=True)
            return cls(record.name.table, ((location, record.table.since),))
        around: dict[str, int] = {}
        exact: set[str] = set()
        for waiting in record.partitions.values():
            location = waiting.thing.location
            if location is None or not external.is_copied(location):
                return cls(record.name.table, at_once=True)
            above = parent(location)
            around[above] = min(waiting.since, around.get(above, waiting.since))
            exact.add(short_hash(location))
        return cls(record.name.table, tuple(sorted(around.items())), frozenset(exact))

    @classmethod
    def read(cls, fields: dict[str, Any]) -> "Waits":
        """Read what `written` returned."""
        around = tuple((place, since) for place, since in fields["around"])
        return cls(fields["table"], around, frozenset(fields["exact"]), fields["at_once"])

    def written(self) -> dict[str, Any]:
        """Return it as a file keeps it."""
        return {"table": self.table, "around": self.around, "exact": sorted(self.exact), "at_once": self.at_once}

    def may_end(self, synced: Synced) -> bool:
        """True when something of it may be there; who asks then reads the record."""
        if self.at_once or synced.has_any(self.exact):
            return True
        return any(synced.covers(place, since) for place, since in self.around)


@dataclass
class PendingWaits:
    """What all records of a policy wait for."""

    policy: Policy
    known: dict[str, tuple[Identity, Waits]] = field(default_factory=dict)
    is_written: bool = False

    @classmethod
    def load(cls, files: FileReader, policy: Policy, noted: Mapping[str, Waits] | None = None) -> "PendingWaits":
        """Take what is remembered, and read the records that were written since.

        `noted` are tables whose records the holder of the lease has written, and what each waits for.
        """
        kept, found = _remembered(files, policy), cls(policy)
        in_hand = {pending_file(policy, table): waits for table, waits in (noted or {}).items()}
        remembered = kept or {}
        found.is_written = kept is not None
        for status in pending_statuses(files, policy):
            key, identity = base_name(status.path), _identity(status)
            if key in remembered and remembered[key][0] == identity:
                found.known[key] = remembered[key]
                continue
            found.is_written = False
            if key in in_hand:
                found.known[key] = identity, in_hand[key]
                continue
            with suppress(Missing):
                record = decode_pending(files.read(status.path))
                found.known[key] = identity, Waits.of(record, policy.external)
        found.is_written &= found.known.keys() == remembered.keys()
        return found

    def candidates(self, synced: Synced) -> Iterator[str]:
        """Yield the source tables of which something may have its data, of those that the policy selects."""
        for _, waits in self.known.values():
            if self.policy.selects(waits.table) and waits.may_end(synced):
                yield waits.table

    def write(self, files: FileWriter) -> None:
        """Remember it, under the lease; nothing is kept where nothing waits."""
        if not self.is_written and not self.known:
            files.delete_file(_path(self.policy))
        elif not self.is_written:
            records = {key: [identity, waits.written()] for key, (identity, waits) in self.known.items()}
            content = json.dumps({"external": _settings(self.policy), "records": records}).encode()
            files.write(_path(self.policy), gzip.compress(content, mtime=0))
        self.is_written = True


def _remembered(files: FileReader, policy: Policy) -> dict[str, tuple[Identity, Waits]] | None:
    """Return what was written last, nothing before that; None for what cannot be used."""
    try:
        fields = unpack_json(files.read(_path(policy)))
    except Missing:
        return {}
    except ValueError:
        return None
    if fields["external"] != _settings(policy):
        return None
    records = fields["records"].items()
    return {key: ((one[0], one[1], one[2]), Waits.read(waits)) for key, (one, waits) in records}


def _identity(status: FileStatus) -> Identity:
    return status.file_id, status.modified_ms, status.length


def _settings(policy: Policy) -> str:
    """Tell the rules by which locations are copied from others."""
    return short_hash(repr(policy.external))


def _path(policy: Policy) -> str:
    return join(policy.staging, "external", "waits.json.gz")
