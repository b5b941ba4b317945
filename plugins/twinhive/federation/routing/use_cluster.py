"""`USE CLUSTER c` and `USE CLUSTER`: where the next statements of a script run (seed 000)."""

import re
from dataclasses import dataclass

_NAME = r"(?:`(?P<quoted>[^`]+)`|(?P<plain>[\w-]+))"
_USE_CLUSTER = re.compile(rf"use\s+cluster(?:(?:\s+|(?=`)){_NAME})?", re.IGNORECASE)


@dataclass(frozen=True)
class UseCluster:
    """The cluster that is named; None: none is any more."""

    cluster: str | None


def use_cluster(statement: str) -> UseCluster | None:
    """Read a statement without comments and semicolon; None for one that says anything else."""
    found = _USE_CLUSTER.fullmatch(statement)
    return UseCluster(found["quoted"] or found["plain"]) if found else None
