"""Judge which gateways and remotes somebody has to look at."""

from collections.abc import Iterator

from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.core.model.human_readable import first_of, spoken_time
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.federation.gateway.status.gateway_findings import GatewaysSeen, RemoteSeen
from twinhive.operations.monitoring.alert_memory import GRACE_SECONDS
from twinhive.operations.monitoring.lag_alerts import Alert

REMOTES = "*remotes"
"""Stands for the policy of what concerns remotes: no policy can be called so."""
_NAMED = 5


def gateway_alerts(seen: GatewaysSeen | InvalidSettings, now: float) -> Iterator[Alert]:
    """Yield what is wrong now (seconds since 1970); a gateway or a remote that is started anew is nobody's emergency.

    A remote that has failed once or twice is not told: its breaker is closed, and the next call may find it well.
    """
    if isinstance(seen, InvalidSettings):
        yield Alert(REMOTES, AlertKind.GATEWAY, seen)
        return
    for gateway, why in seen.away.items():
        yield Alert(REMOTES, AlertKind.GATEWAY, _gateway_away(gateway, why), gateway, GRACE_SECONDS)
    for remote in seen.remotes:
        if remote.is_open:
            yield Alert(REMOTES, AlertKind.REMOTE, _remote_away(remote, now), remote.address, GRACE_SECONDS)


def _gateway_away(gateway: str, why: str) -> Unreachable:
    return Unreachable(
        f"the gateway whose status port is {gateway} does not answer",
        found=why,
        expected="what it knows of its remotes",
        next_step="see that it runs, and that gateways in remotes.yaml names its --status-port "
        "(docs/runbooks.md, 'A gateway is down')",
    )


def _remote_away(remote: RemoteSeen, now: float) -> Unreachable:
    named = ", ".join(first_of((local for local, _ in remote.names), _NAMED))
    failing = remote.failing_since
    since = "" if failing is None else f"no answer for {spoken_time(max(0.0, now - failing))}: "
    return Unreachable(
        f"the remote {remote.address} does not answer the gateway: {named or 'no name leads there any more'}",
        found=f"{since}{remote.trouble}",
        expected="an answer to the last call",
        next_step="see that it runs and can be reached from the gateway: what it says is listed by twinhive remotes; "
        "the gateway asks it every 10 s, and is well again by itself (docs/runbooks.md, 'A remote does not answer')",
    )
