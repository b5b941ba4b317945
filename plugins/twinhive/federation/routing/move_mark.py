"""The mark on a table whose primary is being moved to another cluster: while it is there, nobody is to write it."""

import json
from dataclasses import dataclass

from twinhive.core.model.marks import STAMP
from twinhive.core.model.objects import Parameters

MOVING = "twinhive.moving"
"""On a table: from which cluster to which its primary is being moved."""


@dataclass(frozen=True)
class PrimaryMove:
    """A move of a table's primary from one cluster to another of the same metastore."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"from {self.source} to {self.target}"

    @property
    def stamp(self) -> str:
        """What the metastore compares when the table is switched: another move writes another one."""
        return f"moving {self}"

    def fenced(self, parameters: Parameters) -> dict[str, str]:
        """Return a table's parameters with the mark."""
        text = json.dumps({"from": self.source, "to": self.target}, ensure_ascii=False, separators=(",", ":"))
        return {**parameters, MOVING: text, STAMP: self.stamp}


def without_fence(parameters: Parameters) -> dict[str, str]:
    """Return a table's parameters without the mark of any move."""
    return {key: value for key, value in parameters.items() if key not in (MOVING, STAMP)}


def move_of(parameters: Parameters) -> PrimaryMove | None:
    """Return the move that a table is in; None without one, or where nobody can read it."""
    try:
        said = json.loads(parameters.get(MOVING, "null"))
        return None if said is None else PrimaryMove(str(said["from"]), str(said["to"]))
    except (ValueError, TypeError, KeyError):
        return None
