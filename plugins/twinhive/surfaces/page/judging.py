"""Judge what the journal says of a policy: how bad it is, and in which words it is told."""

from dataclasses import dataclass
from enum import Enum

from twinhive.core.model.marks import UNREACHABLE, UNUSABLE
from twinhive.operations.journal.records import PolicyState
from twinhive.surfaces.page.readable_numbers import ago, count, duration

STALE_SECONDS = 300
"""`twinhive.monitor` looks at every policy each minute; what is older than this says nothing about now."""

_NEAR = 0.5
"""From this part of the allowed lag on, a lag is shown as one to watch."""


class Level(Enum):
    """How much attention something wants; the values name the colours."""

    BAD = "bad"
    WARN = "warn"
    GOOD = "good"
    QUIET = "quiet"


@dataclass(frozen=True)
class Verdict:
    """The level of a policy, and the reasons for it, the worst first; no reason: there is nothing to say."""

    level: Level
    reasons: tuple[str, ...]


def verdict_of(state: PolicyState, open_failures: int, troubled_tables: int, now: float) -> Verdict:
    """Judge a policy as it is now (seconds of the epoch)."""
    lost = state.phase in (UNUSABLE, UNREACHABLE)
    trouble = " ".join((state.trouble or (f"the policy is {state.phase}" if lost else "")).split())
    bad = {
        trouble: lost,
        state.stalled or "": bool(state.stalled),
        f"{duration(state.lag_seconds)} behind, {duration(state.max_lag)} allowed": state.too_late,
        _plural(open_failures, "open error"): open_failures > 0,
    }
    warn = {
        trouble: bool(trouble) and not lost,
        f"paused: {state.paused}": bool(state.paused),
        f"{_plural(troubled_tables, 'table')} in trouble": troubled_tables > 0,
        f"last looked at {ago(state.at, now)}": is_stale(state.at, now),
    }
    reasons = tuple(text for text, true in [*bad.items(), *warn.items()] if true)
    level = Level.BAD if any(bad.values()) else Level.WARN if any(warn.values()) else _calm(state)
    return Verdict(level, reasons)


def lag_level(state: PolicyState) -> Level:
    """Judge a lag against what the policy allows; without a limit nothing is too late."""
    if state.lag_seconds is None or state.max_lag is None:
        return Level.QUIET
    if state.too_late:
        return Level.BAD
    return Level.WARN if state.lag_seconds > _NEAR * state.max_lag else Level.GOOD


def is_stale(at: float, now: float) -> bool:
    """True when a policy was not looked at for longer than the monitor should take."""
    return now - at > STALE_SECONDS


def _calm(state: PolicyState) -> Level:
    return Level.GOOD if state.phase == "following" else Level.QUIET


def _plural(number: int, what: str) -> str:
    return f"{count(number)} {what}{'' if number == 1 else 's'}"
