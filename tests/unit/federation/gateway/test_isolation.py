"""One remote that is down or slow is left alone for a while, and found again by itself."""

import asyncio
import json

import pytest

from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.isolation import (
    Breaker,
    BreakerState,
    RemoteBusyError,
    RemoteDownError,
    RemoteGuard,
    RemoteLimits,
)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_failures_in_a_row_open_the_breaker_and_one_probe_closes_it() -> None:
    clock = Clock()
    breaker = Breaker(RemoteLimits(failures=3, probe_every=10), clock)
    for _ in range(2):
        breaker.failed("connection refused")
        assert breaker.lets_through()
    clock.now += 1
    breaker.failed("no answer")
    assert (breaker.state, breaker.failing_since, breaker.last_failure) == (BreakerState.OPEN, 100.0, "no answer")
    assert not breaker.lets_through()
    clock.now += 10
    assert breaker.lets_through()
    assert not breaker.lets_through(), "the probe is one call"
    breaker.answered()
    assert breaker.lets_through()
    assert breaker.failing_since is None


def test_a_probe_that_fails_opens_it_again_and_one_that_never_ends_is_followed_by_another() -> None:
    clock = Clock()
    breaker = Breaker(RemoteLimits(failures=1, probe_every=10), clock)
    breaker.failed("x")
    clock.now += 10
    assert breaker.lets_through()
    breaker.failed("x")
    assert not breaker.lets_through()
    clock.now += 10
    assert breaker.lets_through()
    clock.now += 10
    assert breaker.lets_through()


def test_an_answer_between_failures_begins_the_count_anew() -> None:
    breaker = Breaker(RemoteLimits(failures=2), Clock())
    for _ in range(5):
        breaker.failed("x")
        breaker.answered()
    assert breaker.state is BreakerState.CLOSED


async def _held(guard: RemoteGuard, until: asyncio.Event) -> None:
    async with guard.call():
        await until.wait()


def test_calls_beyond_the_limit_wait_and_are_then_refused() -> None:
    async def tried() -> None:
        guard = RemoteGuard("west", RemoteLimits(calls_at_once=2, wait=0.01), Clock())
        until = asyncio.Event()
        held = [asyncio.create_task(_held(guard, until)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RemoteBusyError):
            async with guard.call():
                pass
        until.set()
        await asyncio.gather(*held)
        async with guard.call():
            pass

    asyncio.run(tried())


def test_an_open_breaker_refuses_and_keeps_no_slot() -> None:
    async def tried() -> None:
        guard = RemoteGuard("west", RemoteLimits(calls_at_once=1, failures=1), Clock())
        guard.breaker.failed("x")
        for _ in range(3):
            with pytest.raises(RemoteDownError):
                async with guard.call():
                    pass

    asyncio.run(tried())


def test_a_call_that_is_cancelled_gives_its_slot_back() -> None:
    async def tried() -> None:
        guard = RemoteGuard("west", RemoteLimits(calls_at_once=1, wait=0.01), Clock())
        held = asyncio.create_task(_held(guard, asyncio.Event()))
        await asyncio.sleep(0)
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
        async with guard.call():
            pass

    asyncio.run(tried())


def test_refusals_of_an_open_breaker_come_one_after_the_other_so_that_they_take_no_time_from_others() -> None:
    async def tried() -> None:
        loop = asyncio.get_running_loop()
        guard = RemoteGuard("west", RemoteLimits(failures=1, refusals=100), loop.time)
        guard.breaker.failed("x")
        began, ends = loop.time(), []

        async def refused() -> None:
            with pytest.raises(RemoteDownError):
                async with guard.call():
                    pass
            ends.append(loop.time() - began)

        await asyncio.gather(*(refused() for _ in range(10)))
        assert ends == sorted(ends)
        assert ends[-1] >= 0.085

    asyncio.run(tried())


def test_counts_with_a_breaker_can_be_written_as_json_and_read_again() -> None:
    counts = CallCounts(breakers={"thrift://far:9083": (BreakerState.OPEN, 1_000.0, "refused")})
    read = CallCounts.added_up([json.loads(json.dumps(counts.to_json()))])
    assert read.breakers == counts.breakers
