"""Name what may happen in a history of switches: each can be left out, so that people see which one finds what."""

from collections.abc import Iterable
from enum import StrEnum
from random import Random


class Feature(StrEnum):
    """Something that happens in a history; without any of them users write, follow, fail over and fail back."""

    KILLS = "kills"
    """Operations are killed at a change, and repeated."""
    FOREIGN = "foreign"
    """Tables that no policy replicates, in both databases and beside them; their users act at any moment."""
    PEOPLE = "people"
    """Users of a primary write between any two calls of what is done to its replica, move tables into another database,
    have inserts in flight, and leave directories of running queries."""
    STALE = "stale"
    """Writers at the old primary after an unplanned failover, with events and without, up to the failback's mark."""
    SAME = "same"
    """Stale writers write rows once more that the table has already."""
    FENCE = "fence"
    """Planned failovers behind quotas and commands of the operator's own, while writers go on; and aborts."""
    HOOKS = "hooks"
    """Those commands end with an error, before or after they have done what they are for. Needs `fence`."""
    OPERATORS = "operators"
    """Two operators at once, call by call: promotion beside abort, failback beside failover; a run that stands still
    over a failover, and goes on. Needs `fence`."""
    HUB = "hub"
    """A second policy replicates the same source into a third cluster, and wants to take over too."""
    LANE = "lane"
    """Quarantine, events that are skipped, tables and everything asked for, before a failover."""
    SILENT = "silent"
    """Writes at the primary without events, scans and sweeps, with grace passing."""
    HALF = "half"
    """Unplanned failovers in the middle of a window that was begun, with either consistency; windows moved aside."""
    EXTERNAL = "external"
    """External tables are replicated with their data, and return."""
    FORMS = "forms"
    """Planned failovers by the form `give_up`. Needs `external` to matter."""
    FORGET = "forget"
    """A policy is forgotten, of a primary or of a replica, and what was forgotten is adopted. Needs `people`."""
    CLOCKS = "clocks"
    """Workers and NameNodes have clocks of their own; comparisons take hours."""
    RESTORE = "restore"
    """A metastore is restored to what it was some steps before; HDFS is not."""
    BARRED = "barred"
    """A NameNode lets nobody delete a directory that nothing uses."""


ALL = frozenset(Feature)
NEEDS = {
    Feature.HOOKS: Feature.FENCE,
    Feature.OPERATORS: Feature.FENCE,
    Feature.FORMS: Feature.EXTERNAL,
    Feature.SAME: Feature.STALE,
    Feature.FORGET: Feature.PEOPLE,
}


def drawn(seed: int) -> frozenset[Feature]:
    """Return the features of one of many histories: all of them in a third, a few in the others."""
    chance = Random(seed)
    if chance.random() < 1 / 3:
        return ALL
    return chosen(chance.sample(sorted(ALL), chance.randrange(1, 7)))


def chosen(names: Iterable[str]) -> frozenset[Feature]:
    """Return the features of these names, `all` and `none` among them, `-name` for all but one, with what they need."""
    found: set[Feature] = set()
    for name in names:
        match name:
            case "all":
                found |= ALL
            case "none" | "":
                pass
            case _ if name.startswith("-"):
                found = (found or set(ALL)) - {Feature(name[1:])}
            case _:
                found |= {Feature(name)}
    return frozenset(found | {NEEDS[one] for one in found if one in NEEDS})
