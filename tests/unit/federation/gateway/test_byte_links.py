"""Whoever waits for a slow peer is woken, when it takes bytes again and when the connection is lost."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from twinhive.federation.connector_api.byte_links import ByteLink, connected

MUCH = b"x" * (32 << 20)


async def _full_link(meanwhile: Callable[[ByteLink, asyncio.StreamReader], Awaitable[None]]) -> None:
    """Write more than the peer takes, and go on with both ends."""
    peers: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    server = await asyncio.start_server(lambda *ends: peers.put_nowait(ends), "127.0.0.1", 0)
    link = await connected("127.0.0.1", server.sockets[0].getsockname()[1])
    reader, writer = await peers.get()
    link.write(MUCH)
    assert link.is_full
    await meanwhile(link, reader)
    writer.close()
    link.abort()
    server.close()


async def _read_all(reader: asyncio.StreamReader) -> None:
    await reader.readexactly(len(MUCH))


def test_all_who_wait_go_on_when_the_peer_takes_bytes() -> None:
    async def taken(link: ByteLink, reader: asyncio.StreamReader) -> None:
        waiting = [asyncio.create_task(link.flush()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.wait_for(asyncio.gather(_read_all(reader), waiting[0], waiting[2]), 20)
        assert waiting[1].cancelled()
        await link.flush()

    asyncio.run(_full_link(taken))


def test_all_who_wait_are_told_when_the_connection_is_lost() -> None:
    async def lost(link: ByteLink, reader: asyncio.StreamReader) -> None:
        waiting = [asyncio.create_task(link.flush()) for _ in range(3)]
        await asyncio.sleep(0)
        link.abort()
        found = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 20)
        assert [type(one) for one in found] == [ConnectionResetError] * 3
        with pytest.raises(OSError, match="lost"):
            await link.flush()

    asyncio.run(_full_link(lost))
