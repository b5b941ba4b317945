"""A server on a loopback port with a thread for each connection."""

import socket
import threading
from abc import ABC, abstractmethod
from contextlib import suppress


class LoopbackServer(ABC):
    """Take connections until it is closed."""

    def __init__(self, port: int = 0) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Hang up on everybody, and take nobody any more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Close what is open, and go on listening."""
        for one in self._open:
            with_no_error(one)
        self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    @abstractmethod
    def _serve(self, client: socket.socket) -> None:
        """Talk to a client until it has gone; runs in a thread of its own."""


def with_no_error(one: socket.socket) -> None:
    """Shut a socket down, whatever state it is in."""
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
