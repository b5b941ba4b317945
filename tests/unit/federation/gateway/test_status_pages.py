"""A gateway's status port: a whole request, and the answer, has some seconds, however small its pieces are."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.status import status_pages
from twinhive.federation.gateway.status.status_pages import serve_status

SECONDS = 0.3
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


def talked(talk: Talk, seconds: float = SECONDS) -> bytes:
    """Return what a client gets, or the error that ends its connection."""

    async def served() -> bytes:
        server = await serve_status("127.0.0.1", 0, CallCounts, seconds)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        try:
            async with asyncio.timeout(20):
                return await talk(reader, writer)
        finally:
            writer.close()
            server.close()

    return asyncio.run(served())


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    for _ in range(1_000):
        writer.write(b"G")
        await asyncio.sleep(SECONDS / 10)
        if reader.at_eof():
            break
    return await reader.read()


def test_who_drips_a_byte_at_a_time_is_hung_up_on_when_the_time_is_over() -> None:
    began = time.monotonic()
    with suppress(ConnectionError):
        assert talked(drip) == b""
    assert time.monotonic() - began < 10 * SECONDS


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    return await reader.read()


async def ask_and_wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.sleep(4 * SECONDS)
    writer.transport.resume_reading()  # type: ignore[attr-defined]
    return await reader.read()


def test_a_long_answer_comes_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x" * 20_000_000
    monkeypatch.setattr(status_pages, "prometheus_text", lambda counts: text)
    assert talked(ask, 60.0).endswith(text.encode())


def test_who_does_not_take_the_answer_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x" * 20_000_000
    monkeypatch.setattr(status_pages, "prometheus_text", lambda counts: text)
    try:
        got = len(talked(ask_and_wait))
    except ConnectionError:
        got = 0
    assert got < len(text)
