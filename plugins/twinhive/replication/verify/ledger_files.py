"""Keep ledgers in staging, one file for each table and side: what has not changed need not be read another night.

A file says as of which event of its side's log its leaves were read, at the earliest. One that was cut off, or is of
another log or another text of the policy, counts as none.
"""

import gzip
import hashlib
import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import astuple, dataclass, field

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import base_name, join, short_hash
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileWriter, children
from twinhive.core.ports.packed_json import unpack_json
from twinhive.replication.comparison.leaf_reader import SideRole
from twinhive.replication.comparison.leaf_records import WIDTH, Ledger

_VERSION = 1
_SUFFIX = ".ledger"
_HEAD = 65_536
"""The first line is shorter."""


def verify_directory(policy: Policy) -> str:
    """Return where verification keeps what it remembers, and what it has found."""
    return join(policy.staging, "verify")


@dataclass(frozen=True)
class KeptLedger:
    """What is remembered of a table on one side.

    event   the leaves are as of this event of the side's log, or later
    until   and as of this one at the latest; None where nobody knows: there was no log, or it was another one meanwhile
    slice   the day, counted from 1970, whose share of checksums was read last; 0: nobody knows
    """

    ledger: Ledger = field(default_factory=Ledger)
    event: int = 0
    until: Position | None = None
    slice: int = 0

    def packed(self, of: str) -> bytes:
        """Return what is written; `of` says whose leaves they are."""
        segments = [self.ledger.segments[at] for at in sorted(self.ledger.segments)]
        events = {"event": self.event, "until": self.until and astuple(self.until)}
        head = {"version": _VERSION, "of": of, **events, "slice": self.slice, "digest": _digest(segments)}
        return b"".join([json.dumps(head).encode(), b"\n", *segments])

    @classmethod
    def unpacked(cls, content: bytes, of: str) -> "KeptLedger | None":
        """Read what `packed` wrote; None for anything else."""
        line, _, _ = content[:_HEAD].partition(b"\n")
        body = memoryview(content)[len(line) + 1 :]
        try:
            head = json.loads(line)
            if (head["version"], head["of"], head["digest"]) != (_VERSION, of, _digest([body])):
                return None
            until = head.get("until")
            return cls(_ledger_of(body), head["event"], until and Position(*until), head["slice"])
        except (ValueError, KeyError, TypeError):
            return None


def _digest(parts: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32]


def _ledger_of(body: memoryview) -> Ledger:
    segments: dict[int, bytes] = {}
    start = 0
    while start < len(body):
        first, end = body[start], start
        while end < len(body) and body[end] == first:
            end += WIDTH
        segments[first] = bytes(body[start:end])
        start = end
    return Ledger(segments)


@dataclass(frozen=True)
class LedgerFiles:
    """The ledgers of one side of a policy. `log_id` and the policy's text tell ledgers of other circumstances apart."""

    files: FileWriter
    policy: Policy
    role: SideRole
    log_id: str

    def read(self, table: str) -> KeptLedger | None:
        """Return what is remembered of a table, None for nothing that can be used."""
        with suppress(Missing):
            return KeptLedger.unpacked(self.files.read(self._path(table)), self._of(table))
        return None

    def write(self, table: str, kept: KeptLedger) -> None:
        """Remember a table's leaves."""
        self.files.write(self._path(table), kept.packed(self._of(table)))

    def keep_only(self, tables: Collection[str]) -> None:
        """Remove what is remembered of tables that are gone."""
        kept = {self._path(table) for table in tables}
        for child in children(self.files, self._directory):
            if base_name(child.path).endswith(_SUFFIX) and child.path not in kept:
                self.files.delete_file(child.path)

    def read_position(self) -> Position | None:
        """Return an event of the side's log that no ledger is older than, None where nobody knows."""
        try:
            found = unpack_json(self.files.read(self._position_path))
            return Position(*found["position"]) if found["log"] == self.log_id else None
        except (Missing, ValueError, KeyError, TypeError):
            return None

    def write_position(self, position: Position) -> None:
        """Remember that every ledger was read after an event."""
        said = {"log": self.log_id, "position": [position.event_id, position.time, position.digest]}
        self.files.write(self._position_path, gzip.compress(json.dumps(said).encode(), mtime=0))

    @property
    def _directory(self) -> str:
        return join(verify_directory(self.policy), self.role.value)

    @property
    def _position_path(self) -> str:
        return join(self._directory, "position.json.gz")

    def _path(self, table: str) -> str:
        return join(self._directory, short_hash(table, 32) + _SUFFIX)

    def _of(self, table: str) -> str:
        return f"{self.log_id}/{self.policy.fingerprint}/{table}"
