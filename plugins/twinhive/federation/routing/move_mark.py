"""The mark of a table whose primary is being moved to another cluster: while it is there, nobody is to write it."""

import json
from dataclasses import dataclass

from twinhive.core.model.objects import Parameters
from twinhive.core.model.thrift_objects import TableIdentity

MOVE = "#move"
"""What the table of marks calls it, where a mark of a copy names an object: no value of a partition is escaped so."""
EVERY_CLUSTER = "*"
"""No cluster has this name."""
_MOVING = "twinhive.moving"


@dataclass(frozen=True)
class PrimaryMove:
    """A move of a table's primary from one cluster to another of the same metastore."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"from {self.source} to {self.target}"

    def parameters(self, table: TableIdentity) -> dict[str, str]:
        """Return the parameters of the mark's partition."""
        fields = {"from": self.source, "to": self.target, "table": table.fields()}
        return {_MOVING: json.dumps(fields, ensure_ascii=False, separators=(",", ":"))}

    @classmethod
    def read(cls, parameters: Parameters, table: TableIdentity) -> "PrimaryMove | None":
        """Read the mark of a table; None for one of another table, and where nobody can read it."""
        try:
            said = json.loads(parameters[_MOVING])
            if TableIdentity.parse(said["table"]).is_another(table):
                return None
            return cls(str(said["from"]), str(said["to"]))
        except (ValueError, TypeError, KeyError):
            return None
