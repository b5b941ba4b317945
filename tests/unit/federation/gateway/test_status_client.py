"""What several gateways say of their remotes, put together; and gateways that do not answer, or are none."""

from types import MappingProxyType

import pytest

from tests.support.servers.status_port import DOWN, WELL, a_count, nowhere, port_that_says, status_port
from twinhive.federation.gateway.gateway_metrics import CallCounts, Ending
from twinhive.federation.gateway.isolation import BreakerState
from twinhive.federation.gateway.status import status_client
from twinhive.federation.gateway.status.gateway_findings import remotes_of
from twinhive.federation.gateway.status.status_client import look_at


def test_a_remote_has_its_names_its_counts_and_since_when_it_fails_and_what_fails_comes_first() -> None:
    down, refused, well = remotes_of(a_count())
    assert (down.address, down.names, down.is_open, down.answers) == (
        DOWN,
        (("shop.orders", "sales.orders"),),
        True,
        False,
    )
    assert (down.failing_since, down.trouble, down.failed) == (1_000.0, "refused the call", 1)
    assert (refused.address, refused.names, refused.trouble) == (
        "",
        (("shop.secret", "hr.pay"),),
        "shop.secret may not be reached",
    )
    assert (well.address, well.answers, well.calls, well.failed) == (WELL, True, 2, 0)
    assert (well.mean, well.slowest) == (pytest.approx(0.002), 0.003)


def test_a_remote_that_nobody_has_called_is_not_said_to_answer() -> None:
    counts = CallCounts(names=MappingProxyType({"far": ("sales", WELL, "")}))
    [one] = remotes_of(counts)
    assert (one.answers, one.is_open, one.calls, one.mean) == (None, False, 0, None)


def test_a_remote_that_has_answered_answers_though_nothing_is_noted_of_its_breaker() -> None:
    counts = CallCounts(names=MappingProxyType({"far": ("sales", WELL, "")}))
    counts.ended(WELL, "get_table_req", Ending.ANSWERED, 0.001)
    [one] = remotes_of(counts)
    assert (one.answers, one.failing_since, one.calls) == (True, None, 1)


def test_calls_that_were_refused_at_once_do_not_make_a_remote_look_quick() -> None:
    counts = a_count()
    counts.ended(WELL, "get_table_req", Ending.REFUSED, 0.0)
    [*_, well] = remotes_of(counts)
    assert (well.calls, well.refused, well.mean) == (3, 1, pytest.approx(0.002))


def test_what_gateways_have_counted_adds_up_and_the_worst_breaker_counts() -> None:
    other = CallCounts()
    other.breakers = {WELL: (BreakerState.OPEN, 2_000.0, "too late")}
    with status_port(a_count()) as one, status_port(a_count()) as two, status_port(other) as three:
        seen = look_at([one, two, three], 20)
    assert seen.away == {}
    by_address = {remote.address: remote for remote in seen.remotes}
    assert (by_address[WELL].calls, by_address[WELL].is_open, by_address[WELL].trouble) == (4, True, "too late")


def test_a_gateway_that_is_down_or_none_is_named_and_the_others_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_client, "_MOST_BYTES", 1_000_000)
    head = b"HTTP/1.0 200 OK\r\n\r\n"
    nonsense = (b"", b"220 mail", head, head + b"[]", head + b"{}", head + b"[" * 90_000, head + b"x" * 2_000_000)
    with status_port(a_count()) as well:
        for answer in (*nonsense, b"HTTP/1.0 404 Not Found\r\n\r\n{}"):
            with port_that_says(answer) as other:
                seen = look_at([other, well], 20)
            assert list(seen.away) == [other], answer[:30]
            assert len(seen.remotes) == 3
        gone = nowhere()
        seen = look_at([gone, well], 20)
    assert list(seen.away) == [gone] and "refused" in seen.away[gone].lower()


def test_a_gateway_that_says_nothing_is_given_up() -> None:
    with port_that_says(None) as silent:
        assert look_at([silent], 0.05).away == {silent: "no answer within 0.05 s"}
