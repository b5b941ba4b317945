"""Hand bytes on between clients and a metastore, and do nothing else: the least that anything between them costs.

Run as a program: `python -m benchmarks.gateway.relay 9083 9190` takes clients on the second port. It is what Python on
uvloop can do at best: each piece is received, and sent on as it came, by a callback.
"""

import asyncio
import sys
from contextlib import suppress
from typing import cast

import uvloop


class _End(asyncio.Protocol):
    """One of both connections of a client."""

    def __init__(self, other: "_End | None" = None, port: int = 0) -> None:
        self._other, self._port = other, port
        self.transport: asyncio.Transport
        self._waiting: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect to the metastore for a client; for its other end begin to hand on."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's own is none by class
        if self._other is None:
            self._connecting = asyncio.ensure_future(
                asyncio.get_running_loop().create_connection(lambda: _End(self), "127.0.0.1", self._port)
            )
        else:
            self._other.is_connected_to(self)

    def is_connected_to(self, other: "_End") -> None:
        """Hand on what came before."""
        self._other = other
        for data in self._waiting:
            other.transport.write(data)

    def data_received(self, data: bytes) -> None:
        """Hand on."""
        if self._other is None:
            self._waiting.append(data)
        else:
            self._other.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Hang up on both sides."""
        if self._other is not None:
            self._other.transport.close()


async def _serve(metastore: int, port: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: _End(port=metastore), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
