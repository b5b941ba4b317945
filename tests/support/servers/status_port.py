"""A status port of a gateway in a thread, with counts that are said by the test; or one that answers nonsense."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from twinhive.federation.gateway.gateway_metrics import CallCounts, Ending
from twinhive.federation.gateway.isolation import BreakerState
from twinhive.federation.gateway.status.status_pages import serve_status

WELL, DOWN = "thrift://well.example:9083", "thrift://down.example:9083"


def a_count() -> CallCounts:
    """Return what a gateway may have counted: a remote that answers, one that is down, and a name that is refused."""
    counts = CallCounts()
    for seconds in (0.001, 0.003):
        counts.ended(WELL, "get_table_req", Ending.ANSWERED, seconds)
    counts.ended(DOWN, "get_table_req", Ending.FAILED, 2.0)
    counts.ended("local", "get_table_req", Ending.ANSWERED, 9.0)
    counts.breakers = {WELL: (BreakerState.CLOSED, None, ""), DOWN: (BreakerState.OPEN, 1_000.0, "refused\n the call")}
    counts.names = {
        "far": ("sales", WELL, ""),
        "shop.orders": ("sales.orders", DOWN, ""),
        "shop.secret": ("hr.pay", "", "shop.secret may not be reached"),
    }
    return counts


@contextmanager
def status_port(counts: CallCounts) -> Iterator[str]:
    """Serve as a gateway does; yield `host:port`."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(serve_status("127.0.0.1", 0, lambda: counts))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


@contextmanager
def port_that_says(answer: bytes | None) -> Iterator[str]:
    """Take connections and send these bytes, or nothing ever; yield `host:port`."""
    listener = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            taken.append(client)
            if answer is not None:
                try:
                    client.recv(1_000)
                    client.sendall(answer)
                except OSError:
                    pass  # who asked has heard enough
                client.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(20)
        for client in taken:
            client.close()


def nowhere() -> str:
    """Return `host:port` where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"
