"""Decide who may take a lease from whom: by the kind of work that each of them does."""

from enum import Enum


class LeaseKind(Enum):
    """The kind of work that a lease is held for. The newest of one kind wins: what it does is the same."""

    EVENTS = "events"
    """The lane of events, where the replica follows: a window that freezes a table, apply, publishing in between."""
    LOAD = "load"
    """Building a replica: preflight that begins again, load."""
    STATEMENT = "statement"
    """A REPL LOAD, with all that it loads, applies and moves; an IMPORT, in its own directory of work."""
    HOUSEKEEPING = "housekeeping"
    """Scan, sweep, and removing what was given up: it can wait for the next time."""
    FORGET = "forget"
    """Giving a replica up."""
    PROMOTE = "promote"
    """Opening a replica to writers: whoever changes it is waited for, and is not cut off in the middle of an event."""
    ABORT = "abort"
    """Letting the writers of the source in again: an opening that is under way is waited for."""
    UNLOCK = "unlock"
    """A person says that the holder is dead."""
    COPY = "copy"
    """Copying a directory tree. Its lease is kept in that tree and held by nothing else."""
    PLACEMENT = "placement"
    """Marking copies on another cluster, taking marks away, sweeping, moving a primary, giving a placement up:
    nothing else holds a placement's lease."""

    @classmethod
    def of(cls, value: object) -> "LeaseKind | None":
        """Read what a holder wrote of itself; None for one of a version that did not say."""
        return next((kind for kind in cls if kind.value == value), None)


class Manner(Enum):
    """What to do about a lease that somebody holds who may live."""

    TAKE = "take it at once"
    WAIT_THEN_TAKE = "wait a while for its release, then take it"
    WAIT_THEN_LEAVE = "wait a while for its release, then leave it"


def manner_of(mine: LeaseKind, theirs: LeaseKind | None) -> Manner:
    """Say how work of one kind gets a lease that another holds.

    Only the same kind of work overtakes: that is how a killed try is followed by the next one. Two kinds are waited
    for and then taken over, as one that was killed: housekeeping, which holds it for moments, and, by events, a load,
    which has nothing to do any more but to clean up. Events ask for it only where the replica follows. The lease of a
    copied tree is held by copies alone, also where nobody can read what its holder has written.
    """
    match mine, theirs:
        case (LeaseKind.UNLOCK, _) | (LeaseKind.COPY, None):
            return Manner.TAKE
        case _, LeaseKind.HOUSEKEEPING:
            return Manner.WAIT_THEN_TAKE
        case LeaseKind.HOUSEKEEPING, _:
            return Manner.WAIT_THEN_LEAVE
        case LeaseKind.EVENTS, LeaseKind.LOAD:
            return Manner.WAIT_THEN_TAKE
        case _, None:
            return Manner.WAIT_THEN_TAKE
        case _:
            return Manner.TAKE if mine is theirs else Manner.WAIT_THEN_LEAVE
