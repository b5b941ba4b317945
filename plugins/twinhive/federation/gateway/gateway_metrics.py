"""Count what a gateway does, by remote and method, as values that several workers' add up."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import itemgetter
from typing import Any

from twinhive.federation.gateway.isolation import BreakerState

LOCAL = "local"
"""How the local metastore is called among the remotes."""

UNKNOWN = "unknown"
"""How all methods are called together that nobody knows."""


class Ending(StrEnum):
    """How a call ended."""

    __hash__ = str.__hash__  # that of Enum is a function in Python

    ANSWERED = "answered"
    """Refusals of the metastore are answers: 'no such table' is no failure."""
    REFUSED = "refused"
    """By the gateway, before anything was sent."""
    FAILED = "failed"
    """No answer: connection lost, too late, breaker open, too many at once."""


@dataclass(slots=True)
class CallTally:
    """Calls of one method of one remote: how many ended how, their seconds, and the slowest. Refusals take no time."""

    endings: dict[Ending, int] = field(default_factory=lambda: dict.fromkeys(Ending, 0))
    seconds: float = 0.0
    slowest: float = 0.0

    def answered(self, seconds: float) -> None:
        """Count a call that was answered."""
        self.endings[Ending.ANSWERED] += 1
        self.seconds += seconds
        if seconds > self.slowest:
            self.slowest = seconds


@dataclass
class CallCounts:
    """Calls by remote and method; connections; remotes that do not answer."""

    tallies: dict[tuple[str, str], CallTally] = field(default_factory=dict)
    connections: int = 0
    foreign: int = 0
    """Connections that spoke another protocol, or broken messages."""
    breakers: dict[str, tuple[BreakerState, float | None, str]] = field(default_factory=dict)
    """Of each remote: its breaker, since when it fails (seconds since 1970), with what."""
    names: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    """Of each local name, as definitions were read last: what it stands for, at which remote, why that is refused."""

    def tally(self, remote: str, method: str) -> CallTally:
        """Return what the calls of a method of a remote are counted in."""
        return self.tallies.setdefault((remote, method), CallTally())

    def forget(self, remote: str) -> None:
        """Count nothing more of a remote that no name leads to any more."""
        self.breakers.pop(remote, None)
        for key in [key for key in self.tallies if key[0] == remote]:
            del self.tallies[key]

    def ended(self, remote: str, method: str, ending: Ending, seconds: float) -> None:
        """Count one call."""
        tally = self.tally(remote, method)
        if ending is Ending.ANSWERED:
            tally.answered(seconds)
            return
        tally.endings[ending] += 1
        if ending is Ending.FAILED:
            tally.seconds += seconds
            tally.slowest = max(seconds, tally.slowest)

    @property
    def calls(self) -> Counter[tuple[str, str, Ending]]:
        """How many calls ended how, by remote, method and ending; none that is zero."""
        return Counter(
            {
                (*key, ending): count
                for key, tally in self.tallies.items()
                for ending, count in tally.endings.items()
                if count
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain lists, which another worker's can be added to."""
        return {
            "calls": [[*key, count] for key, count in self.calls.items()],
            "times": [[*key, tally.seconds, tally.slowest] for key, tally in self.tallies.items()],
            "connections": self.connections,
            "foreign": self.foreign,
            "breakers": [[name, *breaker] for name, breaker in self.breakers.items()],
            "names": [[name, *of] for name, of in self.names.items()],
        }

    @classmethod
    def added_up(cls, of_workers: Iterable[Mapping[str, Any]]) -> "CallCounts":
        """Read what `to_json` has written, of several workers; a breaker is as bad as the worst of them."""
        whole = cls()
        for one in of_workers:
            for remote, method, ending, count in one["calls"]:
                whole.tally(remote, method).endings[Ending(ending)] += count
            for remote, method, seconds, most in one["times"]:
                tally = whole.tally(remote, method)
                tally.seconds, tally.slowest = tally.seconds + seconds, max(most, tally.slowest)
            whole.connections += one["connections"]
            whole.foreign += one["foreign"]
            for name, state, since, text in one["breakers"]:
                whole._add_breaker(name, BreakerState(state), since, text)
            whole.names = {**whole.names, **{name: (stands, at, why) for name, stands, at, why in one["names"]}}
        return whole

    def _add_breaker(self, name: str, state: BreakerState, since: float | None, text: str) -> None:
        known = self.breakers.get(name)
        if known is None or (known[0] is BreakerState.CLOSED and state is not BreakerState.CLOSED):
            self.breakers[name] = (state, since, text)


def prometheus_text(counts: CallCounts) -> str:
    """Write counts in Prometheus' text format."""
    lines = ["# TYPE twinhive_gateway_calls_total counter"]
    for (remote, method, ending), count in sorted(counts.calls.items()):
        labels = _labels(remote=remote, method=method, ending=ending)
        lines.append(f"twinhive_gateway_calls_total{labels} {count}")
    lines.append("# TYPE twinhive_gateway_call_seconds_total counter")
    for (remote, method), tally in sorted(counts.tallies.items(), key=itemgetter(0)):
        lines.append(f"twinhive_gateway_call_seconds_total{_labels(remote=remote, method=method)} {tally.seconds:.6f}")
    lines.append("# TYPE twinhive_gateway_breaker_open gauge")
    for name, (state, _, _) in sorted(counts.breakers.items()):
        is_open = int(state is not BreakerState.CLOSED)
        lines.append(f"twinhive_gateway_breaker_open{_labels(remote=name)} {is_open}")
    lines += [
        "# TYPE twinhive_gateway_connections gauge",
        f"twinhive_gateway_connections {counts.connections}",
        "# TYPE twinhive_gateway_foreign_total counter",
        f"twinhive_gateway_foreign_total {counts.foreign}",
    ]
    return "\n".join(lines) + "\n"


def _labels(**of: str) -> str:
    escaped = (
        f'{name}="{value.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34)).replace(chr(10), " ")}"'
        for name, value in of.items()
    )
    return "{" + ",".join(escaped) + "}"
