"""Publish and subscribe by STOMP 1.2, as ActiveMQ Classic and Artemis speak it."""

import logging
import socket
import struct
import threading
import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress

import stomp
from stomp.exception import StompException

from twinhive.core.model.endpoints import BrokerEndpoint
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.messages.hive_message import EVENT, TableMessage
from twinhive.hive.adapters.brokers.stomp_frames import Frames

_HEARTBEATS = (5_000, 5_000)
"""Milliseconds: a broker that is silent for longer is lost, also one that is frozen."""
_FAILURES = (StompException, OSError)
_PERSISTENT = {"persistent": "true"}

# It warns of each address that does not answer, with a traceback, also where another one does.
logging.getLogger("stomp.py").setLevel(logging.CRITICAL)


class StompBroker:
    """One connection for what is published, one for each subscription. One thread at a time may publish."""

    def __init__(self, endpoint: BrokerEndpoint, seconds: float = 10.0) -> None:
        self._endpoint, self._seconds = endpoint, seconds
        self._publishing: tuple[stomp.Connection12, Frames] | None = None

    def publish(self, messages: Sequence[TableMessage]) -> None:
        """Send messages; frames of a connection are handled in order, so the last one's receipt is that of all."""
        if not messages:
            return
        connection, frames = self._connected()
        receipt = uuid.uuid4().hex
        try:
            for number, message in enumerate(messages, start=1):
                last = {"receipt": receipt} if number == len(messages) else {}
                headers = {**message.headers, **_PERSISTENT, **last}
                connection.send(f"/topic/{message.topic}", message.body, headers=headers)
            frames.await_receipt(receipt, self._seconds)
        except BaseException as error:
            self.close()
            if isinstance(error, _FAILURES):
                raise frames.trouble() or self._unreachable(error) from error
            raise

    def subscribe(self, topics: Collection[str], kinds: Collection[str] = ()) -> "StompSubscription":
        """Subscribe to `<topic>.>`: unlike the topic itself, that needs nobody's right to create it."""
        connection, frames = self._connect()
        selector = {"selector": f"{EVENT} IN ({', '.join(map(_quoted, kinds))})"} if kinds else {}
        try:
            for number, topic in enumerate(topics):
                receipt = uuid.uuid4().hex
                connection.subscribe(f"/topic/{topic}.>", id=str(number), headers={**selector, "receipt": receipt})
                frames.await_receipt(receipt, self._seconds)
        except BaseException as error:
            _leave(connection)
            if isinstance(error, _FAILURES):
                raise frames.trouble() or self._unreachable(error) from error
            raise
        return StompSubscription(connection, frames)

    def probe(self) -> None:
        """See that it answers now, and lets us in: an open connection says nothing of a broker that has just died."""
        connection, _ = self._connect()
        _leave(connection)

    def close(self) -> None:
        """Leave; a later call connects again."""
        there, self._publishing = self._publishing, None
        if there is not None:
            _leave(there[0])

    def _connected(self) -> tuple[stomp.Connection12, Frames]:
        if self._publishing is not None and not self._publishing[0].is_connected():
            self.close()
        if self._publishing is None:
            self._publishing = self._connect()
        return self._publishing

    def _connect(self) -> tuple[stomp.Connection12, Frames]:
        """Connect to the first address that lets us in; a broker that waits to take over accepts and says nothing."""
        failed: list[str] = []
        for address in self._endpoint.addresses:
            frames = Frames(str(self._endpoint))
            # With a content-length, clients of JMS get bytes instead of a text, and Hive's handlers fail.
            connection = stomp.Connection12(
                [address],
                auto_content_length=False,
                heartbeats=_HEARTBEATS,
                reconnect_attempts_max=1,
                reconnect_sleep_initial=0.0,
                timeout=self._seconds,
            )
            connection.set_listener("", frames)
            try:
                connection.connect(self._endpoint.user, self._endpoint.password)
                frames.await_connected(self._seconds)
                _limit_sending(connection, self._seconds)
                return connection, frames
            except _FAILURES as error:
                _leave(connection)
                refused = frames.trouble()
                if refused is not None and not isinstance(refused, Unreachable):
                    raise refused from error
                failed.append(f"{address[0]}:{address[1]}: {refused.words.found if refused else _said(error)}")
        raise Unreachable(
            f"broker {self._endpoint} does not answer",
            found="; ".join(failed),
            expected="a broker that speaks STOMP",
            next_step="start the broker, or correct the connection",
        )

    def _unreachable(self, error: BaseException) -> Unreachable:
        return Unreachable(
            f"broker {self._endpoint} was lost",
            found=_said(error),
            expected="its receipt",
            next_step="nothing: it is tried again; if it goes on, see whether the broker is well",
        )


class StompSubscription:
    """What one connection receives."""

    def __init__(self, connection: stomp.Connection12, frames: Frames) -> None:
        self._connection, self._frames = connection, frames

    def receive(self, seconds: float) -> TableMessage | None:
        """Return the next message, None when there is none for so long. Raises Unreachable, Refused."""
        return self._frames.next_message(seconds)

    def close(self) -> None:
        """End it."""
        _leave(self._connection)


def _limit_sending(connection: stomp.Connection12, seconds: float) -> None:
    """Let a send to a broker that is frozen end: the library waits for ever, and its heartbeats with it."""
    limit = struct.pack("ll", int(seconds), 0)
    connection.transport.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _leave(connection: stomp.Connection12) -> None:
    # In a thread: a broker that is frozen would keep whoever says good-bye.
    def leave() -> None:
        with suppress(Exception):
            connection.disconnect()
        with suppress(Exception):
            connection.transport.disconnect_socket()

    threading.Thread(target=leave, daemon=True, name="stomp-leave").start()


def _quoted(kind: str) -> str:
    return "'" + kind.replace("'", "''") + "'"


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
