"""Of what people are told, minute by minute."""

from collections.abc import Collection

import pytest

from twinhive.core.model.errors import ActNow, Unreachable
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.monitoring.alert_memory import Judged, alarm, judge
from twinhive.operations.monitoring.lag_alerts import Alert

LATE = Alert("sales", AlertKind.LATE, ActNow("too far behind", next_step="look"))
LATE_AT_EAST = Alert("*messages.east", AlertKind.PUBLISHER, ActNow("not told"))
AWAY = Alert("stock", AlertKind.UNREACHABLE, Unreachable("no answer"))
NOON = 1_900_000_000.0


class Minutes:
    """Judge once a minute, with what the last judgement left."""

    def __init__(self) -> None:
        self.now = NOON
        self.memory = {}

    def pass_by(self, *alerts: Alert, minutes: int = 1, unseen: Collection[str] = ()) -> Judged:
        for _ in range(minutes):
            judged = judge(alerts, self.memory, self.now, unseen=unseen)
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
    judged = minutes.pass_by(LATE, Alert("hr", AlertKind.TROUBLE, ActNow("a gap")))
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
    minutes.pass_by(minutes=4)
    assert not minutes.pass_by(LATE).is_news
    minutes.pass_by(minutes=6)
    assert minutes.memory == {}
    assert minutes.pass_by(LATE).is_news


def test_what_was_told_is_told_to_be_over_once_when_it_has_not_come_back() -> None:
    minutes = Minutes()
    minutes.pass_by(LATE, AWAY)
    over = [minutes.pass_by().over for _ in range(20)]
    # That a server was away for a moment was never told.
    assert [[(one.policy, one.kind) for one in some] for some in over if some] == [[("sales", AlertKind.LATE)]]
    assert minutes.now - NOON <= 21 * 60


def test_what_something_greater_hides_is_not_over() -> None:
    minutes = Minutes()
    failed = Alert("sales", AlertKind.STOPPED, ActNow("lost"), "bootstrap")
    minutes.pass_by(LATE, failed)
    gap = Alert("sales", AlertKind.TROUBLE, ActNow("a gap"))
    assert all(not minutes.pass_by(gap).over for _ in range(60))
    unknown = Alert("*", AlertKind.UNKNOWN, ActNow("no journal"))
    assert {one.kind for _ in range(60) for one in minutes.pass_by(unknown).over} == {AlertKind.LATE, AlertKind.TROUBLE}
    assert [one.about for _ in range(10) for one in minutes.pass_by().over if one.kind is AlertKind.STOPPED] == [
        "bootstrap"
    ]


NO_JOURNAL = Alert("*", AlertKind.UNKNOWN, Unreachable("no journal"), grace=600.0)
GATE_AWAY = Alert("*remotes", AlertKind.GATEWAY, Unreachable("no answer"), "gate:1")
NO_FILE = Alert("*remotes", AlertKind.GATEWAY, ActNow("remotes.yaml cannot be used"))
SCAN_STOPPED = Alert("sales", AlertKind.STOPPED, ActNow("lost"), "scan")


@pytest.mark.parametrize(
    ("policy", "kind", "about", "greater"),
    [
        ("sales", AlertKind.STALLED, "bootstrap", NO_JOURNAL),
        ("sales", AlertKind.UNTOLD, "webhook pager", NO_JOURNAL),
        ("*remotes", AlertKind.REMOTE, "thrift://far:9083", GATE_AWAY),
        ("*remotes", AlertKind.REMOTE, "thrift://far:9083", NO_FILE),
        ("*remotes", AlertKind.GATEWAY, "gate:1", NO_FILE),
        ("sales", AlertKind.FAILED, "scan", SCAN_STOPPED),
    ],
)
def test_what_only_the_greater_lets_see_is_over_when_that_is_gone_and_it_with_it(
    policy: str, kind: AlertKind, about: str, greater: Alert
) -> None:
    minutes = Minutes()
    assert minutes.pass_by(Alert(policy, kind, ActNow("wrong"), about)).is_news
    assert [over for _ in range(30) for over in minutes.pass_by(greater).over] == []
    ended = [(one.kind, one.about) for _ in range(10) for one in minutes.pass_by().over]
    assert (kind, about) in ended


@pytest.mark.parametrize(
    ("told", "other"),
    [
        (Alert("*remotes", AlertKind.GATEWAY, ActNow("away"), "gate:2"), GATE_AWAY),
        (Alert("sales", AlertKind.FAILED, ActNow("no answer"), "external"), SCAN_STOPPED),
        (LATE, NO_JOURNAL),
    ],
)
def test_what_stands_beside_something_else_is_over_all_the_same(told: Alert, other: Alert) -> None:
    minutes = Minutes()
    minutes.pass_by(told)
    assert [one.about for _ in range(10) for one in minutes.pass_by(other).over] == [told.about]


def test_of_whom_nobody_knows_how_they_are_nothing_is_over_but_what_a_pause_ends() -> None:
    minutes = Minutes()
    minutes.pass_by(LATE, Alert("sales", AlertKind.TROUBLE, ActNow("a gap")), LATE_AT_EAST)
    unseen = ["sales", "*messages.east"]
    assert [one.kind for _ in range(30) for one in minutes.pass_by(unseen=unseen).over] == [AlertKind.TROUBLE]
    ended = {one.kind for _ in range(10) for one in minutes.pass_by().over}
    assert ended == {AlertKind.LATE, AlertKind.PUBLISHER}


def test_what_may_pass_by_itself_is_told_after_its_grace() -> None:
    minutes = Minutes()
    failed = Alert("sales", AlertKind.FAILED, Unreachable("no answer"), "scan", grace=900)
    assert [number for number in range(30) if minutes.pass_by(failed).is_news] == [15]


def test_a_policy_is_reminded_as_often_as_it_says() -> None:
    memory: object = {}
    told = []
    for minute in range(30):
        judged = judge([LATE], memory, NOON + minute * 60, {"sales": 600})
        memory = judged.memory
        told += [minute] if judged.is_news else []
    assert told == [0, 10, 20]


@pytest.mark.parametrize("memory", [None, "?", {"sales late": 1}, {"sales late": ["a", "b", "c"]}, [1]])
def test_without_a_usable_memory_everything_is_news(memory: object) -> None:
    assert judge([LATE], memory, NOON).is_news


def test_the_alarm_tells_the_newest_first_and_only_names_of_too_many() -> None:
    minutes = Minutes()
    minutes.pass_by(LATE, minutes=3)
    others = [Alert(f"db{number}", AlertKind.TROUBLE, ActNow("a gap", next_step="start anew")) for number in range(3)]
    standing = minutes.pass_by(LATE, *others).standing
    lines = alarm(standing, minutes.now, in_full=2).splitlines()
    assert lines[0] == "policies that need attention: 4"
    assert lines[1].startswith("1. db0, for 1 min: a gap")
    assert "and 2 more: db2, sales" in lines
    assert alarm(standing, minutes.now).count("start anew") == 3
