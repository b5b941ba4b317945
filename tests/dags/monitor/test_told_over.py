"""Nobody is told that something is over while it goes on and the monitor cannot see it."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.dags.monitor.test_monitor_dag import ALARM, PAGED, WELL, Monitored, journal, memory, monitored, paged
from tests.support.journal_records import NOW, a_copy, a_failure
from tests.support.messages.notification_inbox import Hook
from tests.support.policies import PolicyFiles
from tests.support.servers.status_port import DOWN, a_count, status_port
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.journal.open_records import Open, what_is_open
from twinhive.operations.journal.records import SentMessage
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring import gateway_alerts
from twinhive.operations.monitoring.alert_memory import judge
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.monitored_policy import Limits
from twinhive.operations.monitoring.policy_health import WatchedPolicy
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.publishing.messages.publisher_lag import Behind
from twinhive.replication.operator_requests.request_files import pause
from twinhive.runtime.settings import load_configuration
from twinhive.surfaces.airflow.monitor import stalled_copies
from twinhive.surfaces.airflow.monitor.watch_round import WatchedRemotes, WatchRound

__all__ = ["journal", "memory", "monitored", "paged"]


def said(hook: Hook) -> list[tuple[str, str, str, str]]:
    every = (one for body in hook.bodies for one in body["alerts"])
    return [(one["policy"], one["kind"], one["about"], one["state"]) for one in every]


def long_unseen(memory: dict[str, Any]) -> None:
    """Let more than five minutes pass since the last look."""
    for times in memory["alerts"].values():
        times[2] -= 301


def test_a_copy_that_stands_still_is_not_over_while_the_journal_does_not_answer(
    monitored: Monitored, paged: Hook, journal: str, memory: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stalled_copies, "airflow_runs", lambda work: True)
    Journal(journal).copy_begins(a_copy(began=time.time() - 9_000, moved=time.time() - 7_200))
    assert monitored.run() == ALARM
    monkeypatch.setenv("TWINHIVE_JOURNAL", "sqlite:////no/such/directory/journal.db")
    long_unseen(memory)
    assert monitored.run() == WELL
    assert said(paged) == [("sales", "stalled", "bootstrap", "stands")]


def test_a_remote_is_not_over_while_the_gateway_that_asks_it_is_away(
    monitored: Monitored, paged: Hook, memory: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_alerts, "GRACE_SECONDS", 0.0)
    with status_port(a_count()) as gateway:
        monitored.policies.write("remotes.yaml", {"gateways": [gateway], "notifications": PAGED})
        assert monitored.run() == ALARM
    long_unseen(memory)
    assert monitored.run() == ALARM
    assert said(paged) == [("*remotes", "remote", DOWN, "stands"), ("*remotes", "gateway", gateway, "stands")]


def test_messages_that_are_late_are_not_over_while_their_metastore_is_away(tmp_path: Path) -> None:
    late = PublisherSeen("east", NOW, behind=Behind("p", 1, 9, events=8, since=1))
    away = PublisherSeen("east", NOW, trouble=Unreachable("the metastore does not answer", next_step="start it"))
    well = replace(late, behind=Behind("p", 9, 9))
    memory: object = {}
    over = []
    for minute, seen in enumerate([late, *[away] * 10, *[well] * 10]):
        round_ = WatchRound(load_configuration(tmp_path), (), None, NOW + 60 * minute, WatchedRemotes(), [seen])
        judged = judge(round_.alerts(), memory, round_.at, unseen=round_.unseen)
        memory = judged.memory
        over += [(minute, str(one.kind)) for one in judged.over]
    assert over == [(16, "publisher")]


def test_what_one_question_would_tell_is_not_over_while_it_gets_no_answer(tmp_path: Path) -> None:
    """The policy answers; only the file system does not say how much room there is."""
    full, well = WatchedPolicy(free_bytes=1), WatchedPolicy(free_bytes=1 << 40)
    untold = WatchedPolicy(unknown=frozenset({AlertKind.SPACE}))
    memory: object = {}
    over = []
    for minute, watched in enumerate([full, *[untold] * 10, *[well] * 10]):
        lag = PolicyLag("sales", NOW, phase="following", limits=Limits(free_bytes=1_000), watched=watched)
        round_ = WatchRound(load_configuration(tmp_path), [lag], None, NOW + 60 * minute, WatchedRemotes())
        judged = judge(round_.alerts(), memory, round_.at, unseen=round_.unseen)
        memory = judged.memory
        over += [(minute, str(one.kind)) for one in judged.over]
    assert over == [(16, "space")]


def test_a_policy_whose_server_does_not_answer_is_not_seen(tmp_path: Path) -> None:
    lags = [PolicyLag("sales", 0.0, error=Unreachable("no answer", next_step="wait")), PolicyLag("hr", 0.0)]
    assert WatchRound(load_configuration(tmp_path), lags, None, 0.0, WatchedRemotes()).unseen == {"sales"}


def told_by_a_task(journal: str, topic: str) -> None:
    """Be a task that has told something before the monitor has seen it, six minutes ago."""
    at = time.time() - 400
    Journal(journal).record_message(SentMessage("sales", topic, "webhook pager", at, at))


def test_what_a_task_has_told_of_a_policy_in_trouble_is_not_over_until_the_trouble_is(
    monitored: Monitored, paged: Hook, journal: str
) -> None:
    monitored.add(colour="red", notifications=PAGED)
    told_by_a_task(journal, "stopped incremental")
    told_by_a_task(journal, "silent")
    assert monitored.run() == ALARM
    assert sorted(said(paged)) == [("sales", "silent", "", "over"), ("sales", "trouble", "", "stands")]
    assert "stopped incremental" in {one.topic for one in what_is_open().messages}
    monitored.add(max_lag=60.0, notifications=PAGED)
    assert monitored.run() == WELL
    assert said(paged)[2:] == [("sales", "stopped", "incremental", "over")]


def test_what_a_task_has_told_is_not_over_while_its_failure_is_open(
    monitored: Monitored, paged: Hook, journal: str
) -> None:
    pause(monitored.world.replica_files, monitored.policies.wiring("sales").policy, "a holiday", "ann")
    Journal(journal).record_failure(a_failure("sales", act_now=True, what="lost"))
    told_by_a_task(journal, "stopped incremental")
    assert monitored.run() == WELL
    assert said(paged) == []
    Journal(journal).resolve_all("sales.incremental")
    assert monitored.run() == WELL
    assert said(paged) == [("sales", "stopped", "incremental", "over")]


def test_an_end_that_cannot_be_sent_is_tried_again_each_minute(
    monitored: Monitored, paged: Hook, memory: dict[str, Any]
) -> None:
    monitored.write()
    assert monitored.run() == ALARM
    monitored.policies.follow("sales")
    paged.status = 500
    long_unseen(memory)
    assert [monitored.run(), monitored.run()] == [WELL, WELL]
    [kept] = what_is_open().messages
    assert (kept.topic, kept.told is None) == ("late", False) and "answered 500" in str(kept.trouble)
    memory["alerts"]["sales untold webhook pager"][0] -= 301
    assert monitored.run() == ALARM
    paged.status = 200
    assert monitored.run() == ALARM
    assert [monitored.run(), monitored.run()] == [WELL, WELL]
    assert said(paged) == [("sales", "late", "", "stands"), ("sales", "late", "", "over")]
    assert what_is_open().messages == []


@pytest.mark.parametrize("order", [1, -1])
def test_a_message_that_is_not_tried_again_says_nothing_of_a_way_that_works_since(tmp_path: Path, order: int) -> None:
    files = PolicyFiles(tmp_path)
    files.add("sales", notifications=PAGED)
    configuration = load_configuration(tmp_path)
    [channel] = configuration.notifications("sales").send
    failed = SentMessage("sales", "late", channel.name, NOW, NOW - 3600, "answered 500")
    later = SentMessage("sales", "unreachable", channel.name, NOW + 60, NOW + 60, None)
    down = [PolicyLag("sales", 0.0, error=Unreachable("no answer", next_step="wait"))]

    def kinds(*messages: SentMessage) -> set[AlertKind]:
        opened = Open([], messages, NOW, [])
        return {alert.kind for alert in WatchRound(configuration, down, opened, NOW + 120, WatchedRemotes()).alerts()}

    assert AlertKind.UNTOLD in kinds(failed)
    assert AlertKind.UNTOLD not in kinds(*[failed, later][::order])
    assert AlertKind.UNTOLD in kinds(*[failed, replace(later, trouble="answered 500")][::order])
