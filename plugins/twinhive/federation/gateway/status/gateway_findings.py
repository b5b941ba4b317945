"""What gateways say of their remotes, put together: one value for each address, whichever names lead to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinhive.federation.gateway.gateway_metrics import LOCAL, CallCounts, Ending
from twinhive.federation.gateway.isolation import BreakerState


@dataclass(frozen=True)
class RemoteSeen:
    """A remote at one address, as all gateways together know it. Counts are since they were started.

    names         of the local metastore, each with what it stands for
    answers       None: nobody has called it yet
    failing_since in seconds since 1970; None while it answers
    trouble       with what it fails, or why it may not be reached
    mean, slowest seconds of its calls; None without one
    """

    address: str
    """Empty for a name that may not be reached."""
    names: tuple[tuple[str, str], ...]
    answers: bool | None
    is_open: bool
    failing_since: float | None
    trouble: str
    calls: int
    failed: int
    refused: int
    mean: float | None
    slowest: float | None


@dataclass(frozen=True)
class GatewaysSeen:
    """One look: the remotes, those that fail first, and the gateways that have not answered, each with why."""

    remotes: tuple[RemoteSeen, ...] = ()
    away: Mapping[str, str] = field(default_factory=dict)
    asked: int = 0


def remotes_of(counts: CallCounts) -> tuple[RemoteSeen, ...]:
    """Return the remotes that counts speak of, those in trouble first."""
    names: dict[str, list[tuple[str, str]]] = {}
    for local, (remote, address, refusal) in counts.names.items():
        if not refusal:
            names.setdefault(address, []).append((local, remote))
    addresses = {*names, *counts.breakers, *(remote for remote, _, _ in counts.calls)} - {LOCAL}
    found = (_seen(address, tuple(sorted(names.get(address, ()))), counts) for address in addresses)
    refused = (_refused(local, remote, why) for local, (remote, _, why) in counts.names.items() if why)
    return tuple(sorted([*found, *refused], key=lambda one: (not one.is_open, not one.trouble, one.names, one.address)))


def _seen(address: str, names: tuple[tuple[str, str], ...], counts: CallCounts) -> RemoteSeen:
    ended = dict.fromkeys(Ending, 0)
    for (remote, _, ending), count in counts.calls.items():
        if remote == address:
            ended[ending] += count
    state, since, failure = counts.breakers.get(address, (None, None, ""))
    tallies = [tally for (remote, _), tally in counts.tallies.items() if remote == address]
    seconds = sum(tally.seconds for tally in tallies)
    timed = ended[Ending.ANSWERED] + ended[Ending.FAILED]
    return RemoteSeen(
        address=address,
        names=names,
        # Quick reads that are answered leave a breaker alone that was never touched.
        answers=None if state is None and not ended[Ending.ANSWERED] else since is None,
        is_open=state in (BreakerState.OPEN, BreakerState.PROBING),
        failing_since=since,
        trouble=" ".join(failure.split()),
        calls=sum(ended.values()),
        failed=ended[Ending.FAILED],
        refused=ended[Ending.REFUSED],
        mean=seconds / timed if timed else None,
        slowest=max((tally.slowest for tally in tallies), default=None) if timed else None,
    )


def _refused(local: str, remote: str, why: str) -> RemoteSeen:
    return RemoteSeen("", ((local, remote),), None, False, None, why, 0, 0, 0, None, None)
