"""A server that hangs up after what a test lets it send."""

import socket
from collections.abc import Callable
from contextlib import suppress

from tests.support.servers.loopback_server import LoopbackServer


class BreakingServer(LoopbackServer):
    """Answer what is received, on a loopback port; after `None` hang up."""

    def __init__(self, answer: Callable[[bytes], list[bytes | None]]) -> None:
        self._answer = answer
        super().__init__()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(ConnectionError):  # of a client that has heard enough
            while data := client.recv(10_000):
                for part in self._answer(data):
                    if part is None:
                        return
                    client.sendall(part)
