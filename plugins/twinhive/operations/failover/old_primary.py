"""Prove that nobody writes an old primary any more, before it becomes a replica."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import NOWHERE
from twinhive.core.model.errors import ActNow
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts, SourcePorts
from twinhive.hive.events.reader import newest_position
from twinhive.replication.notification_log.event_stream import EventStream

_NAMED = 5


@dataclass(frozen=True)
class QuietOldPrimary:
    """The database that the reverse policy is going to replicate into must log nothing of it for a while."""

    policy: Policy
    wait: Callable[[float], None] = time.sleep

    def run(self, ports: ReadPorts) -> list[str]:
        """Return what is said of one that is quiet. Raises ActNow with its writers."""
        policy = self.policy
        # Seen from its log, the old primary is a source.
        backwards = replace(policy, source=policy.replica, replica=policy.source)
        here = SourcePorts(ports.replica, ports.replica_files, ports.dump_files)
        begin = newest_position(ports.replica, NOWHERE)
        self.wait(policy.quiet_seconds)
        rows = list(EventStream(here, backwards).rows_after(begin))
        if rows:
            said = (f"event {row.event_id} {row.event_type} {row.table or row.database}" for row in rows)
            raise ActNow(
                f"the old primary {policy.replica} is still written",
                found="; ".join(first_of(said, _NAMED)),
                expected=f"no event of its tables for {policy.quiet_seconds:.0f} s: it is about to become a replica",
                next_step="find these writers and let them write "
                + str(policy.source)
                + "; what they wrote is kept by the next try; then run this again",
            )
        return [f"{policy.replica} is quiet since event {begin.event_id} of its own log"]
