"""What a gateway keeps under names that clients send has a bound: methods, users, settings, gateways, addresses."""

import asyncio
import socket
from contextlib import closing

import pytest

from tests.support.servers.running_gateway import RunningGateway, opening
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from tests.support.wire.wire_messages import request
from twinhive.core.model.remotes.definitions import Definition, RemoteDatabase
from twinhive.federation.gateway.client_identity import MOST_SAID_BYTES
from twinhive.federation.gateway.gateway_metrics import CallCounts, Ending, prometheus_text
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.loop_detection import Chain, chain_call, chain_of
from twinhive.federation.gateway.remote_pool import MOST_KNOWN, ReachedRemote, RemotePool
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, reply, text_field


def asked(client: socket.socket, message: WireMessage) -> str | None:
    """Return what an error says, None for an answer."""
    client.sendall(message.raw)
    read = whole_message(client)
    assert read is not None
    return error_text(read[0])


def test_methods_that_nobody_knows_are_counted_as_one() -> None:
    gateway = RunningGateway(1)
    with closing(socket.create_connection(("127.0.0.1", gateway.port), timeout=20)) as client:
        for number in range(300):
            assert "does not know" in (asked(client, call(f"of_tomorrow_{number}", number)) or "")
    gateway.stop()
    assert gateway.counts.calls == {("local", "unknown", Ending.REFUSED): 300}
    assert "of_tomorrow" not in prometheus_text(gateway.counts)


def test_methods_of_old_clients_keep_their_names() -> None:
    here = AnsweringMetastore(lambda message: reply(message.head.method, message.head.sequence).raw)
    gateway = RunningGateway(here.port)
    with closing(socket.create_connection(("127.0.0.1", gateway.port), timeout=20)) as client:
        asked(client, request("get_table", dbname="shop", tbl_name="orders"))
    gateway.stop()
    here.close()
    assert {method for _, method, _ in gateway.counts.calls} == {"get_table"}


@pytest.mark.parametrize("method", ["set_ugi", "setMetaConf"])
def test_more_than_a_user_or_a_setting_needs_is_not_kept_and_not_sent(method: str) -> None:
    sent: list[str] = []

    def answer(message: WireMessage) -> bytes:
        sent.append(message.head.method)
        return reply(message.head.method, message.head.sequence).raw

    def said(text: str) -> WireMessage:
        if method == "set_ugi":
            return request("set_ugi", user_name="ann", group_names=[text])
        return request("setMetaConf", key="metaconf:x", value=text)

    here = AnsweringMetastore(answer)
    gateway = RunningGateway(here.port)
    with closing(socket.create_connection(("127.0.0.1", gateway.port), timeout=20)) as client:
        assert "nothing was sent" in (asked(client, said("x" * MOST_SAID_BYTES)) or "")
        assert sent == []
        assert asked(client, said("x" * (MOST_SAID_BYTES - 100))) is None
    gateway.stop()
    here.close()
    assert sent == [method]


def test_a_chain_of_gateways_that_none_has_said_is_a_setting_like_any_other() -> None:
    real = chain_call(Chain(("a" * 100, "b" * 100, "c" * 100, "d" * 100)))
    assert chain_of(real) is not None
    assert chain_of(chain_call(Chain(("a" * 5_000,)))) is None


def test_a_circle_of_gateways_is_not_what_the_client_came_through() -> None:
    """It is refused, and what it says is told to nobody."""
    there: list[WireMessage] = []

    def answer(message: WireMessage) -> bytes:
        there.append(message)
        return reply(message.head.method, message.head.sequence, text_field(0, "") + STOP).raw

    remote = AnsweringMetastore(answer)
    gateway = RunningGateway(1)
    far = RemoteDatabase("far", "sales", properties={"port": str(remote.port)})
    gateway.definitions = type(gateway.definitions)({}, {"far": far})
    with closing(socket.create_connection(("127.0.0.1", gateway.port), timeout=20)) as client:
        assert "a circle of gateways" in (asked(client, chain_call(Chain(("this", "x" * 1_000)))) or "")
        asked(client, request("get_all_tables", db_name="far"))
    gateway.stop()
    remote.close()
    chains = [chain for message in there if (chain := chain_of(message)) is not None]
    assert chains == [Chain(("this",))]


def test_addresses_that_no_name_leads_to_any_more_are_forgotten() -> None:
    def reached(definition: Definition) -> ReachedRemote:
        return ReachedRemote(definition.local, str(definition.local), None, opening(1))

    async def grown() -> tuple[RemotePool, CallCounts]:
        counts = CallCounts()
        pool = RemotePool(reached, RemoteLimits(failures=1), counts, lambda: 0.0, lambda: 0.0)
        down = pool.of(RemoteDatabase("down", "sales"))
        down.guard.breaker.failed("away")
        pool.note(down)
        for number in range(5 * MOST_KNOWN):
            one = pool.of(RemoteDatabase(f"far{number}", "sales"))
            counts.ended(one.name, "get_table_req", Ending.ANSWERED, 0.1)
        return pool, counts

    pool, counts = asyncio.run(grown())
    assert [remote.name for remote in pool.open_ones()] == ["down"]
    assert len(pool._known) <= MOST_KNOWN
    assert len(counts.tallies) <= MOST_KNOWN
    assert list(counts.breakers) == ["down"]
