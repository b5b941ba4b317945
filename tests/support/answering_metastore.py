"""A metastore that answers every method it is asked with what a test says, whatever is asked: bytes in, bytes out."""

import socket
import threading
from collections.abc import Callable

from tests.support.wire_metastore import with_no_error
from twinhive.wire.ends import Short, end_of
from twinhive.wire.message import WireMessage, read_head

Answer = Callable[[WireMessage], bytes]


class AnsweringMetastore:
    """Serve on a loopback port, one thread a connection."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Hang up on everybody."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            with_no_error(one)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        held = b""
        try:
            while (read := whole_message(client, held)) is not None:
                message, held = read
                client.sendall(self._answer(message))
        except OSError:
            pass


def whole_message(client: socket.socket, held: bytes = b"") -> tuple[WireMessage, bytes] | None:
    """Read a message, and return it with what came behind it; None when the other side has hung up."""
    while True:
        read = read_head(held)
        try:
            if read is not None:
                end = end_of(held, read[1])
                return WireMessage(read[0], held[:end], read[1]), held[end:]
        except Short:
            pass
        if not (data := client.recv(1 << 16)):
            return None
        held += data
