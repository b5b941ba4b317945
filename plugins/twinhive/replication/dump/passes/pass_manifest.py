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
    end       the newest event when the tables had been read: the list knows of nothing after it. Earlier versions have
              written neither
    in_scope  the newest event up to `event_id` that the replica has to follow; of earlier versions `event_id` itself
    failover  the token of the failover that had begun before anything was listed, '' for none
    """

    event_id: int
    began: float
    fingerprint: str
    batches: tuple[Batch, ...]
    entries: int
    others: int
    tried: frozenset[str]
    read_at: float
    begin: LogPoint | None
    end: LogPoint | None
    in_scope: int
    failover: str = ""

    def to_json(self) -> bytes:
        """Write the manifest as readable JSON."""
        written = {
            "batches": [{"name": batch.name, "label": batch.label} for batch in self.batches],
            "tried": sorted(self.tried),
            "begin": self.begin.fields() if self.begin else None,
            "end": self.end.fields() if self.end else None,
        }
        fields = {**asdict(self), **written}
        if not self.failover:  # as earlier versions have written it
            del fields["failover"]
        return as_json(fields)

    @classmethod
    def from_json(cls, content: bytes) -> "PassManifest":
        """Read a manifest."""
        fields = json.loads(content)
        plain = ("event_id", "began", "fingerprint", "entries", "others", "read_at")
        return cls(
            **{name: fields[name] for name in plain},
            batches=tuple(Batch(batch["name"], batch["label"], ()) for batch in fields["batches"]),
            tried=frozenset(fields["tried"]),
            begin=LogPoint.read(fields.get("begin")),
            end=LogPoint.read(fields.get("end")),
            in_scope=fields.get("in_scope", fields["event_id"]),
            failover=fields.get("failover", ""),
        )
