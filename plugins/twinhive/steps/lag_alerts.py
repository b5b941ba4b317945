"""Judge which policies somebody has to look at, from how they were found."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from twinhive.domain.errors import ActNow, TwinhiveError, Unreachable
from twinhive.domain.marks import UNREACHABLE
from twinhive.steps.lag import PolicyLag


@dataclass(frozen=True)
class Alert:
    """What somebody has to look at; `kind` is `unreachable`, `trouble` (its `error`) or `late` (beyond max_lag)."""

    policy: str
    kind: str
    error: TwinhiveError


def alerts_of(found: Iterable[PolicyLag]) -> list[Alert]:
    """Return at most one alert a policy, in the given order.

    What is wrong comes before what is late, because it is the reason. A policy that a person has paused is nobody's
    emergency, unless its file or its replica is broken; one that is being loaded, or was never started, promises
    nothing yet.
    """
    return [alert for lag in found for alert in _of(lag)]


def _of(lag: PolicyLag) -> Iterator[Alert]:
    if lag.error is not None:
        kind = UNREACHABLE if isinstance(lag.error, Unreachable) else "trouble"
        if not (lag.paused and kind == UNREACHABLE):
            yield Alert(lag.policy, kind, lag.error)
    elif lag.too_late and not lag.paused:
        yield Alert(lag.policy, "late", _late(lag))


def _late(lag: PolicyLag) -> ActNow:
    more = "at least " if lag.at_least else ""
    return ActNow(
        f"the replica {lag.replica} of policy {lag.policy} is too far behind",
        found=f"the oldest of {more}{lag.lag_events:,} events that are not applied is "
        f"{spoken_time(lag.lag_seconds)} old; the replica is at event {lag.replicated}, the source at {lag.newest}",
        expected=f"at most {spoken_time(lag.max_lag)} (max_lag)",
        next_step=f"look at the newest run of the DAG {lag.policy}.incremental: a red task says what to do; "
        f"without a run, unpause the DAG: airflow dags unpause {lag.policy}.incremental",
    )


def state_line(lag: PolicyLag) -> str:
    """Say in one line how a policy is."""
    said = [lag.policy, lag.phase]
    if lag.lag_seconds is not None:
        more = "+" if lag.at_least else ""
        said.append(f"at event {lag.replicated}, {lag.lag_events}{more} events behind, {spoken_time(lag.lag_seconds)}")
    if lag.paused:
        said.append(f"paused: {lag.paused}")
    if lag.trouble:
        said.append(lag.trouble.splitlines()[0])
    return "; ".join(said)


def spoken_time(seconds: float | None) -> str:
    """Say a length of time as people do: `3 min 20 s`, `2 d 5 h`."""
    left = round(seconds or 0)
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "0 s"
