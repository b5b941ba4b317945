"""Keep one connection per thread to one of several metastore addresses.

Reads are repeated on every address, also when one answers that it cannot do it now. A write is
sent once: when its answer is lost, or makes no sense, nobody but the metastore knows whether it happened, and only
the caller can find out by reading.
"""

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from thrift.protocol.TProtocol import TProtocolException
from thrift.transport.TTransport import TTransportException

from twinhive.core.model.errors import TwinhiveError, Unreachable, UnreadableObject, Unwell
from twinhive.hive.adapters.hive.thrift_connection import TRANSPORT_ERRORS, Address, Request, ThriftConnection

Result = TypeVar("Result")

WAITS_BEFORE_ROUNDS = (0.0, 0.2, 1.0)
"""Seconds before each round over all addresses; the first round begins at once."""


class Connections:
    """Hand every thread its own connection to the metastore, at whichever address answers."""

    def __init__(self, addresses: Sequence[tuple[str, int]], timeout_seconds: float, user: str | None = None) -> None:
        if not addresses:
            raise ValueError("a metastore needs at least one address")
        self.addresses = tuple(Address(host, port) for host, port in addresses)
        self._timeout_seconds = timeout_seconds
        self._user = user
        self._answered_last = self.addresses[0]
        self._thread = threading.local()
        self._open: weakref.WeakSet[ThriftConnection] = weakref.WeakSet()

    def read(self, request: Request) -> Any:
        """Send a request that changes nothing, to each address in turn until one answers."""
        each = self._timeout_seconds
        return self._at_any_address(request.doing, lambda address: self._connected(address, each).call(request))

    def write(self, request: Request) -> Any:
        """Send a request once.

        From finding an address to the answer it takes `timeout_seconds` at most: so long does the next holder of a
        lease wait for what an earlier one may have sent.
        """
        time_left = _time_left(time.monotonic() + self._timeout_seconds)

        def ready(address: Address) -> ThriftConnection:
            connection = self._connected(address, time_left())
            connection.limit(time_left())
            return connection

        connection = self._at_any_address(request.doing, ready)
        try:
            return connection.call(request)
        except TRANSPORT_ERRORS as error:
            raise Unreachable(
                f"{request.doing}: the metastore at {connection.address} gave no answer; "
                "the call may or may not have happened",
                found=_described(error),
                expected=f"an answer to {request.doing}",
                next_step="try again: what is there is read first",
            ) from error
        except TwinhiveError as error:
            if not isinstance(error, UnreadableObject) and not isinstance(error.__cause__, TProtocolException):
                raise
            # A proxy's page, say. Whatever handed the call on, it was no metastore that answered.
            raise Unreachable(
                f"{request.doing}: what {connection.address} answered makes no sense; "
                "the call may or may not have happened",
                found=error.found,
                expected=error.expected,
                next_step="try again: what is there is read first. If it goes on, " + (error.next_step or "look there"),
            ) from error

    def ask(self, address: str, request: Request) -> Any:
        """Send a request to one address, on a connection of its own."""
        return self.converse(address, request.doing, lambda connection: connection.call(request))

    def converse(self, address: str, doing: str, talk: Callable[[ThriftConnection], Result]) -> Result:
        """Have several calls made at one address, on a connection of their own."""
        chosen = next((known for known in self.addresses if str(known) == address), None)
        if chosen is None:
            raise ValueError(f"{address} is none of this metastore's addresses: {', '.join(map(str, self.addresses))}")
        try:
            connection = ThriftConnection(chosen, self._timeout_seconds, self._user)
            try:
                return talk(connection)
            finally:
                connection.close()
        except TRANSPORT_ERRORS as error:
            raise self._unreachable(doing, (chosen,), error) from error

    def close(self) -> None:
        """Close the connections of all threads; the next call opens a new one."""
        for connection in list(self._open):
            connection.close()

    def _at_any_address(self, doing: str, attempt: Callable[[Address], Result]) -> Result:
        give_up_at = time.monotonic() + self._timeout_seconds
        last_error: Exception | None = None
        for wait in WAITS_BEFORE_ROUNDS:
            if last_error and time.monotonic() + wait >= give_up_at:
                break
            time.sleep(wait)
            for address in sorted(self.addresses, key=lambda address: address != self._answered_last):
                try:
                    result = attempt(address)
                except (*TRANSPORT_ERRORS, Unwell) as error:
                    last_error = error
                else:
                    self._answered_last = address
                    return result
        if isinstance(last_error, Unwell):
            raise last_error
        raise self._unreachable(doing, self.addresses, last_error) from last_error

    def _connected(self, address: Address, seconds: float) -> ThriftConnection:
        """Return this thread's connection, which waits so long for an answer."""
        connection: ThriftConnection | None = getattr(self._thread, "connection", None)
        if connection and connection.address == address and connection.usable():
            connection.limit(seconds)
            return connection
        connection = ThriftConnection(address, seconds, self._user)
        self._thread.connection = connection
        self._open.add(connection)
        return connection

    def _unreachable(self, doing: str, addresses: Sequence[Address], error: Exception | None) -> Unreachable:
        return Unreachable(
            f"{doing}: no metastore answered at {', '.join(map(str, addresses))}",
            found=_described(error),
            expected=f"an answer within {self._timeout_seconds:g} s",
            next_step=f"check that a metastore listens there: nc -vz {addresses[0].host} {addresses[0].port}",
        )


def _time_left(until: float) -> Callable[[], float]:
    """Return what tells the seconds that are left; it raises a transport error when there are none."""

    def time_left() -> float:
        left = until - time.monotonic()
        if left <= 0:
            raise TTransportException(TTransportException.TIMED_OUT, "nothing was sent: there was no time left for it")
        return left

    return time_left


def _described(error: Exception | None) -> str:
    inner = getattr(error, "inner", None)
    return f"{error} ({inner})" if inner else str(error)
