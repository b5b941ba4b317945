"""A remote that is well again is found to be, though no client calls it; one that nobody names is forgotten."""

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hive_metastore import ttypes

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_metastore import Contents, WireMetastore, client_of
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase
from twinhive.federation.gateway.isolation import BreakerState, RemoteLimits

LIMITS = RemoteLimits(connect=0.5, call=0.5, wait=0.2, probe_every=0.2)


class World:
    """A gateway with one remote that is down, and has been called until its breaker opened."""

    def __init__(self) -> None:
        self.local, self._held = WireMetastore(Contents("here")), socket.socket()
        # Nobody listens there, and nobody else is given it meanwhile.
        self._held.bind(("127.0.0.1", 0))
        self.port = self._held.getsockname()[1]
        self.far = RemoteDatabase("far", "default", properties={"port": str(self.port)})
        self.gateway = RunningGateway(
            self.local.port, Definitions(databases={"far": self.far}), limits=LIMITS, asks_again=True
        )
        with client_of(self.gateway.port) as client:
            for _ in range(LIMITS.failures):
                with pytest.raises(ttypes.MetaException, match="does not answer"):
                    client.get_all_tables("far")
        assert self.breaker()[0] is BreakerState.OPEN

    def breaker(self) -> tuple[BreakerState, float | None, str]:
        return self.gateway.counts.breakers[f"127.0.0.1:{self.port}"]

    def come_back(self, contents: Contents) -> WireMetastore:
        """Let the remote be there."""
        self._held.close()
        return WireMetastore(contents, self.port)

    def close(self) -> None:
        self._held.close()
        self.gateway.stop()
        self.local.close()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it never was")


def test_a_remote_that_is_well_again_is_known_to_be_without_a_call(world: World) -> None:
    contents = Contents("there")
    there = world.come_back(contents)
    try:
        until(lambda: world.breaker()[:2] == (BreakerState.CLOSED, None))
        assert contents.asked["get_database_req"] == 1
        time.sleep(LIMITS.probe_every * 3)
        assert contents.asked["get_database_req"] == 1, "who answers is not asked any more"
    finally:
        there.close()


def test_one_that_stays_away_stays_open_with_its_first_failure_as_since(world: World) -> None:
    since = world.breaker()[1]
    time.sleep(LIMITS.probe_every * 4)
    state, now, _ = world.breaker()
    assert state in (BreakerState.OPEN, BreakerState.PROBING)
    assert since is not None and now == pytest.approx(since, abs=0.1)


def test_one_that_is_silent_is_asked_within_bounds_and_holds_nobody_up(world: World) -> None:
    silent = Contents("silent")
    silent.gate.clear()
    there = world.come_back(silent)
    try:
        until(lambda: silent.asked["get_database_req"] >= 2)
        with client_of(world.gateway.port) as client:
            assert client.get_all_databases() == ["default"]
        assert world.breaker()[0] is not BreakerState.CLOSED
    finally:
        silent.gate.set()
        there.close()


def test_one_that_nothing_leads_to_any_more_is_forgotten_and_never_asked(world: World) -> None:
    contents = Contents("there")
    world.gateway.definitions = Definitions()
    until(lambda: not world.gateway.counts.breakers)
    there = world.come_back(contents)
    try:
        time.sleep(LIMITS.probe_every * 3)
        assert not contents.asked
        world.gateway.definitions = Definitions(databases={"far": replace(world.far)})
        with client_of(world.gateway.port) as client:
            assert client.get_all_tables("far") == []
    finally:
        there.close()


def test_another_name_that_leads_there_is_enough(world: World) -> None:
    other = replace(world.far, local="other")
    world.gateway.definitions = Definitions(databases={"other": other})
    there = world.come_back(Contents("there"))
    try:
        until(lambda: world.breaker()[:2] == (BreakerState.CLOSED, None))
    finally:
        there.close()
