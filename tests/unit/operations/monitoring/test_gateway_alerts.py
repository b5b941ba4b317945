"""Who is told of gateways and remotes, and when."""

from tests.support.servers.status_port import DOWN, a_count
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.federation.gateway.isolation import BreakerState
from twinhive.federation.gateway.status.gateway_findings import GatewaysSeen, remotes_of
from twinhive.operations.monitoring.alert_memory import alarm, judge
from twinhive.operations.monitoring.gateway_alerts import REMOTES, gateway_alerts


def test_a_remote_whose_breaker_is_open_and_a_gateway_that_is_away_are_told_by_name() -> None:
    seen = GatewaysSeen(remotes_of(a_count()), {"gate.example:9094": "no answer within 2 s"})
    gateway, remote = gateway_alerts(seen, 1_120.0)
    assert (gateway.kind, gateway.about, gateway.policy) == (AlertKind.GATEWAY, "gate.example:9094", REMOTES)
    assert "no answer within 2 s" in str(gateway.error)
    assert (remote.kind, remote.about) == (AlertKind.REMOTE, DOWN)
    for said in ("shop.orders", "no answer for 2 min: refused the call", "twinhive remotes"):
        assert said in str(remote.error)


def test_a_failure_that_has_not_opened_the_breaker_is_nobodys_emergency() -> None:
    counts = a_count()
    counts.breakers = {DOWN: (BreakerState.CLOSED, 1_000.0, "refused")}
    assert list(gateway_alerts(GatewaysSeen(remotes_of(counts)), 1_120.0)) == []


def test_what_has_just_begun_is_not_told_and_what_lasts_is() -> None:
    alerts = list(gateway_alerts(GatewaysSeen(away={"gate:1": "refused"}), 0.0))
    first = judge(alerts, {}, 1_000.0)
    assert first.standing == ()
    later = judge(alerts, judge(alerts, first.memory, 1_060.0).memory, 1_120.0)
    assert [one.alert.about for one in later.standing] == ["gate:1"]


def test_a_file_that_cannot_be_used_is_told_at_once_and_counts_as_no_policy() -> None:
    [alert] = gateway_alerts(InvalidSettings("remotes.yaml cannot be used", next_step="correct it"), 0.0)
    judged = judge([alert], {}, 1_000.0)
    assert alarm(judged.standing, 1_000.0).startswith("policies that need attention: 0\n1. *remotes")
