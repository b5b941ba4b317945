"""A server that hangs up after what a test lets it send."""

import socket
import threading
from collections.abc import Callable


class BreakingServer:
    """Answer what is received, on a loopback port; after `None` hang up."""

    def __init__(self, answer: Callable[[bytes], list[bytes | None]]) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more clients."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            while data := client.recv(10_000):
                for part in self._answer(data):
                    if part is None:
                        return
                    client.sendall(part)
