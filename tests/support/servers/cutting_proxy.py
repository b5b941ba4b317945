"""A proxy before a server that cuts connections: the server's answer is lost, or the server itself is."""

import socket
import threading
from contextlib import suppress


class CuttingProxy:
    """Pass bytes to a server, and cut the connection instead of passing on its next answer.

    `cuts`: so with each answer, as long as it is set. `answers`: after so many answers the server is dead: what it was
    asked last it has done, its answer is lost, and nobody reaches it any more.
    """

    def __init__(self, target: tuple[str, int], answers: int | None = None) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listening.getsockname()
        self.cuts = False
        self.is_dead = False
        self._answers = answers
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Take no more clients."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # a thread may wait for a client, and would take one more
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            while (piece := _received(client)) and not self.is_dead:
                server.sendall(piece)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with client, server:
            while piece := _received(server):
                if self._is_last():
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(piece)

    def _is_last(self) -> bool:
        if self._answers == 0:
            self.is_dead = True
            self.close()
        elif self._answers is not None:
            self._answers -= 1
        return self.cuts or self.is_dead


def _received(channel: socket.socket) -> bytes:
    try:
        return channel.recv(65_536)
    except OSError:
        return b""
