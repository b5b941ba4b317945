"""Talk to one metastore address over one connection."""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from twinhive.core.model.errors import Refused, TwinhiveError, UnreadableObject, Unwell
from twinhive.hive.adapters.hive.client_bindings import read_lists_that_are_keys
from twinhive.hive.adapters.hive.thrift_failures import failure

LONGEST_CONNECT_SECONDS = 10.0
"""A silent address must not cost each new connection the long time that a call may take."""

AS_STORED = ["MANAGERAWMETADATA"]
"""The capability that keeps the server from translating tables to what a client can handle."""

TRANSPORT_ERRORS = (TTransportException, OSError, EOFError)
"""No answer, or half of one: the request may or may not have been handled."""

# It logs an error for each address that does not answer, also where failing over was all it took.
logging.getLogger(TSocket.__module__).setLevel(logging.CRITICAL)

read_lists_that_are_keys()


@dataclass(frozen=True)
class Address:
    """Where a metastore listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Request:
    """One call: what it does, for messages, and what may know better why the server refuses it.

    `explain` is handed the connection, which it may ask, and returns None when it does not know better.
    """

    doing: str
    call: Callable[[Any], Any]
    explain: Callable[["ThriftConnection", TException], TwinhiveError | None] | None = None


class _Transport(TBufferedTransport):  # type: ignore[misc] # the library has no types
    """Know whether a request has left."""

    has_sent = False

    def flush(self) -> None:
        self.has_sent = True
        super().flush()


class ThriftConnection:
    """One open connection. An error that leaves a half-read answer behind closes it."""

    def __init__(self, address: Address, timeout_seconds: float, user: str | None) -> None:
        self.address = address
        self.process = os.getpid()
        self._socket = TSocket(address.host, address.port, socket_keepalive=True)
        self._transport = _Transport(self._socket)
        # Event messages may be longer than the 16 MB that the library allows by default.
        protocol = TBinaryProtocolAccelerated(self._transport, string_length_limit=None)
        self._client = ThriftHiveMetastore.Client(protocol)
        self._socket.setTimeout(1000 * min(timeout_seconds, LONGEST_CONNECT_SECONDS))
        self._transport.open()
        self._socket.setTimeout(1000 * timeout_seconds)
        if user:
            self.call(Request(f"becoming user {user}", lambda client: client.set_ugi(user, [])))

    def limit(self, seconds: float) -> None:
        """Wait no longer for an answer from now on."""
        self._socket.setTimeout(1000 * seconds)

    def usable(self) -> bool:
        """Tell whether the server has not hung up, and no fork has put two processes on the socket."""
        return self.process == os.getpid() and bool(self._transport.isOpen())

    def call(self, request: Request) -> Any:
        """Send one request. Transport errors pass through, answers of refusal become ours.

        So does whatever else the library throws. Raises UnreadableObject for an answer that it cannot read.
        """
        self._transport.has_sent = False
        try:
            return request.call(self._client)
        except TRANSPORT_ERRORS:
            self.close()
            raise
        except TException as error:
            if isinstance(error, TProtocolException):
                self.close()
            explained = request.explain(self, error) if request.explain else None
            raise explained or self._failure(request, error) from error
        except Exception as error:
            self.close()
            if isinstance(error, TwinhiveError):
                raise
            raise self._unreadable(request, error) from error
        except BaseException:
            # The answer is still under way: the next call on this connection would take it for its own.
            self.close()
            raise

    def _failure(self, request: Request, error: TException) -> TwinhiveError:
        found = failure(request.doing, str(self.address), error, self._is_well)
        if isinstance(found, Unwell):
            # The thread that serves this connection may hold what is broken.
            self.close()
        return found

    def _unreadable(self, request: Request, error: Exception) -> TwinhiveError:
        found = f"{type(error).__name__}: {error}"
        if self._transport.has_sent:
            return UnreadableObject(
                f"{request.doing}: what the metastore at {self.address} answered cannot be read",
                found=found,
                expected="texts and numbers as Hive writes them",
                next_step="look at the object in Hive (DESCRIBE FORMATTED), and correct it there, or leave it out",
            )
        return Refused(
            f"{request.doing}: this cannot be sent to a metastore",
            found=found,
            expected="texts and numbers that Thrift can hold",
            next_step="look at the object where it comes from (DESCRIBE FORMATTED), and correct it there",
        )

    def _is_well(self) -> bool:
        """True when the metastore still reads its database for us."""
        try:
            self._client.get_metastore_db_uuid()
        except (TException, *TRANSPORT_ERRORS):
            return False
        return True

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        self._transport.close()

    def __del__(self) -> None:
        if hasattr(self, "_transport"):
            self.close()
