"""Which table a job writes into: one that was made again has the same name, and may lie at the same place."""

import json
from dataclasses import asdict, dataclass

from twinhive.core.model.objects import Table
from twinhive.core.model.thrift_objects import created_at, table_id


@dataclass(frozen=True)
class TableIdentity:
    """What tells a table from another one; None where the metastore does not say it."""

    table_id: int | None
    created: int | None

    @classmethod
    def of(cls, table: Table) -> "TableIdentity":
        """Return what a metastore says of a table."""
        return cls(table_id(table), created_at(table))

    @classmethod
    def decode(cls, content: bytes) -> "TableIdentity":
        """Read what `encode` has written."""
        found = json.loads(content)
        return cls(found.get("table_id"), found.get("created"))

    def encode(self) -> bytes:
        """Return the content of a file."""
        return json.dumps(asdict(self)).encode()

    def is_another(self, other: "TableIdentity") -> bool:
        """True when something that both say differs: old metastores give tables no id."""
        pairs = ((self.table_id, other.table_id), (self.created, other.created))
        return any(one != another for one, another in pairs if None not in (one, another))
