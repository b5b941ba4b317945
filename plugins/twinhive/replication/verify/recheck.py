"""Look once more at what differs, when it can be judged, and ask for a person where it is damaged."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.verify.verification_outcome import Verified, last_outcome, tell_nobody
from twinhive.replication.verify.verify import Verify

_SAID_EVERY_SECONDS = 60.0
_SHOWN = 10


@dataclass(frozen=True)
class LookAgain:
    """End a verification: wait until what differs may have come by itself, and compare again."""

    work: Work
    clock: Callable[[], float] = time.time
    wait: Callable[[float], None] = time.sleep
    tell: Callable[[Verified], None] = tell_nobody

    def run(self, ports: WritePorts) -> Verified:
        """Return what is left to say. Raises ActNow for findings."""
        found = last_outcome(ports.replica_files, self.work.policy)
        if found is None:
            return Verified(already="nothing was verified")
        if not found.is_clean:
            # Also where there are findings: who clears this task has mended something.
            self._wait_for(found)
            found = Verify(self.work, clock=self.clock, wait=self.wait, tell=self.tell).run(ports)
        if found.found:
            raise different(self.work.policy, found)
        return found

    def _wait_for(self, found: Verified) -> None:
        until = min(found.look_again_at or 0.0, self.clock() + self.work.policy.options.second_look_seconds)
        while (left := until - self.clock()) > 0:
            self.work.report(
                f"{found.suspected} differences are looked at again in {left:.0f} s: a scan may bring them"
            )
            self.wait(min(left, _SAID_EVERY_SECONDS))


def different(policy: Policy, found: Verified) -> ActNow:
    """Return what is said of a replica that is not equal to its source."""
    more = f"; and {found.found - _SHOWN} more" if found.found > _SHOWN else ""
    return ActNow(
        f"the replica of policy {policy.name} does not equal its source at event {found.event}",
        found="; ".join(found.findings[:_SHOWN]) + more,
        expected="equal metadata, files, lengths and checksums, where no event is on its way",
        next_step="find out who changes the replica (docs/runbooks.md, 'verify found differences'); bring over what "
        "differs with: " + found.way_to_mend(policy.name),
    )
