"""Threads for blocking calls: never more than said, as many as are needed, and no call begins for nobody."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator

import pytest

from twinhive.core.model.errors import TryAgain
from twinhive.core.threads.daemons import DaemonThreads


class Given(bytearray):
    """Something large that a call is given, as an answer is."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Let nothing go that holds itself: it would be held until the collector comes, which may be long."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Gate:
    """Calls wait here."""

    def __init__(self) -> None:
        self.open, self.lock = threading.Event(), threading.Lock()
        self.inside = self.most = self.calls = 0

    def pass_through(self, number: int) -> int:
        with self.lock:
            self.calls += 1
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self.open.wait(10)
        with self.lock:
            self.inside -= 1
        return number


def test_so_many_calls_run_at_once_and_the_others_wait_their_turn() -> None:
    async def tried() -> None:
        threads, gate = DaemonThreads("these", 3), Gate()
        calls = [asyncio.create_task(threads.run(gate.pass_through, number)) for number in range(10)]
        while gate.inside < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert gate.inside == 3
        calls[9].cancel()
        calls[0].cancel()
        await asyncio.sleep(0.01)
        gate.open.set()
        assert await asyncio.gather(*calls[1:9]) == list(range(1, 9))
        assert (gate.most, gate.calls) == (3, 9), "what nobody waits for any more has begun before, or never does"
        assert await asyncio.gather(*(threads.run(gate.pass_through, number) for number in range(30))) == [*range(30)]
        assert gate.most == 3

    asyncio.run(tried())


def test_one_call_after_the_other_needs_one_thread_which_the_process_does_not_wait_for() -> None:
    async def tried() -> None:
        threads = DaemonThreads("these", 5)
        used = set()
        for _ in range(20):
            used.add(await threads.run(threading.current_thread))
            await asyncio.sleep(0.01)
        assert [(one.name, one.daemon) for one in used] == [("these", True)]

    asyncio.run(tried())


def test_what_a_call_raises_is_raised_and_the_thread_goes_on() -> None:
    async def tried() -> None:
        threads = DaemonThreads("these", 1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await threads.run(lambda: 1 // 0)
        assert await threads.run(lambda: 1) == 1

    asyncio.run(tried())


@pytest.mark.usefixtures("no_collector")
def test_a_call_that_fails_holds_nothing_of_what_it_was_given() -> None:
    async def tried() -> None:
        threads, left = DaemonThreads("these", 2), []

        async def fails() -> None:
            given = Given(100)
            left.append(weakref.ref(given))
            with pytest.raises(ZeroDivisionError):
                await threads.run(lambda data: data[0] // 0, given)

        for _ in range(10):
            await fails()
        await asyncio.sleep(0.05)
        assert [one for one in left if one() is not None] == []

    asyncio.run(tried())


def test_what_nobody_waits_for_any_more_is_held_no_longer_while_all_threads_hang() -> None:
    async def tried() -> None:
        threads, gate, left = DaemonThreads("these", 2), Gate(), []
        hanging = [asyncio.create_task(threads.run(gate.pass_through, number)) for number in range(2)]
        while gate.inside < 2:
            await asyncio.sleep(0.01)
        for _ in range(10):
            given = Given(100)
            left.append(weakref.ref(given))
            waiting = asyncio.create_task(threads.run(len, given))
            del given
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            del waiting
        await asyncio.sleep(0)
        gc.collect()
        assert [one for one in left if one() is not None] == []
        gate.open.set()
        assert await asyncio.gather(*hanging) == [0, 1]

    asyncio.run(tried())


def test_so_many_calls_wait_and_further_ones_may_be_tried_again() -> None:
    async def tried() -> None:
        threads, gate = DaemonThreads("these", 2, 3), Gate()
        calls = [asyncio.create_task(threads.run(gate.pass_through, number)) for number in range(5)]
        await asyncio.sleep(0.05)
        with pytest.raises(TryAgain, match="too many calls wait"):
            await threads.run(len, ())
        calls[4].cancel()
        await asyncio.sleep(0.05)
        last = asyncio.create_task(threads.run(gate.pass_through, 5))
        await asyncio.sleep(0.05)
        gate.open.set()
        assert await asyncio.gather(*calls[:4], last) == [0, 1, 2, 3, 5]
        await asyncio.sleep(0.05)
        assert await asyncio.gather(*(threads.run(gate.pass_through, number) for number in range(5))) == [*range(5)]

    asyncio.run(tried())
