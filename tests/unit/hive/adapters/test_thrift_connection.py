"""Talk to a small Thrift server in this process, which can misbehave in the ways that matter."""

import os
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore.ttypes import (
    AlreadyExistsException,
    Database,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from thrift.transport.TTransport import TTransportException

from tests.support.hive.thrift_server import Server, serving
from twinhive.core.model import objects
from twinhive.core.model.errors import AlreadyThere, Missing, Refused, Unexplained, Unreachable, Unwell
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.hive.adapters.hive.thrift_connection import Request
from twinhive.hive.adapters.hive.thrift_failover import Connections


class Behaviour:
    """Handle the few calls that the tests make, and count them."""

    def __init__(self) -> None:
        self.users: list[str] = []
        self.databases: list[str] = []
        self.seconds = 0.0
        self.seconds_of_ugi = 0.0
        self.hangs_up = 0
        self.raises: Exception | None = None
        self.is_sick = False

    def set_ugi(self, user: str, groups: list[str]) -> list[str]:
        self.users.append(user)
        time.sleep(self.seconds_of_ugi)
        return [user]

    def get_metastore_db_uuid(self) -> str:
        if self.raises is None or self.is_sick:
            self._misbehave()
        return f"log of {threading.get_ident()}"

    def get_database(self, name: str) -> Database:
        self._misbehave()
        return Database(name=name)

    def create_database(self, database: Database) -> None:
        self.databases.append(database.name)
        self._misbehave()

    def _misbehave(self) -> None:
        time.sleep(self.seconds)
        if self.hangs_up:
            self.hangs_up -= 1
            raise TTransportException(message="hang up without an answer")
        if self.raises:
            raise self.raises


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Behaviour()) as server:
        yield server


@pytest.fixture
def other_server() -> Iterator[Server]:
    with serving(Behaviour()) as server:
        yield server


@pytest.fixture
def dead_address() -> Iterator[tuple[str, int]]:
    """Keep a port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()


@pytest.fixture
def silent_address() -> Iterator[tuple[str, int]]:
    """Keep a port that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        yield listening.getsockname()


def metastore_at(*addresses: tuple[str, int], timeout_seconds: float = 5.0, user: str | None = None) -> ThriftMetastore:
    return ThriftMetastore(addresses, timeout_seconds, user)


class Foreign(socketserver.StreamRequestHandler):
    """A proxy in the way: whatever comes, it answers in another protocol."""

    def handle(self) -> None:
        """Answer once."""
        self.request.recv(1_000)
        self.wfile.write(b"\x82\x21\x01\x00" * 10)


def a_database(name: str = "d") -> objects.Database:
    return objects.Database(name, None, None, {}, "{}")


def test_the_user_is_set_before_anything_else(server: Server) -> None:
    metastore = metastore_at(server.address, user="anna")
    metastore.log_id()
    metastore.log_id()
    assert server.behaviour.users == ["anna"]


def test_reads_fail_over_and_stay_where_an_answer_came_from(server: Server, dead_address: tuple[str, int]) -> None:
    metastore = metastore_at(dead_address, server.address)
    assert metastore.log_id()
    started = time.monotonic()
    for _ in range(20):
        metastore.log_id()
    assert time.monotonic() - started < 0.5
    assert len(server.conversations) == 1


def test_reads_are_repeated_elsewhere_when_the_answer_is_lost(server: Server, other_server: Server) -> None:
    server.behaviour.hangs_up = 1
    metastore = metastore_at(server.address, other_server.address)
    assert metastore.log_id()
    assert len(other_server.conversations) == 1


def test_reads_come_back_to_a_single_address(server: Server) -> None:
    server.behaviour.hangs_up = 2
    assert metastore_at(server.address).log_id()


def test_writes_connect_to_the_address_that_answers(server: Server, dead_address: tuple[str, int]) -> None:
    metastore_at(dead_address, server.address).create_database(a_database())
    assert server.behaviour.databases == ["d"]


def test_writes_are_sent_once(server: Server, other_server: Server) -> None:
    server.behaviour.hangs_up = 1
    metastore = metastore_at(server.address, other_server.address)
    with pytest.raises(Unreachable, match="may or may not have happened"):
        metastore.create_database(a_database())
    assert (server.behaviour.databases, other_server.behaviour.databases) == (["d"], [])


def test_a_connection_that_the_server_closed_is_not_written_to(server: Server) -> None:
    metastore = metastore_at(server.address)
    metastore.log_id()
    server.conversations[0].shutdown(socket.SHUT_RDWR)
    time.sleep(0.05)
    metastore.create_database(a_database())
    assert server.behaviour.databases == ["d"]


def test_nobody_listens(dead_address: tuple[str, int]) -> None:
    other = ("127.0.0.1", dead_address[1])
    with pytest.raises(Unreachable, match=f"127.0.0.1:{dead_address[1]}.*, 127.0.0.1") as raised:
        metastore_at(dead_address, other).log_id()
    assert "refused" in str(raised.value.found)


def test_nobody_answers(silent_address: tuple[str, int]) -> None:
    metastore = metastore_at(silent_address, timeout_seconds=0.3)
    for call in (metastore.log_id, lambda: metastore.create_database(a_database())):
        started = time.monotonic()
        with pytest.raises(Unreachable):
            call()
        assert time.monotonic() - started < 1.0


def test_all_of_a_write_is_over_in_the_time_that_another_holder_waits(server: Server) -> None:
    server.behaviour.seconds_of_ugi = server.behaviour.seconds = 0.4
    metastore = metastore_at(server.address, timeout_seconds=0.6, user="anna")
    with pytest.raises(Unreachable, match="may or may not have happened"):
        metastore.create_database(a_database())
    # A read may take that long for each of the two.
    assert metastore_at(server.address, timeout_seconds=0.6, user="anna").log_id()


def test_a_write_that_finds_no_address_in_time_is_not_sent(server: Server, silent_address: tuple[str, int]) -> None:
    metastore = metastore_at(silent_address, server.address, timeout_seconds=0.3, user="anna")
    with pytest.raises(Unreachable, match="no metastore answered"):
        metastore.create_database(a_database())
    assert server.behaviour.databases == []


def test_a_connection_on_which_was_written_waits_for_reads_as_long_as_any(server: Server) -> None:
    server.behaviour.seconds_of_ugi = 0.4
    metastore = metastore_at(server.address, timeout_seconds=0.6, user="anna")
    metastore.create_database(a_database())
    server.behaviour.seconds = 0.4
    assert metastore.database("d") is not None
    assert len(server.conversations) == 1


def test_a_slow_answer_is_not_taken_for_the_next_one(server: Server) -> None:
    metastore = metastore_at(server.address, timeout_seconds=0.3)
    server.behaviour.seconds = 0.6
    with pytest.raises(Unreachable):
        metastore.database("slow")
    server.behaviour.seconds = 0.0
    time.sleep(0.5)
    database = metastore.database("quick")
    assert database is not None and database.name == "quick"


def test_an_interrupted_call_leaves_no_answer_behind(server: Server) -> None:
    connections = Connections([server.address], 5.0)

    def interrupted(client: Any) -> None:
        client.send_get_database("stale")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connections.read(Request("being interrupted", interrupted))
    assert connections.read(Request("reading", lambda client: client.get_database("fresh"))).name == "fresh"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (MetaException("no"), Unexplained),
        (InvalidObjectException("no"), Refused),
        (AlreadyExistsException("no"), AlreadyThere),
        (RuntimeError("the server stumbled"), Unexplained),
    ],
)
def test_refusals_name_the_object_the_server_and_its_message(
    server: Server, answer: Exception, error: type[Exception]
) -> None:
    server.behaviour.raises = answer
    with pytest.raises(error, match=r"creating database sales.*127\.0\.0\.1") as raised:
        metastore_at(server.address).create_database(a_database("sales"))
    assert type(raised.value) is error
    assert raised.value.next_step  # type: ignore[attr-defined]
    assert server.behaviour.databases == ["sales"]


SOME_REFUSALS = (
    MetaException("Permission denied: user [ann] does not have [ALTER] privilege on [sales]"),
    MetaException("java.io.FileNotFoundException: File does not exist: hdfs://east/jars/old.jar"),
    InvalidOperationException("Unable to change partition or table. Check metastore logs for detailed stack."),
    RuntimeError("Internal error, of which Thrift tells nothing"),
)


@pytest.mark.parametrize("answer", SOME_REFUSALS, ids=str)
def test_what_a_well_server_cannot_do_is_a_refusal_of_the_request(server: Server, answer: Exception) -> None:
    server.behaviour.raises = answer
    with pytest.raises(Refused):
        metastore_at(server.address).create_database(a_database())


@pytest.mark.parametrize("answer", SOME_REFUSALS, ids=str)
def test_what_a_server_cannot_do_that_answers_nothing_else_is_tried_again(server: Server, answer: Exception) -> None:
    server.behaviour.raises, server.behaviour.is_sick = answer, True
    with pytest.raises(Unwell, match=r"creating database d.*127\.0\.0\.1.*could not do it now") as raised:
        metastore_at(server.address).create_database(a_database())
    assert "If it goes on, look at" in str(raised.value)
    assert server.behaviour.databases == ["d"]


def test_a_server_that_hangs_up_when_it_is_asked_how_it_is_is_tried_again(server: Server) -> None:
    server.behaviour.raises, server.behaviour.is_sick, server.behaviour.hangs_up = MetaException("what"), True, 0
    metastore = metastore_at(server.address)
    server.behaviour.get_metastore_db_uuid = _hang_up
    with pytest.raises(Unwell):
        metastore.create_database(a_database())


def _hang_up() -> str:
    raise TTransportException(message="hang up without an answer")


PASSING = MetaException("Put request failed: ERROR: deadlock detected")


def test_reads_are_repeated_elsewhere_when_one_cannot_do_it_now(server: Server, other_server: Server) -> None:
    server.behaviour.raises = PASSING
    metastore = metastore_at(server.address, other_server.address)
    assert metastore.database("d") is not None
    assert metastore.database("d") is not None
    assert len(other_server.conversations) == 1


def test_writes_that_could_not_be_done_now_are_sent_once(server: Server, other_server: Server) -> None:
    server.behaviour.raises = PASSING
    with pytest.raises(Unwell):
        metastore_at(server.address, other_server.address).create_database(a_database())
    assert (server.behaviour.databases, other_server.behaviour.databases) == (["d"], [])


def test_a_connection_whose_server_could_not_do_it_is_not_used_again(server: Server) -> None:
    metastore = metastore_at(server.address)
    server.behaviour.raises = PASSING
    with pytest.raises(Unwell):
        metastore.create_database(a_database())
    server.behaviour.raises = None
    metastore.log_id()
    assert len(server.conversations) == 2


def test_missing_objects(server: Server) -> None:
    server.behaviour.raises = NoSuchObjectException("no")
    metastore = metastore_at(server.address)
    assert metastore.database("d") is None
    with pytest.raises(Missing, match="database d"):
        metastore.set_database_parameters("d", {})


def test_a_refusal_keeps_the_connection(server: Server) -> None:
    metastore = metastore_at(server.address)
    server.behaviour.raises = NoSuchObjectException("no")
    metastore.database("d")
    metastore.database("d")
    assert len(server.conversations) == 1


def test_something_else_listens() -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Chatter) as chatter:
        threading.Thread(target=chatter.serve_forever, args=(0.01,), daemon=True).start()
        with pytest.raises((Refused, Unreachable), match="127"):
            metastore_at(("127.0.0.1", chatter.server_address[1]), timeout_seconds=1.0).log_id()
        chatter.shutdown()


class _Chatter(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        self.request.recv(1000)


def test_every_thread_has_its_own_connection(server: Server) -> None:
    metastore = metastore_at(server.address)
    names: dict[str, str] = {}
    barrier = threading.Barrier(4)

    def ask(name: str) -> None:
        barrier.wait()
        for _ in range(50):
            database = metastore.database(name)
            assert database is not None and database.name == name
        names[name] = name

    threads = [threading.Thread(target=ask, args=(f"db{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == len(server.conversations) == 4


def test_a_forked_process_opens_its_own_connection(server: Server) -> None:
    metastore = metastore_at(server.address)
    metastore.database("parent")
    child = os.fork()
    if child == 0:
        database = metastore.database("child")
        os._exit(0 if database is not None and database.name == "child" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    database = metastore.database("parent")
    assert database is not None and database.name == "parent"
    assert len(server.conversations) == 2


def test_configuration_asks_the_address_it_is_told(dead_address: tuple[str, int], server: Server) -> None:
    metastore = metastore_at(dead_address, server.address)
    dead, _ = metastore.addresses()
    with pytest.raises(Unreachable, match=dead):
        metastore.configuration(dead, "hive.repl.cm.enabled")
    with pytest.raises(ValueError, match="elsewhere:1"):
        metastore.configuration("elsewhere:1", "hive.repl.cm.enabled")


def test_close_and_go_on(server: Server) -> None:
    metastore = metastore_at(server.address)
    metastore.log_id()
    metastore.close()
    assert metastore.log_id()
    assert len(server.conversations) == 2


def test_a_metastore_needs_an_address() -> None:
    with pytest.raises(ValueError, match="address"):
        ThriftMetastore([])


def test_an_answer_that_makes_no_sense_says_nothing_of_what_became_of_a_write() -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), Foreign) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        metastore = metastore_at(proxy.server_address)
        with pytest.raises(Unreachable, match="makes no sense; the call may or may not have happened") as told:
            metastore.create_database(a_database())
        assert "Thrift port" in str(told.value)
        # What has only asked knows that nothing has happened: a person is to look at the address at once.
        with pytest.raises(Refused, match="refused by the metastore"):
            metastore.log_id()
        proxy.shutdown()
