"""What has to be done to each leaf of a replica's table so that it is the source's: what is equal is not touched."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from twinhive.replication.comparison.leaf_records import OWN_LEAF


class LeafAction(Enum):
    """What becomes of one leaf."""

    KEEP = "keep"
    """Equal: neither read again nor copied."""
    ALTER = "alter"
    """Its files are equal, what the metastore says of it is not."""
    REPLACE = "replace"
    """Its files are brought over into a new directory, to which one call switches."""
    ADD = "add"
    DROP = "drop"


_NEED_FILES = (LeafAction.REPLACE, LeafAction.ADD)


@dataclass(frozen=True)
class TablePlan:
    """What becomes of a table's leaves, by name; its own leaf is among them."""

    table: str
    actions: Mapping[str, LeafAction]

    def needs_files(self, leaf: str) -> bool:
        """True for a leaf whose files have to be copied."""
        return self.actions.get(leaf) in _NEED_FILES

    def those(self, *actions: LeafAction) -> list[str]:
        """Return the partitions of which one of some actions is planned, sorted."""
        return sorted(name for name, action in self.actions.items() if action in actions and name != OWN_LEAF)

    @property
    def of_table(self) -> LeafAction:
        """What becomes of the table itself."""
        return self.actions.get(OWN_LEAF, LeafAction.KEEP)

    def lines(self) -> Iterator[str]:
        """Yield what people are told: each leaf that is changed, then how many are kept."""
        for name, action in sorted(self.actions.items()):
            if action is not LeafAction.KEEP:
                yield f"{action.value} {self.table}{f' {name}' if name else ''}"
        counts = Counter(self.actions.values())
        yield f"{self.table}: " + ", ".join(f"{action.value} {counts[action]}" for action in LeafAction)
