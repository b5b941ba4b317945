"""Answer `GET /metrics` (Prometheus) and `GET /status` (JSON) for who watches a publisher."""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from typing import Any

from twinhive.publishing.messages.publisher_status import PublisherWatch

_SECONDS = 5.0
"""A client that has not asked, and taken its answer, by then is hung up on."""


def serve_status(
    host: str, port: int, watch: PublisherWatch, clock: Callable[[], float] = time.monotonic
) -> ThreadingHTTPServer:
    """Listen, in threads of its own; the server is the caller's to close. Raises OSError for a port that is taken."""

    class Status(BaseHTTPRequestHandler):
        def setup(self) -> None:
            super().setup()
            self._until = _Until(self.connection, clock)
            self.rfile = BufferedReader(self._until)

        def do_GET(self) -> None:
            match self.path:
                case "/metrics":
                    self._answer(HTTPStatus.OK, "text/plain; version=0.0.4", watch.prometheus())
                case "/status":
                    self._answer(HTTPStatus.OK, "application/json", json.dumps(watch.document()))
                case _:
                    self._answer(HTTPStatus.NOT_FOUND, "text/plain", "GET /metrics or /status\n")

        def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self._until.wait_no_longer()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing: who asks, asks often."""

    server = _Server((host, port), Status)
    threading.Thread(target=server.serve_forever, daemon=True, name="status").start()
    return server


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that has gone."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Until(RawIOBase):
    """What a client sends, however small its pieces are, until its time is over: then a TimeoutError."""

    def __init__(self, client: socket.socket, clock: Callable[[], float]) -> None:
        self._client, self._clock, self._ends = client, clock, clock() + _SECONDS

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for some bytes. Raises TimeoutError."""
        self.wait_no_longer()
        return self._client.recv_into(buffer)

    def wait_no_longer(self) -> None:
        """Let the next call on the connection wait for what is left of the time. Raises TimeoutError."""
        left = self._ends - self._clock()
        if left <= 0:
            raise TimeoutError
        self._client.settimeout(left)
