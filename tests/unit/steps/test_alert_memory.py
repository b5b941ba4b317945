"""Of what people are told, minute by minute."""

import pytest

from twinhive.domain.errors import ActNow, Unreachable
from twinhive.steps.alert_memory import Judged, alarm, judge
from twinhive.steps.lag_alerts import Alert

LATE = Alert("sales", "late", ActNow("too far behind", next_step="look"))
AWAY = Alert("stock", "unreachable", Unreachable("no answer"))
NOON = 1_900_000_000.0


class Minutes:
    """Judge once a minute, with what the last judgement left."""

    def __init__(self) -> None:
        self.now = NOON
        self.memory = {}

    def pass_by(self, *alerts: Alert, minutes: int = 1) -> Judged:
        for _ in range(minutes):
            judged = judge(alerts, self.memory, self.now)
            self.memory, self.now = judged.memory, self.now + 60
        return judged


def test_what_lasts_stands_every_minute_and_is_told_at_first_and_every_hour() -> None:
    minutes = Minutes()
    told = [minutes.pass_by(LATE) for _ in range(130)]
    assert all(len(judged.standing) == 1 for judged in told)
    assert [number for number, judged in enumerate(told) if judged.is_news] == [0, 60, 120]
    assert told[-1].standing[0].since == NOON


def test_another_alert_is_news_beside_one_that_lasts() -> None:
    minutes = Minutes()
    minutes.pass_by(LATE, minutes=3)
    judged = minutes.pass_by(LATE, Alert("hr", "trouble", ActNow("a gap")))
    assert [(one.alert.policy, one.is_news) for one in judged.standing] == [("sales", False), ("hr", True)]


def test_a_server_that_is_away_for_a_moment_wakes_nobody() -> None:
    minutes = Minutes()
    assert minutes.pass_by(AWAY, minutes=2).standing == ()
    assert minutes.pass_by(AWAY).is_news


def test_a_server_that_is_away_now_and_then_for_a_moment_wakes_nobody_either() -> None:
    minutes = Minutes()
    for _ in range(5):
        assert minutes.pass_by(AWAY, minutes=2).standing == ()
        minutes.pass_by(minutes=3)


def test_an_alert_that_comes_and_goes_is_told_once_and_one_that_comes_back_later_again() -> None:
    minutes = Minutes()
    assert minutes.pass_by(LATE).is_news
    minutes.pass_by(minutes=10)
    assert not minutes.pass_by(LATE).is_news
    minutes.pass_by(minutes=17)
    assert minutes.memory == {}
    assert minutes.pass_by(LATE).is_news


@pytest.mark.parametrize("memory", [None, "?", {"sales late": 1}, {"sales late": ["a", "b", "c"]}, [1]])
def test_without_a_usable_memory_everything_is_news(memory: object) -> None:
    assert judge([LATE], memory, NOON).is_news


def test_the_alarm_tells_the_newest_first_and_only_names_of_too_many() -> None:
    minutes = Minutes()
    minutes.pass_by(LATE, minutes=3)
    others = [Alert(f"db{number}", "trouble", ActNow("a gap", next_step="start anew")) for number in range(3)]
    standing = minutes.pass_by(LATE, *others).standing
    lines = alarm(standing, minutes.now, in_full=2).splitlines()
    assert lines[0] == "policies that need somebody: 4"
    assert lines[1].startswith("1. db0, for 1 min: a gap")
    assert "and 2 more: db2, sales" in lines
    assert alarm(standing, minutes.now).count("start anew") == 3
