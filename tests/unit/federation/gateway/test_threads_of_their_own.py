"""What hangs for one port delays no other one, nobody's definitions, no view, and not the end of the gateway."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_messages import request
from tests.support.wire.wire_metastore import Contents, WireMetastore, client_of
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase
from twinhive.federation.cluster_view.cluster_port import MOST_CALLS, ClusterPort, DefaultPort
from twinhive.federation.cluster_view.request_admission import Asks, PortCall, Refusal
from twinhive.federation.cluster_view.visibility_rules import Sight
from twinhive.federation.gateway.remote_definitions.definition_cache import DefinitionCache
from twinhive.federation.routing.freshness import Freshness
from twinhive.hive.wire.thrift_message import STOP, WireMessage, reply

NORTH = Sight("north", {"east": "hdfs://east", "north": "hdfs://north"}, "east", ())
_HANGS = 10.0


class Hang:
    """Calls that get no answer until the test has ended."""

    def __init__(self) -> None:
        self.gate, self.begun = threading.Event(), 0

    def call(self) -> Any:
        self.begun += 1
        self.gate.wait(_HANGS)
        raise ConnectionError("no answer")


@pytest.fixture
def hang() -> Iterator[Hang]:
    hang = Hang()
    yield hang
    hang.gate.set()


def asked_at(port: ClusterPort, times: int) -> list[asyncio.Task[Any]]:
    answer: WireMessage = reply("get_table_req", 0, STOP)
    return [asyncio.create_task(port.shown(answer)) for _ in range(times)]


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


async def in_time(awaited: Coroutine[Any, Any, Any]) -> Any:
    async with asyncio.timeout(_HANGS / 2):
        return await awaited


def test_a_file_system_that_hangs_for_one_port_delays_nobody_elsewhere(hang: Hang) -> None:
    async def tried() -> None:
        hanging = asked_at(ClusterPort(InMemoryMetastore(), NORTH, hang.call), 3 * MOST_CALLS)
        await in_time(until(lambda: hang.begun == MOST_CALLS))
        assert await in_time(DefinitionCache(lambda: "defined", time.monotonic).current()) == "defined"
        world = InMemoryMetastore()
        other = ClusterPort(world, NORTH, lambda: Freshness(world, None))
        await in_time(until(asked_at(other, 1)[0].done))
        own = DefaultPort(InMemoryMetastore(), NORTH)
        assert await in_time(own.threads.run(lambda: "checked")) == "checked"
        assert hang.begun == MOST_CALLS
        for one in hanging:
            one.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    asyncio.run(tried())


def test_what_needs_no_server_is_let_in_while_all_threads_of_its_port_hang(hang: Hang) -> None:
    async def tried() -> None:
        port = ClusterPort(InMemoryMetastore(), NORTH, hang.call)
        hanging = asked_at(port, MOST_CALLS)
        await in_time(until(lambda: hang.begun == MOST_CALLS))
        asking = request("get_all_databases")
        assert await in_time(port.admitted(PortCall(asking, Asks.READ))) is asking
        with pytest.raises(Refusal, match="ask at the gateway's own port"):
            await in_time(port.admitted(PortCall(request("get_next_notification"), Asks.OTHER)))
        for one in hanging:
            one.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    asyncio.run(tried())


def test_it_delays_no_view_of_a_remote(hang: Hang) -> None:
    far, local = Contents("far"), Contents("local")
    far.add("sales", "orders")
    far.add_view("sales", "v", "select * from sales.orders")
    servers = [WireMetastore(contents) for contents in (far, local)]
    defined = RemoteDatabase("far", "sales", properties={"port": str(servers[0].port)})
    gateway = RunningGateway(servers[1].port, Definitions(databases={"far": defined}))

    def block() -> None:
        asked_at(ClusterPort(InMemoryMetastore(), NORTH, hang.call), 3 * MOST_CALLS)

    gateway._loop.call_soon_threadsafe(block)
    try:
        with client_of(gateway.port, _HANGS / 2) as client:
            text = client.get_table_req(ttypes.GetTableRequest("far", "v")).table.viewExpandedText
            assert "far" in text
    finally:
        hang.gate.set()
        gateway.stop()


def test_the_gateway_ends_while_threads_wait_for_servers(hang: Hang) -> None:
    async def served() -> None:
        cache = DefinitionCache(hang.call, time.monotonic)
        reading = asyncio.create_task(cache.current())
        asked = asked_at(ClusterPort(InMemoryMetastore(), NORTH, hang.call), 1)
        await until(lambda: hang.begun == 2)
        for one in (reading, *asked):
            one.cancel()

    began = time.monotonic()
    asyncio.run(served())
    assert time.monotonic() - began < _HANGS / 2
