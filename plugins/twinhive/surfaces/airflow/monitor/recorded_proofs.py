"""Turn what a verification has found into what the journal keeps of it."""

import time
from collections.abc import Sequence

from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import WritePorts
from twinhive.operations.failover.readiness import readiness
from twinhive.operations.journal.records import RecordedProof
from twinhive.replication.verify.verification_outcome import Verified

_NAMED = 20


def readiness_lines(ports: WritePorts, policy: Policy) -> list[str]:
    """Say whether the replica could take over now. Raises TwinhiveError where that cannot be asked."""
    problems = readiness(ports, policy).problems
    if not problems:
        return ["ready to take over: nothing is in the way of a failover"]
    return [f"in the way of a failover: {render(one.what)}" for one in problems]


def proof_of(policy: str, found: Verified, ready: Sequence[str] = ()) -> RecordedProof:
    """Return the row of the journal; of what there may be much, the first twenty are named.

    ready   what there is to say of a failover, `readiness_lines`
    """
    details = [f"differs: {one}" for one in found.findings[:_NAMED]]
    details += [f"is looked at again: {one}" for one in found.suspects[:_NAMED]]
    details += [f"not judged: {name}: {why}" for name, why in list(found.not_judged.items())[:_NAMED]]
    details += ready[:_NAMED]
    repair = found.way_to_mend(policy) if found.found else None
    return RecordedProof(
        policy=policy,
        at=time.time(),
        event=found.event,
        headline=found.headline,
        coverage=found.coverage,
        findings=found.found,
        suspects=found.suspected,
        not_judged=found.unjudged,
        details="\n".join(details) or None,
        commands=None if repair is None else repair.line,
    )
