"""Rehearse a verification: it changes nothing anyway, so there is only whether it would begin."""

from twinhive.core.model.marks import Phase
from twinhive.replication.replica.replica_state import state_now
from twinhive.runtime.dry_run.rehearsing import Rehearsing


def reads_only(rehearsing: Rehearsing, _: object) -> object:
    """Say that a run would compare, and change nothing but its own notes."""
    state = state_now(rehearsing.ports, rehearsing.policy)
    if state.phase is not Phase.FOLLOWING:
        return rehearsing.ends(f"nothing to verify: the replica is {state.phase.value}")
    return rehearsing.ends("a verification reads both clusters, and changes neither")
