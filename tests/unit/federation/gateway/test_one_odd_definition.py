"""What one definition, or one connector of somebody's own, does wrong is trouble of its own remotes alone."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.policies import PolicyFiles
from twinhive.core.model.connections import Connection, parse_connection
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase
from twinhive.federation.connector_api.catalogs import ConnectorPlace
from twinhive.federation.connectors import registry
from twinhive.federation.gateway.breaker_probes import ask_again
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.isolation import BreakerState, RemoteLimits
from twinhive.federation.gateway.remote_definitions.definition_cache import DefinitionCache
from twinhive.federation.gateway.remote_pool import ReachedRemote, RemotePool
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring

FAR = RemoteDatabase("far", "sales", properties={"hive.metastore.uris": "thrift://third:9083"})
ODD = RemoteDatabase("odd", "sales", "own", {})


class Own:
    """Reads a property as people do who have only ever seen definitions that have it."""

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        return ConnectorPlace.at(properties["own.address"])

    async def open(self, properties: Mapping[str, str]) -> Any:
        raise OSError

    async def close(self) -> None:
        """Hold nothing."""


class Textual(Own):
    """Returns an address as text."""

    def place(self, properties: Mapping[str, str]) -> Any:
        return "own:there"


@pytest.fixture(params=[Own, Textual])
def wiring(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemotesWiring:
    class Point:
        name, value = "own", "own:Own"

        def load(self) -> type:
            kind: type = request.param
            return kind

    monkeypatch.setattr(registry, "offered", lambda: (Point(),))
    policies = PolicyFiles(tmp_path / "configuration")
    policies.write("remotes.yaml", {"allow": [{"addresses": ["thrift://third:9083"]}]})
    return RemotesWiring(load_configuration(policies.directory), "east", _resolved)


def _resolved(name: str) -> Connection:
    return parse_connection(name, '{"host": "h", "port": 9083}')


def test_others_are_read_and_reached(wiring: RemotesWiring) -> None:
    counts = CallCounts()
    defined = Definitions({}, {"odd": ODD, "far": FAR})
    assert wiring._noted(lambda: defined, counts)() is defined
    assert counts.names["odd"][1:] == ("", "a remote's connector cannot read its properties")
    assert counts.names["far"][2] == ""


def test_its_own_clients_are_told(wiring: RemotesWiring) -> None:
    with pytest.raises(InvalidSettings, match="cannot read its properties"):
        wiring.reached(ODD)
    assert wiring.reached(FAR).name


def test_who_asks_again_goes_on_after_whatever_reading_raises() -> None:
    asked: list[float] = []

    def read() -> Definitions:
        asked.append(time.monotonic())
        raise ValueError("an answer that nobody thought of")

    async def twice() -> bool:
        pool = RemotePool(
            lambda _: ReachedRemote("key", "name", None, None),
            RemoteLimits(probe_every=0.01),
            CallCounts(),
            time.monotonic,
            time.time,
        )
        remote = pool.of(FAR)
        for _ in range(pool.limits.failures):
            remote.guard.breaker.failed("away")
        assert remote.guard.breaker.state is BreakerState.OPEN
        cache = DefinitionCache(read, time.monotonic)
        task = asyncio.create_task(ask_again(Shared("id", None, cache, pool, CallCounts(), time.monotonic)))
        while len(asked) < 2 and not task.done():
            await asyncio.sleep(0.01)
        ended = task.done()
        task.cancel()
        return ended

    assert not asyncio.run(asyncio.wait_for(twice(), 60))
