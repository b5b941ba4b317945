"""Answer `GET /metrics` (Prometheus) and `GET /remotes` (JSON) for who watches a gateway."""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus

from twinhive.federation.gateway.gateway_metrics import CallCounts, prometheus_text

_MOST_LINE = 4_096
_SECONDS = 5.0
"""A client that has not asked, and taken its answer, by then is hung up on."""


async def serve_status(
    host: str, port: int, counts: Callable[[], CallCounts], seconds: float = _SECONDS
) -> asyncio.Server:
    """Listen; the server is the caller's to close. Raises OSError for a port that is taken."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(seconds):
                writer.transport.set_write_buffer_limits(high=0)  # `drain` waits until all of it is sent
                request = await reader.readline()
                status, kind, body = _answer_to(request.decode("latin-1"), counts)
                head = f"HTTP/1.0 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
                writer.write(f"{head}\r\n\r\n".encode() + body)
                await writer.drain()
                writer.close()
        except (OSError, TimeoutError, ValueError):
            pass  # who asks has gone, or never asked, or does not take the answer
        finally:
            writer.transport.abort()

    return await asyncio.start_server(answer, host, port, limit=_MOST_LINE)


def _answer_to(request: str, counts: Callable[[], CallCounts]) -> tuple[HTTPStatus, str, bytes]:
    match request.split():
        case ["GET", "/metrics", *_]:
            return HTTPStatus.OK, "text/plain; version=0.0.4", prometheus_text(counts()).encode()
        case ["GET", "/remotes", *_]:
            return HTTPStatus.OK, "application/json", json.dumps(counts().to_json()).encode()
    return HTTPStatus.NOT_FOUND, "text/plain", b"GET /metrics or /remotes\n"
