"""A metastore that answers every method it is asked with what a test says, whatever is asked: bytes in, bytes out."""

import socket
from collections.abc import Callable

from tests.support.servers.loopback_server import LoopbackServer
from twinhive.hive.wire.thrift_message import WireMessage, read_head
from twinhive.hive.wire.thrift_skip import Short, end_of

Answer = Callable[[WireMessage], bytes]


class AnsweringMetastore(LoopbackServer):
    """Serve on a loopback port, one thread a connection."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        super().__init__()

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
