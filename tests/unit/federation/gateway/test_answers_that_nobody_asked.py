"""A remote that says more than it was asked, or something else: no client takes that for the answer to its own call."""

import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from tests.support.servers.breaking_server import BreakingServer
from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import whole_message
from tests.support.wire.wire_messages import request
from tests.support.wire.wire_metastore import Contents, WireMetastore
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.struct_edits import error_text, texts_at
from twinhive.hive.wire.thrift_message import (
    STOP,
    Head,
    MessageKind,
    WireMessage,
    message_with,
    read_head,
    reply,
    text_field,
    texts_field,
)
from twinhive.hive.wire.thrift_skip import Short, end_of


def _calls(data: bytes) -> Iterator[WireMessage]:
    """Read calls that came together."""
    while (read := read_head(data)) is not None:
        try:
            end = end_of(data, read[1])
        except Short:
            return
        yield WireMessage(read[0], data[:end], read[1])
        data = data[end:]


class Remote:
    """Answers `get_all_tables` with one name, the number of the call, and what a test puts behind that."""

    def __init__(self) -> None:
        self.calls = 0
        self.kind, self.off, self.behind = MessageKind.REPLY, 0, 0
        self.says_the_last_again, self.bytes = False, 0
        self._last = b""
        self.server = BreakingServer(self._answers)

    def _answers(self, data: bytes) -> list[bytes | None]:
        return [part for one in _calls(data) for part in self._answer(one)]

    def _answer(self, asked: WireMessage) -> Iterator[bytes | None]:
        if asked.head.method == "get_config_value":  # how gateways greet
            yield reply(asked.head.method, asked.head.sequence, text_field(0, "") + STOP).raw
            return
        self.calls += 1
        last, self._last = self._last, self._of(asked, f"call {self.calls}", self.off)
        if self.says_the_last_again:
            self.says_the_last_again = False  # the call that is made again is on another connection
            yield last
        yield self._last
        yield from [self._of(asked, "of another call", self.off)] * self.behind

    def _of(self, asked: WireMessage, name: str, off: int) -> bytes:
        head = Head(self.kind, asked.head.method, asked.head.sequence + off)
        return message_with(head, texts_field(0, [name, "x" * self.bytes]) + STOP).raw


@contextmanager
def running(remote: Remote, age: float) -> Iterator[RunningGateway]:
    local = WireMetastore(Contents("here"))
    far = RemoteDatabase("far", "sales", properties={"port": str(remote.server.port)})
    limits = RemoteLimits(connect=30.0, call=30.0, wait=30.0, buffered=1 << 20)
    gateway = RunningGateway(local.port, Definitions({}, {"far": far}), limits, definitions_age=age)
    try:
        yield gateway
    finally:
        gateway.stop()
        local.close()
        remote.server.close()


def asked(client: socket.socket, number: int = 1) -> str:
    """Ask for the tables of the remote; return the name, or the text of the error."""
    message = request("get_all_tables", db_name="far")
    client.sendall(message_with(replace(message.head, sequence=number), message.body).raw)
    read = whole_message(client)
    assert read is not None
    answer, left = read
    assert (answer.head.sequence, left) == (number, b"")
    return error_text(answer) or (texts_at(answer, (0,)) or ("",))[0]


AGES = pytest.mark.parametrize("age", [60.0, 0.0], ids=["small reads are quick", "none is"])


@AGES
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("step", [1, 0, -1], ids=["Java", "Python, which numbers no call", "numbers that fall"])
def test_what_comes_behind_an_answer_is_not_the_next_ones(age: float, waits: bool, step: int) -> None:
    remote = Remote()
    with running(remote, age) as gateway, closing(socket.create_connection(("127.0.0.1", gateway.port))) as client:
        assert asked(client) == "call 1"
        remote.behind = 1
        for number in range(2, 8):
            assert asked(client, 1 + (number - 1) * step).startswith("call ")
            time.sleep(0.1 * waits)


@pytest.mark.thorough
@AGES
@pytest.mark.parametrize("length", [0, 1 << 17, 3 << 20], ids=["short", "in pieces", "handed on while it comes"])
@pytest.mark.parametrize("number", [0, -7, (1 << 31) - 1, -(1 << 31)])
def test_an_answer_that_comes_again_is_not_the_next_ones(age: float, length: int, number: int) -> None:
    """The client gives all its calls one number; the remote says its last answer again before the next one."""
    remote = Remote()
    with running(remote, age) as gateway, closing(socket.create_connection(("127.0.0.1", gateway.port))) as client:
        assert asked(client, number) == "call 1"
        remote.bytes = length
        assert [asked(client, number) for _ in range(2)] == ["call 2", "call 3"]
        for _ in range(2):
            remote.says_the_last_again = True
            assert asked(client, number) == f"call {remote.calls}"
            assert not remote.says_the_last_again


@AGES
@pytest.mark.parametrize("off", [1, -1, 1 << 20])
def test_an_answer_to_a_call_of_another_number_is_none(age: float, off: int) -> None:
    remote = Remote()
    with running(remote, age) as gateway, closing(socket.create_connection(("127.0.0.1", gateway.port))) as client:
        assert asked(client) == "call 1"
        remote.off = off
        assert "does not answer: an answer to call" in asked(client)
        remote.off = 0
        assert asked(client).startswith("call ")


@AGES
@pytest.mark.parametrize("kind", [MessageKind.CALL, MessageKind.ONEWAY])
def test_a_call_is_no_answer(age: float, kind: MessageKind) -> None:
    remote = Remote()
    remote.kind = kind
    with running(remote, age) as gateway, closing(socket.create_connection(("127.0.0.1", gateway.port))) as client:
        for _ in range(2):
            assert f"does not answer: a {kind.name}, where an answer was expected" in asked(client)
