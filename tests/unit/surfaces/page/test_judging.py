"""What is wrong with a policy is said in words, the worst first."""

from typing import Any

import pytest

from tests.support.journal_records import NOW, a_state
from twinhive.surfaces.page.judging import STALE_SECONDS, Level, is_stale, lag_level, verdict_of


@pytest.mark.parametrize(
    ("changed", "failures", "tables", "level", "reason"),
    [
        ({}, 0, 0, Level.GOOD, None),
        ({"phase": "loading", "lag_seconds": None}, 0, 0, Level.QUIET, None),
        ({"phase": "absent", "lag_seconds": None}, 0, 0, Level.QUIET, None),
        ({}, 1, 0, Level.BAD, "1 open error"),
        ({}, 2, 0, Level.BAD, "2 open errors"),
        ({}, 0, 3, Level.WARN, "3 tables in trouble"),
        ({"lag_seconds": 720.0, "max_lag": 600.0}, 0, 0, Level.BAD, "12 min behind, 10 min allowed"),
        ({"lag_seconds": 600.0, "max_lag": 600.0}, 0, 0, Level.GOOD, None),
        ({"phase": "unreachable", "trouble": "east is\n  away"}, 0, 0, Level.BAD, "east is away"),
        ({"phase": "unusable"}, 0, 0, Level.BAD, "the policy is unusable"),
        ({"trouble": "the log has a gap"}, 0, 0, Level.WARN, "the log has a gap"),
        (
            {"stalled": "sales.bootstrap, task copy has moved nothing"},
            0,
            0,
            Level.BAD,
            "sales.bootstrap, task copy has moved nothing",
        ),
        ({"paused": "a move"}, 0, 0, Level.WARN, "paused: a move"),
        ({"at": NOW - 720}, 0, 0, Level.WARN, "last looked at 12 min ago"),
    ],
)
def test_each_misfortune_has_its_words(
    changed: dict[str, Any], failures: int, tables: int, level: Level, reason: str | None
) -> None:
    verdict = verdict_of(a_state(**changed), failures, tables, NOW)
    assert (verdict.level, verdict.reasons) == (level, (reason,) if reason else ())


def test_what_is_bad_is_said_before_what_is_to_be_watched() -> None:
    state = a_state(paused="a move", lag_seconds=720.0, max_lag=600.0)
    verdict = verdict_of(state, 1, 2, NOW)
    assert verdict.level is Level.BAD
    assert verdict.reasons == (
        "12 min behind, 10 min allowed",
        "1 open error",
        "paused: a move",
        "2 tables in trouble",
    )


@pytest.mark.parametrize(
    ("lag", "allowed", "level"),
    [
        (None, 600.0, Level.QUIET),
        (9_000.0, None, Level.QUIET),
        (0.0, 600.0, Level.GOOD),
        (301.0, 600.0, Level.WARN),
        (601.0, 600.0, Level.BAD),
    ],
)
def test_a_lag_is_judged_by_what_the_policy_allows(lag: float | None, allowed: float | None, level: Level) -> None:
    assert lag_level(a_state(lag_seconds=lag, max_lag=allowed)) is level


def test_a_sample_is_stale_when_several_looks_were_missed() -> None:
    assert not is_stale(NOW - STALE_SECONDS, NOW)
    assert is_stale(NOW - STALE_SECONDS - 1, NOW)
