"""Describe a pass over external tables as a value and as `pass.json`."""

import json
from dataclasses import asdict, dataclass

from twinhive.core.model.batches import Batch
from twinhive.replication.dump.json_files import as_json
from twinhive.replication.dump.log_point import LogPoint


@dataclass(frozen=True)
class PassManifest:
    """What a pass is of: policy text, event, tasks, and what the passes after it go on from.

    event_id  newest event of the source before it was listed
    began     when the listing began, in seconds since 1970
    batches   its tasks
    entries   how many directories are to be synced, in its own tasks and later ones
    others    how many tasks are left for later passes of the same round
    tried     locations that earlier passes of the round have tried, well or not
    read_at   when all tables were last read at the source, in seconds since 1970
    begin     the event `event_id`, with its log
    end       the newest event when the tables had been read: the list knows of nothing after it
    in_scope  the newest event up to `event_id` that the replica has to follow
    failover  the token of the failover that had begun before anything was listed, '' for none
    unread    the tables that could not be read: the last task names them, where the policy stops at them
    """

    event_id: int
    began: float
    fingerprint: str
    batches: tuple[Batch, ...]
    entries: int
    others: int
    tried: frozenset[str]
    read_at: float
    begin: LogPoint
    end: LogPoint
    in_scope: int
    failover: str = ""
    unread: tuple[str, ...] = ()

    def to_json(self) -> bytes:
        """Write the manifest as readable JSON."""
        written = {
            "batches": [{"name": batch.name, "label": batch.label} for batch in self.batches],
            "tried": sorted(self.tried),
            "begin": self.begin.fields(),
            "end": self.end.fields(),
        }
        return as_json({**asdict(self), **written})

    @classmethod
    def from_json(cls, content: bytes) -> "PassManifest":
        """Read a manifest."""
        fields = json.loads(content)
        plain = ("event_id", "began", "fingerprint", "entries", "others", "read_at", "in_scope", "failover")
        return cls(
            **{name: fields[name] for name in plain},
            batches=tuple(Batch(batch["name"], batch["label"], ()) for batch in fields["batches"]),
            tried=frozenset(fields["tried"]),
            begin=LogPoint.read(fields["begin"]),
            end=LogPoint.read(fields["end"]),
            unread=tuple(fields["unread"]),
        )
