"""Many clients at once: whether bad remotes delay calls to a good one, and what idle clients hold."""

import asyncio
import statistics
import time

from benchmarks.gateway.calls import resident_mib
from benchmarks.gateway.made import DEAD, SAME, SILENT, table_request
from tests.support.wire.wire_messages import request
from twinhive.federation.connector_api.byte_links import ByteLink, connected
from twinhive.hive.wire.stream_reader import MessageReader
from twinhive.hive.wire.thrift_message import WireMessage

_SOME = 1_000
"""Partitions of the table that is asked for."""


class _Caller:
    """One of many connections that ask at the same time."""

    def __init__(self, link: ByteLink) -> None:
        self._link, self._reader = link, MessageReader(link)

    @classmethod
    async def to(cls, port: int) -> "_Caller":
        return cls(await connected("127.0.0.1", port))

    def close(self) -> None:
        self._link.close()

    async def seconds(self, message: WireMessage) -> float:
        began = time.perf_counter()
        self._link.write(message.raw)
        assert await self._reader.read() is not None
        return time.perf_counter() - began


async def _latencies(port: int, database: str, seconds: float, callers: int) -> list[float]:
    """Return how long small calls take that several clients make one after the other."""
    message = table_request(database, _SOME)
    ends = time.monotonic() + seconds

    async def call() -> list[float]:
        one, taken = await _Caller.to(port), []
        try:
            while time.monotonic() < ends:
                taken.append(await one.seconds(message))
        finally:
            one.close()
        return taken

    return [taken for some in await asyncio.gather(*(call() for _ in range(callers))) for taken in some]


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18] * 1_000


async def isolation(port: int, seconds: float, rounds: int) -> str:
    """Return p95 of calls to a good remote, alone and beside 50 clients of a dead and a silent one, in turn.

    Of each round the two phases follow each other, the other way round each time; what is told are medians of rounds.
    """
    alone: list[float] = []
    beside: list[float] = []
    for number in range(rounds):
        for is_beside in (number % 2 == 0, number % 2 == 1):
            bad = [asyncio.create_task(_latencies(port, name, 60, 25)) for name in (DEAD, SILENT) if is_beside]
            await asyncio.sleep(1.0)
            (beside if is_beside else alone).append(_p95(await _latencies(port, SAME, seconds, 2)))
            for task in bad:
                task.cancel()
            await asyncio.gather(*bad, return_exceptions=True)
    each = [with_ / without - 1 for with_, without in zip(beside, alone, strict=True)]
    return (
        f"p95 of a good remote, medians of {rounds} rounds of {seconds:g} s: {statistics.median(alone):.1f} ms alone, "
        f"{statistics.median(beside):.1f} ms beside 50 clients of a dead and a silent one "
        f"({statistics.median(beside) / statistics.median(alone) - 1:+.0%}; rounds "
        f"{', '.join(f'{one:+.0%}' for one in each)})"
    )


async def idle(port: int, pid: int, clients: int) -> str:
    """Return the memory of a gateway with idle clients, each of which has asked once."""
    before = resident_mib(pid)
    callers = [await _Caller.to(port) for _ in range(clients)]
    for caller in callers:
        await caller.seconds(request("get_all_databases"))
    held = resident_mib(pid)
    for caller in callers:
        caller.close()
    return f"{clients} idle clients: {held:.0f} MiB, {before:.0f} without them"
