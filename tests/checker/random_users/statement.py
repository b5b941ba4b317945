"""What users of a source may do to which objects, and what others must keep away from meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.checker.states import Values

NAMES = ("a", "b", "c", "d")
ODD_NAMES = ("a.b", "c/d e", "..", "x#%'$(y)")
"""Names that Hive takes, and that are something else in a path, a regular expression or a shell."""
VIEWS = ("v", "w")
ELSEWHERE = "elsewhere"
"""Another database of the source, which nobody replicates."""
OTHERS = (ELSEWHERE, "beyond")
VALUES: tuple[Values, ...] = (("1",), ("2",), ("a b",), ("ü=%",))
FIRST = "000000_0"

Lock = tuple[str, Values | None]
Choice = tuple[int, Callable[[], "Statement | None"]]
DATABASE: Lock = ("", None)


@dataclass(frozen=True)
class Statement:
    """What a user does, and what others must keep away from meanwhile, or must not take for themselves."""

    what: str
    run: Callable[[], Any]
    alone: frozenset[Lock] = frozenset()
    shared: frozenset[Lock] = frozenset()

    def conflicts(self, other: "Statement") -> bool:
        """True when the two cannot run at the same time."""
        return bool(self.alone & (other.alone | other.shared) or self.shared & other.alone)


def alone(what: str, run: Callable[[], Any], *tables: str) -> Statement:
    """Keep others from whole tables."""
    return Statement(what, run, frozenset((table, None) for table in tables))


def alone_within(what: str, run: Callable[[], Any], table: str, *partitions: Values | None) -> Statement:
    """Keep others from some partitions of a table, or, with None, from an unpartitioned one."""
    if None in partitions:
        return alone(what, run, table)
    ours = frozenset((table, values) for values in partitions)
    return Statement(what, run, ours, frozenset({(table, None)}))
