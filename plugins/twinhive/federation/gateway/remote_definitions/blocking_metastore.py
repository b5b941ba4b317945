"""Ask the local metastore with blocking calls, in bytes: reads only, one at a time."""

import socket
from collections.abc import Coroutine
from contextlib import closing
from typing import Any, TypeVar

from twinhive.core.model.endpoints import MetastoreEndpoint
from twinhive.core.model.errors import Missing, Unexplained, Unreachable
from twinhive.core.model.next_steps import RETRIES
from twinhive.federation.gateway.client_identity import set_user
from twinhive.federation.gateway.struct_edits import error_text, fields_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.stream_reader import MOST_ANSWER_BYTES, MOST_BUFFERED_BYTES, LongAnswer, MessageReader
from twinhive.hive.wire.thrift_message import MessageKind, WireError, WireMessage

_CONNECT_SECONDS = 5.0
_MISSING = ("NoSuchObjectException", "UnknownDBException", "UnknownTableException")
_MOST_BYTES = 8 * MOST_BUFFERED_BYTES
T = TypeVar("T")


class _Stream:
    """A socket as what a message is read from."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    async def read(self, n: int = -1, /) -> bytes:
        return self._sock.recv(n)


class BlockingMetastore:
    """One metastore; of several addresses the first that answers."""

    def __init__(self, at: MetastoreEndpoint) -> None:
        self._at = at
        self._open: tuple[socket.socket, MessageReader] | None = None

    def ask(self, doing: str, request: WireMessage) -> WireMessage:
        """Return the answer to a read; it is made again at each address until one answers.

        Raises Missing, Unexplained for what it refuses, Unreachable.
        """
        problems: list[str] = []
        for again in (True, False):
            if again and self._open is None:
                continue
            try:
                return self._answered(doing, self._exchanged(request) if again else self._anywhere(request, problems))
            except (OSError, EOFError, WireError) as error:
                self.close()
                problems.append(str(error) or type(error).__name__)
        raise Unreachable(
            f"{doing}: the local metastore does not answer",
            found="; ".join(problems),
            expected=f"an answer within {self._at.timeout_seconds:g} s",
            next_step=RETRIES + ": start the metastore, or correct its connection",
        )

    def __del__(self) -> None:
        """Leave no connection open behind."""
        self.close()

    def close(self) -> None:
        """Hang up."""
        opened, self._open = self._open, None
        if opened is not None:
            opened[0].close()

    def _anywhere(self, request: WireMessage, problems: list[str]) -> WireMessage:
        *others, last = self._at.addresses
        for address in (*others, last):
            try:
                self._connect(address)
                return self._exchanged(request)
            except (OSError, EOFError, WireError) as error:
                self.close()
                text = f"{address[0]}:{address[1]}: {str(error) or type(error).__name__}"
                if address == last:
                    raise ConnectionError(text) from error
                problems.append(text)
        raise AssertionError("a metastore without addresses")

    def _connect(self, address: tuple[str, int]) -> None:
        sock = socket.create_connection(address, min(_CONNECT_SECONDS, self._at.timeout_seconds))
        sock.settimeout(self._at.timeout_seconds)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open = (sock, MessageReader(_Stream(sock), MOST_ANSWER_BYTES))
        if self._at.user is not None:
            self._exchanged(set_user(self._at.user))

    def _exchanged(self, request: WireMessage) -> WireMessage:
        assert self._open is not None
        sock, reader = self._open
        sock.sendall(request.raw)
        answer = _ran(reader.read_answer(_MOST_BYTES))
        if isinstance(answer, LongAnswer):
            raise WireError(f"more than {_MOST_BYTES} bytes of an answer to {request.head.method}")
        if answer.head.method != request.head.method:
            raise WireError(f"an answer to {answer.head.method}, where {request.head.method} was asked")
        return answer

    def _answered(self, doing: str, answer: WireMessage) -> WireMessage:
        text = error_text(answer)
        if text is None:
            return answer
        number = 0 if answer.head.kind is MessageKind.EXCEPTION else next(fields_of(answer.raw, answer.at))[0]
        if METHODS[answer.head.method].exceptions.get(number) in _MISSING:
            raise Missing(f"{doing}: not found", found=text, expected="an object of this name", next_step=RETRIES)
        raise Unexplained(
            f"{doing}: refused by the local metastore",
            found=text,
            expected="an answer",
            next_step=RETRIES + ". If it goes on, look at the metastore's log",
        )


def _ran(work: Coroutine[Any, Any, T]) -> T:
    """Run what never waits: its stream blocks."""
    with closing(work):
        try:
            work.send(None)
        except StopIteration as ended:
            result: T = ended.value
            return result
    raise AssertionError("a blocking stream has waited")
