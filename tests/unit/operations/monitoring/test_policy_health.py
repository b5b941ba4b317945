"""What the monitor knows beside the lag: failures, frozen tables, data that waits, room that is left."""

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.external_world import ExternalWorld, a_world_with_files
from twinhive.core.model.errors import ActNow, Refused, Unreachable
from twinhive.core.model.files import Space
from twinhive.core.model.marks import QUARANTINE
from twinhive.core.model.watching.alerts import ALERTS, AlertKind, Severity
from twinhive.operations.monitoring.lag import PolicyLag, measure
from twinhive.operations.monitoring.lag_alerts import Alert, Failing, alerts_of
from twinhive.operations.monitoring.monitored_policy import Follower, Limits
from twinhive.replication.dump.passes.external_passes import last_complete_pass
from twinhive.replication.operator_requests.request_files import pause
from twinhive.replication.replica.pending_files import pending_names

PATIENCE = 20.0
LIMITS = Limits(max_lag=1e9, external_age=3_600.0, free_bytes=1_000)
STOPPED = Failing("sales", "bootstrap", 1, ActNow("a file is lost", next_step="bring it back"))
FAILED = Failing("sales", "scan", 2, Unreachable("no answer"))


def measured(followed: Any, limits: Limits = LIMITS, at: float | None = None) -> PolicyLag:
    at = time.time() if at is None else at
    [lag] = measure([Follower(followed.policy, followed.world.ports(), limits)], at, PATIENCE)
    return lag


def kinds(followed: Any, *failing: Failing, **how: Any) -> list[str]:
    return [f"{alert.kind} {alert.about}".strip() for alert in alerts_of([measured(followed, **how)], failing)]


@pytest.fixture
def followed() -> FollowedExternals:
    return FollowedExternals.from_the_beginning()


def test_when_all_is_well_there_is_no_alert(followed: FollowedExternals) -> None:
    followed.settle()
    assert kinds(followed) == []
    seen = measured(followed).watched
    assert (dict(seen.quarantined), seen.pending, seen.pending_age, seen.free_bytes) == ({}, 0, None, 1 << 40)


def test_without_any_policy_that_is_the_alert() -> None:
    [alert] = alerts_of([])
    assert (alert.kind, alert.policy) == (AlertKind.NO_POLICIES, "*")
    assert "TWINHIVE_CONFIG" in str(alert.error)


def test_what_has_failed_is_an_alert_of_its_phase_at_once_or_after_a_grace(followed: FollowedExternals) -> None:
    lag = measured(followed, replace(LIMITS, failed_for=600.0))
    stopped, failed = alerts_of([lag], [STOPPED, FAILED, replace(FAILED, policy="stock")])
    assert (stopped.kind, stopped.about, stopped.grace) == (AlertKind.STOPPED, "bootstrap", 0)
    assert (failed.kind, failed.about, failed.grace) == (AlertKind.FAILED, "scan", 600)
    assert stopped.key != failed.key


def test_a_replica_that_is_still_being_loaded_is_silent_about_lag_and_not_about_failures() -> None:
    loading = PolicyLag("sales", 0.0, phase="loading", limits=Limits(max_lag=1))
    assert [alert.kind for alert in alerts_of([loading], [STOPPED])] == [AlertKind.STOPPED]
    assert alerts_of([loading]) == []


def test_what_a_person_holds_back_is_no_failure(followed: FollowedExternals) -> None:
    pause(followed.world.replica_files, followed.policy, "moving house", "ann")
    assert kinds(followed, STOPPED, FAILED) == []


def test_what_is_wrong_as_a_whole_is_the_reason_of_what_fails(followed: FollowedExternals) -> None:
    followed.world.source.down = True
    assert kinds(followed, STOPPED) == ["unreachable"]


def test_quarantined_tables_are_an_alert_that_names_them_and_quotes_the_command(followed: FollowedExternals) -> None:
    database = followed.world.replica.database("sales")
    marks = {f"{QUARANTINE}x;reboot": "5 too odd", **{f"{QUARANTINE}y{number}": "6 lost" for number in range(9)}}
    followed.world.replica.set_database_parameters("sales", {**database.parameters, **marks})
    [alert] = alerts_of([measured(followed)])
    assert alert.kind is AlertKind.QUARANTINED and "10" in alert.error.what
    assert "5 too odd" in str(alert.error.found) and "and 5 more" in str(alert.error.found)
    assert "twinhive resync sales 'x;reboot'" in str(alert.error.next_step)


def test_external_tables_that_wait_too_long_are_an_alert(followed: FollowedExternals) -> None:
    followed.users.create_external("waiting", "hdfs://east/new/waiting")
    followed.follow()
    assert pending_names(followed.world.replica_files, followed.policy) == ("waiting",)
    lag = measured(followed)
    assert lag.watched.pending == 1
    # The clock of the source's log stands years ago.
    assert lag.watched.pending_age is not None and lag.watched.pending_age > 3_600
    [alert] = alerts_of([lag])
    assert alert.kind is AlertKind.EXTERNAL and "1 external tables wait" in str(alert.error.found)
    assert "sales.external" in str(alert.error.next_step)
    since = lag.at - lag.watched.pending_age
    assert kinds(followed, at=since + 3_599) == []
    assert kinds(followed, limits=replace(LIMITS, external_age=None)) == []


def test_an_event_that_the_log_does_not_hold_any_more_is_too_old(followed: FollowedExternals) -> None:
    followed.users.create_external("waiting", "hdfs://east/new/waiting")
    followed.follow()
    log = followed.world.source._log
    log.expire(log.last_event_id)
    assert measured(followed).watched.pending_age == pytest.approx(time.time(), abs=60)


def test_external_data_that_no_pass_has_looked_at_for_too_long_is_an_alert() -> None:
    external = ExternalWorld()
    assert measured(external).watched.external_age is None
    external.cycle()
    lag = measured(external)
    assert lag.watched.external_age is not None and lag.watched.external_age < 600
    assert kinds(external, at=lag.at + 7_200) == ["external"]


def test_a_pass_that_does_not_come_to_its_end_makes_no_data_newer() -> None:
    external = a_world_with_files()
    external.cycle()
    complete = last_complete_pass(external.ports().dump_files, external.world.replica_files, external.policy)
    listed = external.listed()
    assert listed.batches
    assert last_complete_pass(external.ports().dump_files, external.world.replica_files, external.policy) == complete
    external.sync(listed)
    newest = last_complete_pass(external.ports().dump_files, external.world.replica_files, external.policy)
    assert newest is not None and complete is not None and newest > complete


def test_too_little_room_is_an_alert(followed: FollowedExternals) -> None:
    place = followed.policy.staging.rpartition("/")[0]
    followed.world.replica_files.quotas[place] = Space(5_000, quota_bytes_left=999)
    assert kinds(followed) == ["space"]
    followed.world.replica_files.quotas[place] = Space(1_000)
    assert kinds(followed) == []
    followed.world.replica_files.quotas[place] = Space(999)
    assert kinds(followed, limits=replace(LIMITS, free_bytes=None)) == []


def test_what_cannot_be_found_out_makes_no_policy_unreachable(
    followed: FollowedExternals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str, within: str) -> Any:
        raise Refused("not yours", next_step="ask")

    monkeypatch.setattr(followed.world.replica_files, "space", refused)
    lag = measured(followed)
    assert (lag.phase, lag.error, lag.watched.free_bytes) == ("following", None, None)
    assert alerts_of([lag]) == []
    assert lag.watched.unknown == {AlertKind.SPACE}


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("last_complete_pass", AlertKind.EXTERNAL),
        ("what_waits", AlertKind.EXTERNAL),
        ("held_notes", AlertKind.HELD),
    ],
)
def test_of_what_gets_no_answer_nobody_knows_whether_it_still_stands(
    followed: FollowedExternals, monkeypatch: pytest.MonkeyPatch, question: str, kind: AlertKind
) -> None:
    def silent(*_: Any) -> Any:
        raise Unreachable("no answer", next_step="wait")

    assert measured(followed).watched.unknown == frozenset()
    monkeypatch.setattr(f"twinhive.operations.monitoring.policy_health.{question}", silent)
    assert kind in measured(followed).watched.unknown  # and whatever else was to be asked there


def test_each_kind_says_how_urgent_it_is_and_what_it_means() -> None:
    assert set(ALERTS) == set(AlertKind)
    urgent = {kind for kind in AlertKind if kind.severity is Severity.ACT_NOW}
    assert {AlertKind.STOPPED, AlertKind.LATE, AlertKind.NO_POLICIES, AlertKind.SILENT} <= urgent
    assert Alert("sales", AlertKind.LATE, ActNow("x")).key == "sales late"
