"""Remember alerts from one minute to the next, so that people are told of news and not of every minute."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from twinhive.domain.marks import UNREACHABLE
from twinhive.steps.lag_alerts import Alert, spoken_time

GRACE_SECONDS = 120.0
"""A server may be away so long, as when it is started anew, before it is an alert."""
REMIND_SECONDS = 3_600.0
"""What lasts is told again after this time."""
FORGET_SECONDS = 900.0
"""An alert that comes back within this time is not news."""
_IN_A_ROW_SECONDS = 150.0


@dataclass(frozen=True)
class Standing:
    """An alert that stands since a time; `is_news` says that people are to be told now."""

    alert: Alert
    since: float
    is_news: bool


@dataclass(frozen=True)
class Judged:
    """What stands now, and what the next judgement has to know (JSON: alert -> since, told, seen)."""

    standing: tuple[Standing, ...]
    memory: dict[str, list[float]]

    @property
    def is_news(self) -> bool:
        """True when people are to be told."""
        return any(one.is_news for one in self.standing)


def judge(alerts: Iterable[Alert], memory: Any, now: float) -> Judged:
    """Compare alerts with what was remembered; without a usable memory everything is news."""
    known = _usable(memory)
    kept = {key: times for key, times in known.items() if now - times[2] <= FORGET_SECONDS}
    standing = []
    for alert in alerts:
        key = f"{alert.policy} {alert.kind}"
        since, told, seen = kept.get(key, (now, 0.0, now))
        since = since if now - seen <= _IN_A_ROW_SECONDS else now
        stands = alert.kind != UNREACHABLE or now - since >= GRACE_SECONDS
        is_news = stands and now - told >= REMIND_SECONDS
        kept[key] = (since, now if is_news else told, now)
        if stands:
            standing.append(Standing(alert, since, is_news))
    return Judged(tuple(standing), {key: list(times) for key, times in kept.items()})


def _usable(memory: Any) -> dict[str, tuple[float, float, float]]:
    try:
        return {str(key): (float(since), float(told), float(seen)) for key, (since, told, seen) in memory.items()}
    except (AttributeError, TypeError, ValueError):
        return {}


def alarm(standing: Iterable[Standing], now: float, *, in_full: int = 20) -> str:
    """Say all alerts that stand in one text, the newest first; after `in_full` of them only names are told."""
    newest_first = sorted(standing, key=lambda one: (-one.since, one.alert.policy))
    lines = [f"policies that need somebody: {len(newest_first):,}"]
    for number, one in enumerate(newest_first[:in_full], start=1):
        lines.append(f"{number}. {one.alert.policy}, for {spoken_time(now - one.since)}: {one.alert.error}")
    if more := newest_first[in_full:]:
        lines.append(f"and {len(more):,} more: {', '.join(one.alert.policy for one in more)}")
    return "\n".join(lines)
