"""What the properties of a tunnel mean: docs/connectors.md says the same."""

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.connectors.ssh_route import STRICT, TIMEOUT, Route, route_of

USUAL = 10.0


def a_route(**more: str) -> Route:
    given = {
        "ssh.tunnel.route": "ann@bastion -> bob@node",
        "ssh.tunnel.private.keys": "ann.pem,bob.pem",
        "ssh.tunnel.known.hosts": "known_hosts",
    }
    return route_of(given | more, USUAL)


@pytest.mark.parametrize(
    ("said", "seconds"), [("0", USUAL), ("", USUAL), ("  ", USUAL), ("300", 0.3), ("999999999", 600.0)]
)
def test_a_timeout_is_in_milliseconds_and_zero_or_nothing_is_as_usual(said: str, seconds: float) -> None:
    assert a_route(**{TIMEOUT: said}).seconds == seconds
    assert a_route().seconds == USUAL


@pytest.mark.parametrize("said", ["10s", "-1", "1.5", "yes"])
def test_another_timeout_is_refused(said: str) -> None:
    with pytest.raises(InvalidSettings, match=r"ssh\.tunnel\.timeout cannot be read"):
        a_route(**{TIMEOUT: said})


@pytest.mark.parametrize("said", ["yes", "true", "YES", ""])
def test_servers_are_checked_whether_that_is_said_or_not(said: str) -> None:
    assert a_route(**{STRICT: said}) == a_route()


@pytest.mark.parametrize("said", ["no", "false", "ask", "0"])
def test_to_let_servers_pass_unchecked_is_refused(said: str) -> None:
    with pytest.raises(InvalidSettings, match=r"ssh\.tunnel\.strict\.host\.key\.checking is off"):
        a_route(**{STRICT: said})
