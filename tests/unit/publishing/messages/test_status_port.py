"""A publisher's status port: a whole request, and the answer, has some seconds, however small its pieces are."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import cast

import pytest

from twinhive.publishing.messages.publisher_status import PublisherWatch
from twinhive.publishing.messages.status_http import serve_status


class Watch:
    """What a publisher would say."""

    def prometheus(self) -> str:
        return "up 1\n"

    def document(self) -> dict[str, int]:
        return {"up": 1}


class Clock:
    """A time that the test says."""

    now = 100.0

    def __init__(self) -> None:
        self.is_read = threading.Event()

    def __call__(self) -> float:
        self.is_read.set()
        return self.now


@contextmanager
def served(clock: Clock) -> Iterator[int]:
    server = serve_status("127.0.0.1", 0, cast(PublisherWatch, Watch()), clock)
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def connected(port: int) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", port), timeout=20))


def all_of(client: socket.socket) -> bytes:
    """Return what comes until the other side hangs up."""
    parts = []
    try:
        while part := client.recv(10_000):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def is_hung_up_on_while_it_drips(client: socket.socket) -> bool:
    """Send a byte now and then, for longer than one read would wait."""
    client.settimeout(0.1)
    for _ in range(80):
        try:
            client.sendall(b"X")
            return client.recv(1) == b""
        except TimeoutError:
            continue
        except ConnectionError:
            return True
    return False


@pytest.mark.parametrize(
    ("path", "first", "last"),
    [("/metrics", b"200 OK", b"\r\n\r\nup 1\n"), ("/status", b"200 OK", b'{"up": 1}'), ("/", b"404 Not", b"/status\n")],
)
def test_it_answers(path: str, first: bytes, last: bytes) -> None:
    with served(Clock()) as port, connected(port) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        said = all_of(client)
    assert said.startswith(b"HTTP/1.0 " + first) and said.endswith(last)


@pytest.mark.parametrize("asked", [b"GET /metrics HTTP/1.1\r\n", b"GET /metrics HTTP/1.1\r\nHost: x\r\n"])
def test_who_drips_a_byte_at_a_time_is_hung_up_on_when_the_time_is_over(
    asked: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    with served(clock) as port, connected(port) as client:
        assert clock.is_read.wait(20)
        client.sendall(asked[:-1])
        clock.now += 3.0
        client.sendall(asked[-1:])
        clock.now += 3.0
        assert is_hung_up_on_while_it_drips(client)
    assert capfd.readouterr().err == ""


def test_a_request_in_pieces_within_the_time_is_answered() -> None:
    clock = Clock()
    with served(clock) as port, connected(port) as client:
        for part in (b"GET /met", b"rics HTTP/1.1\r", b"\nHost: x\r\n", b"\r\n"):
            clock.now += 1.0
            client.sendall(part)
        assert all_of(client).endswith(b"up 1\n")


def test_a_client_that_goes_is_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with served(Clock()) as port:
        for asked in (b"", b"GET", b"GET /metrics HTTP/1.1\r\n\r\n"):
            with connected(port) as client:
                client.sendall(asked)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        with connected(port) as client:
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert all_of(client).endswith(b"up 1\n")
    assert capfd.readouterr().err == ""
