"""Small reads are answered as bytes come in, whatever the bytes do: in pieces, together, late, never, or cut off."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hive_metastore import ttypes

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import whole_message
from tests.support.wire.wire_messages import answer, decoded, request, struct_class
from tests.support.wire.wire_metastore import Contents, WireMetastore
from twinhive.core.model.errors import Refused
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.remote_calls import RemoteCalls
from twinhive.hive.wire.thrift_message import STOP, WireMessage, reply, text_field

LIMITS = RemoteLimits(connect=3, call=3, wait=0.2, probe_every=0.3)
Send = Callable[[socket.socket, bytes], None]


def whole(client: socket.socket, raw: bytes) -> None:
    client.sendall(raw)


def byte_by_byte(client: socket.socket, raw: bytes) -> None:
    for one in raw:
        client.sendall(bytes([one]))
        time.sleep(0.0002)


class Far:
    """A metastore with one table, which sends its answers as a test says."""

    def __init__(self) -> None:
        self.send: Send = whole
        self.asked: list[str] = []
        self.table = ttypes.Table(tableName="orders", dbName="sales", parameters={"a": "sales"}, owner="far")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        held = b""
        try:
            while (read := whole_message(client, held)) is not None:
                message, held = read
                if message.head.method == "get_config_value":
                    client.sendall(reply("get_config_value", 0, text_field(0, "") + STOP).raw)
                    continue
                self.asked.append(message.head.method)
                found = answer("get_table_req", ttypes.GetTableResult(self.table))
                head = replace(found.head, sequence=message.head.sequence)
                self.send(client, head.encoded + found.body)
        except OSError:
            pass


class World:
    """A gateway with a remote database `far`, and one client that speaks bytes."""

    def __init__(self, limits: RemoteLimits = LIMITS) -> None:
        self.far, self.local = Far(), WireMetastore(Contents("here"))
        to = {"port": str(self.far.port)}
        defined = Definitions({}, {"far": RemoteDatabase("far", "sales", properties=to)})
        self.gateway = RunningGateway(self.local.port, defined, limits)
        self.client = self.another()
        self.asks(1)

    def another(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.gateway.port), timeout=10)

    def asks(self, sequence: int, client: socket.socket | None = None) -> ttypes.Table:
        """Ask, and return what is answered; the answer has to be to this very call."""
        client = client or self.client
        client.sendall(asked(sequence).raw)
        return taken(client, sequence)

    def close(self) -> None:
        self.client.close()
        self.gateway.stop()
        self.far.close()
        self.local.close()


def asked(sequence: int) -> WireMessage:
    message = request("get_table_req", req=ttypes.GetTableRequest(dbName="far", tblName="orders"))
    head = replace(message.head, sequence=sequence)
    return WireMessage(head, head.encoded + message.body, message.at)


def taken(client: socket.socket, sequence: int, held: bytes = b"") -> ttypes.Table:
    read = whole_message(client, held)
    assert read is not None, "hung up on"
    message, left = read
    assert (message.head.sequence, left) == (sequence, b"")
    result = decoded(struct_class(message), message.body)
    if result.success is None:
        raise result.o1 or result.o2
    return result.success.table


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def test_a_second_read_needs_no_task(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RemoteCalls, "answer", None)
    found = world.asks(2)
    assert (found.dbName, found.parameters["a"], found.owner) == ("far", "sales", "far")
    assert found.parameters["twinhive_remote"] == "sales"
    world.far.table = replace_owner(world.far.table, "another")
    assert world.asks(3).owner == "another"
    assert sum(world.gateway.counts.calls.values()) == 3


def replace_owner(table: ttypes.Table, owner: str) -> ttypes.Table:
    return ttypes.Table(**{**vars(table), "owner": owner})


def test_requests_that_come_together_are_answered_in_turn(world: World) -> None:
    world.client.sendall(b"".join(asked(number).raw for number in range(10, 30)))
    held = b""
    for number in range(10, 30):
        read = whole_message(world.client, held)
        assert read is not None
        message, held = read
        assert message.head.sequence == number


def test_a_request_in_pieces_is_answered(world: World) -> None:
    byte_by_byte(world.client, asked(5).raw)
    assert taken(world.client, 5).dbName == "far"
    first, second = asked(6).raw, asked(7).raw
    world.client.sendall(first + second[:20])
    read = whole_message(world.client)
    assert read is not None and read[0].head.sequence == 6
    world.client.sendall(second[20:])
    assert taken(world.client, 7, read[1]).dbName == "far"


def test_an_answer_in_pieces_is_whole(world: World) -> None:
    world.far.send = byte_by_byte
    for number in range(2, 4):
        assert world.asks(number).dbName == "far"


def test_an_answer_that_only_begins_as_the_last_one_is_answered_as_it_is(world: World) -> None:
    """Up to some byte nothing tells them apart, and they come byte by byte."""
    world.far.table.parameters = {"a": "x" * 300, "b": "1"}
    for sequence in (2, 3):
        assert world.asks(sequence).parameters["b"] == "1"
    world.far.send = byte_by_byte
    for sequence, parameters in ((4, {"a": "x" * 300, "b": "2"}), (5, {"a": "x" * 300}), (6, {"a": "x" * 290})):
        world.far.table.parameters = parameters
        found = world.asks(sequence)
        assert {key: found.parameters.get(key) for key in parameters} == parameters
        assert set(found.parameters) - {"twinhive_remote", "EXTERNAL"} == set(parameters)


def test_a_read_whose_connection_is_lost_is_made_once_more(world: World) -> None:
    def cut(client: socket.socket, raw: bytes) -> None:
        world.far.send = whole
        client.sendall(raw[:30])
        client.close()

    world.far.send = cut
    before = len(world.far.asked)
    assert world.asks(2).dbName == "far"
    assert len(world.far.asked) - before == 2


def test_one_that_is_always_cut_off_is_asked_twice_and_no_more(world: World) -> None:
    world.far.send = lambda client, raw: client.close()
    before = len(world.far.asked)
    with pytest.raises(ttypes.MetaException, match="does not answer"):
        world.asks(2)
    assert len(world.far.asked) - before == 2


def test_a_silent_remote_is_given_up_in_time_and_what_it_says_late_is_nobodys(world: World) -> None:
    late = threading.Event()

    def wait(client: socket.socket, raw: bytes) -> None:
        world.far.send = whole
        late.wait(60)
        client.sendall(raw)

    world.far.send = wait
    began = time.monotonic()
    with pytest.raises(ttypes.MetaException, match=f"no answer within {LIMITS.call} s"):
        world.asks(2)
    assert time.monotonic() - began > 0.9 * LIMITS.call
    late.set()
    assert world.asks(3).dbName == "far"
    assert world.gateway.counts.calls["127.0.0.1:" + str(world.far.port), "get_table_req", "failed"] == 1


def test_an_answer_to_something_else_is_no_answer(world: World) -> None:
    world.far.send = lambda client, raw: client.sendall(reply("get_all_tables", 2).raw)
    with pytest.raises(ttypes.MetaException, match="an answer to get_all_tables"):
        world.asks(2)
    world.far.send = whole
    assert world.asks(3).dbName == "far"


def test_bytes_behind_an_answer_are_no_answer_to_the_next_call(world: World) -> None:
    def twice(client: socket.socket, raw: bytes) -> None:
        client.sendall(raw + reply("get_all_tables", 2).raw)

    world.far.send = twice
    assert world.asks(2).dbName == "far"
    world.far.send = whole
    for number in range(3, 6):
        assert world.asks(number).dbName == "far"


def test_a_client_that_leaves_gives_its_place_back() -> None:
    world = World(replace(LIMITS, calls_at_once=1, call=30.0))
    try:
        gate = threading.Event()
        leaving = world.another()
        world.asks(1, leaving)

        def wait(client: socket.socket, raw: bytes) -> None:
            world.far.send = whole
            gate.wait(10)

        world.far.send = wait
        leaving.sendall(asked(2).raw)
        while world.far.send is wait:
            time.sleep(0.01)
        with pytest.raises(ttypes.MetaException, match="1 calls are under way"):
            world.asks(3)
        leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        leaving.close()
        deadline = time.monotonic() + 10
        while True:
            try:
                assert world.asks(4).dbName == "far"
                break
            except ttypes.MetaException:
                assert time.monotonic() < deadline
        gate.set()
    finally:
        world.close()


def test_what_may_not_be_reached_any_more_is_refused_within_a_second(world: World) -> None:
    def refused(definition: object) -> object:
        raise Refused("remote far may not be reached")

    assert world.asks(2).dbName == "far"
    world.gateway.remotes._reached = refused  # type: ignore[assignment]
    deadline = time.monotonic() + 5
    with pytest.raises(ttypes.MetaException, match="may not be reached"):
        while time.monotonic() < deadline:
            world.asks(3)
    assert time.monotonic() < deadline


def test_a_name_that_stands_for_another_remote_is_not_answered_by_the_first(world: World) -> None:
    assert world.asks(2).owner == "far"
    other = Far()
    other.table = replace_owner(other.table, "other")
    to = {"port": str(other.port)}
    world.gateway.definitions = Definitions({}, {"far": RemoteDatabase("far", "sales", properties=to)})
    assert world.asks(3).owner == "other"
    other.close()
