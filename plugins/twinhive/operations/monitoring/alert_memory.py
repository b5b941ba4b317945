"""Remember alerts from one minute to the next, so that people are told of news and of ends, and not of every minute."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.monitoring.lag_alerts import ALL, Alert

GRACE_SECONDS = 120.0
"""A server may be away so long, as when it is started anew, before it is an alert."""
REMIND_SECONDS = 3_600.0
"""What lasts is told again after this time, where the policy says nothing else."""
FORGET_SECONDS = 300.0
"""What has not been seen for so long is over; if it comes back earlier, that is not news."""
_IN_A_ROW_SECONDS = 150.0
_HIDES = (AlertKind.TROUBLE, AlertKind.UNREACHABLE)
_OF_THE_JOURNAL = (AlertKind.STOPPED, AlertKind.FAILED, AlertKind.STALLED, AlertKind.UNTOLD)

_Times = tuple[float, float, float]


@dataclass(frozen=True)
class Standing:
    """An alert that stands since a time; `is_news` says that people are to be told now."""

    alert: Alert
    since: float
    is_news: bool


@dataclass(frozen=True)
class Over:
    """What people were told of, and is not so any more."""

    policy: str
    kind: AlertKind
    about: str
    since: float


@dataclass(frozen=True)
class Judged:
    """What stands now, what is over, and what the next judgement has to know (JSON: alert -> since, told, seen)."""

    standing: tuple[Standing, ...]
    over: tuple[Over, ...]
    memory: dict[str, list[float]]

    @property
    def is_news(self) -> bool:
        """True when people are to be told."""
        return any(one.is_news for one in self.standing)


def judge(
    alerts: Iterable[Alert],
    memory: Any,
    now: float,
    remind: Mapping[str, float] | None = None,
    unseen: Collection[str] = (),
) -> Judged:
    """Compare alerts with what was remembered; without a usable memory everything is news.

    `remind` are the seconds after which a policy is reminded, `unseen` the policies of which nobody knows now how they
    are, and of others the kinds (`kind_of`). What cannot be seen now, because something greater hides it, is not over.
    """
    every = list(alerts)
    kept = _usable(memory)
    standing = []
    for alert in every:
        since, told, seen = kept.get(alert.key, (now, 0.0, now))
        since = since if now - seen <= _IN_A_ROW_SECONDS else now
        stands = now - since >= (GRACE_SECONDS if alert.kind is AlertKind.UNREACHABLE else alert.grace)
        is_news = stands and now - told >= (remind or {}).get(alert.policy, REMIND_SECONDS)
        kept[alert.key] = (since, now if is_news else told, now)
        if stands:
            standing.append(Standing(alert, since, is_news))
    kept |= {key: (since, told, now) for key, (since, told, _) in kept.items() if is_hidden(key, every, unseen)}
    ended = {key: times for key, times in kept.items() if now - times[2] > FORGET_SECONDS}
    remembered = {key: list(times) for key, times in kept.items() if key not in ended}
    return Judged(tuple(standing), tuple(_over(ended)), remembered)


def _over(ended: Mapping[str, _Times]) -> Iterator[Over]:
    for key, (since, told, _) in ended.items():
        policy, kind, about = _parts(key)
        if told and kind in set(AlertKind):
            yield Over(policy, AlertKind(kind), about, since)


def is_hidden(key: str, alerts: Iterable[Alert], unseen: Collection[str] = ()) -> bool:
    """Tell whether what stands now keeps anybody from seeing whether something else still does."""
    policy, kind, about = _parts(key)
    if kind == AlertKind.SILENT:
        # Whoever judges is not silent.
        return False
    if kind_of(policy, kind) in unseen or (policy in unseen and kind not in _HIDES):
        return True
    return any(_hides(alert, policy, kind, about) for alert in alerts)


def kind_of(policy: str, kind: str) -> str:
    """Name one kind of a policy's alerts, of which nobody knows now whether they still stand."""
    return f"{policy} {kind}"


def _hides(alert: Alert, policy: str, kind: str, about: str) -> bool:
    if alert.kind is AlertKind.UNKNOWN:
        return kind in _OF_THE_JOURNAL
    if alert.policy != policy:
        return False
    if alert.kind is AlertKind.GATEWAY:
        # Without a name it is the file that names all gateways.
        return kind == AlertKind.REMOTE or not alert.about
    if alert.kind is AlertKind.STOPPED:
        # What may pass by itself is not told beside it.
        return kind == AlertKind.FAILED and about == alert.about
    return alert.kind in _HIDES and alert.kind != kind


def _parts(key: str) -> tuple[str, str, str]:
    policy, _, rest = key.partition(" ")
    kind, _, about = rest.partition(" ")
    return policy, kind, about


def _usable(memory: Any) -> dict[str, _Times]:
    try:
        return {str(key): (float(since), float(told), float(seen)) for key, (since, told, seen) in memory.items()}
    except (AttributeError, TypeError, ValueError):
        return {}


def alarm(standing: Iterable[Standing], now: float, *, in_full: int = 20) -> str:
    """Say all alerts that stand in one text, the newest first; after `in_full` of them only names are told."""
    newest_first = sorted(standing, key=lambda one: (-one.since, one.alert.policy))
    # What concerns no single policy has a name that begins with a star.
    policies = {one.alert.policy for one in newest_first if not one.alert.policy.startswith(ALL)}
    lines = [f"policies that need attention: {len(policies):,}"]
    for number, one in enumerate(newest_first[:in_full], start=1):
        lines.append(f"{number}. {one.alert.policy}, for {spoken_time(now - one.since)}: {one.alert.error}")
    if more := newest_first[in_full:]:
        names = dict.fromkeys(one.alert.policy for one in more)
        lines.append(f"and {len(more):,} more: {', '.join(names)}")
    return "\n".join(lines)
