"""Prove that nobody writes an old primary any more, before it becomes a replica."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from twinhive.core.model.changes.events import NOWHERE
from twinhive.core.model.errors import ActNow
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.reader import newest_position
from twinhive.operations.failover.divergence.old_primary_log import OldPrimaryLog

_NAMED = 5


@dataclass(frozen=True)
class QuietOldPrimary:
    """The database that the reverse policy is going to replicate into must log nothing of its tables for a while."""

    policy: Policy
    wait: Callable[[float], None] = time.sleep

    def run(self, ports: ReadPorts) -> list[str]:
        """Return what is said of one that is quiet. Raises ActNow with its writers."""
        begin = newest_position(ports.replica, NOWHERE)
        log = OldPrimaryLog(ports.replica, self.policy, begin)
        self.wait(self.policy.quiet_seconds)
        log.read_on()
        written = log.written_after(begin)
        if written is None or written:
            raise still_written(self.policy, written)
        return [f"{self.policy.replica} is quiet since event {begin.event_id} of its own log"]


def still_written(policy: Policy, written: Mapping[str, str] | None) -> ActNow:
    """Return the error for an old primary with writers: by table, what shows them; None: its log does not tell."""
    return ActNow(
        f"the old primary {policy.replica} is still written",
        found="events that are gone from its log, or that cannot be read"
        if written is None
        else "; ".join(first_of(written.values(), _NAMED)),
        expected=f"nothing new of its tables for {policy.quiet_seconds:.0f} s: it is about to become a replica",
        next_step="find these writers and let them write "
        + str(policy.source)
        + "; what they wrote is kept by the next try; then run this again",
    )
