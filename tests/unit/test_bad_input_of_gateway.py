"""Whatever comes to a gateway's port: one line of the log, nobody is asked, and the next client is served."""

import logging
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hive_metastore import ttypes

from tests.bad_input.wire_cases import WIRE_CASES
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.wire_metastore import Contents, WireMetastore, client_of
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase
from twinhive.hive.wire.thrift_message import WireMessage, call


class World:
    """A local metastore and a remote, and the gateway."""

    def __init__(self) -> None:
        self.here, self.there = Contents("here"), Contents("there")
        self.local, self.remote = WireMetastore(self.here), WireMetastore(self.there)
        far = RemoteDatabase("far", "sales", properties={"port": str(self.remote.port)})
        self.gateway = RunningGateway(self.local.port, Definitions({}, {"far": far}))

    @property
    def asked(self) -> int:
        """How many calls both metastores got."""
        return sum(self.here.asked.values()) + sum(self.there.asked.values())

    def close(self) -> None:
        self.gateway.stop()
        self.local.close()
        self.remote.close()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


@pytest.mark.parametrize(("sent", "says"), [case[1:] for case in WIRE_CASES], ids=[case[0] for case in WIRE_CASES])
def test_what_is_no_call_is_one_line_and_asks_nobody(
    world: World, sent: bytes, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked, foreign = world.asked, world.gateway.counts.foreign
    with caplog.at_level(logging.INFO), socket.create_connection(("127.0.0.1", world.gateway.port), timeout=20) as raw:
        raw.sendall(sent)
        with suppress(ConnectionResetError):
            assert raw.recv(100) == b"", "it was answered"
    [line] = [one for one in caplog.records if "connection is closed" in one.getMessage()]
    assert line.exc_info is None and "\n" not in f"{vars(line)['error']}"
    assert says in vars(line)["error"]
    assert (world.asked, world.gateway.counts.foreign) == (asked, foreign + 1)
    with client_of(world.gateway.port) as client:
        assert client.get_all_databases()


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (call("get_table_of_tomorrow", 1), "does not know get_table_of_tomorrow"),
        (call("setOption", 1, b"\x0b\0\1\0\0\0\1a\x0b\0\2\0\0\0\1b\0"), "would end or change the metastore"),
    ],
    ids=["a method that nobody knows", "a method that changes it for all"],
)
def test_a_call_that_is_not_made_is_an_error_in_one_line_and_asks_nobody(
    world: World, message: WireMessage, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = world.asked
    with caplog.at_level(logging.INFO), socket.create_connection(("127.0.0.1", world.gateway.port), timeout=20) as raw:
        raw.sendall(message.raw)
        assert says.encode() in raw.recv(1_000)
    [line] = [one for one in caplog.records if "call is refused" in one.getMessage()]
    assert line.exc_info is None
    assert world.asked == asked


def test_a_write_to_a_remote_is_an_error_in_one_line_and_asks_nobody(world: World) -> None:
    with client_of(world.gateway.port) as client:
        client.get_all_databases()
        asked = world.asked
        with pytest.raises(ttypes.MetaException, match=r"remote far\.orders is read only") as failed:
            client.truncate_table("far", "orders", [])
        assert "\n" not in failed.value.message
    assert world.asked == asked
