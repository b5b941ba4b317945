"""A metastore that hangs delays nothing: neither the event loop, nor the end of the process."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.dags.airflow_home import CHECKOUT
from twinhive.surfaces.airflow.triggers.one_thread import OneThread

HANGS = """
import asyncio, threading

class Hangs:
    def current_event_id(self):
        asked.set()
        threading.Event().wait()
    database = lambda self, name: self.current_event_id()
    events_after = lambda self, after, limit: self.current_event_id()

asked = threading.Event()

async def main():
    {watch}
    waiting = asyncio.ensure_future(anext(aiter(news)))
    while not asked.is_set():
        await asyncio.sleep(0.01)
    waiting.cancel()

asyncio.run(main())
print("over")
"""
WATCHES = {
    "log": "from twinhive.surfaces.airflow.triggers.log_watch import watch_log; news = watch_log(Hangs)",
    "replica": "from twinhive.surfaces.airflow.triggers.replica_watch import looks; news = looks('key', Hangs, None)",
}


@pytest.mark.parametrize("watch", WATCHES.values(), ids=WATCHES)
def test_a_process_ends_though_a_metastore_that_it_watches_hangs(watch: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "plugins"), "AIRFLOW_HOME": str(tmp_path)}
    # Without an end of its own the process would be there for ever; the limit only says that to the test.
    ended = subprocess.run(
        [sys.executable, "-c", HANGS.format(watch=watch)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout == "over\n"


def test_calls_are_made_one_after_the_other_by_the_same_thread() -> None:
    async def threads() -> list[int]:
        one = OneThread("test")
        found = await asyncio.gather(*(one.call(threading.get_ident) for _ in range(5)))
        one.leave()
        return found

    found = asyncio.run(threads())
    assert len(set(found)) == 1 and threading.get_ident() not in found


def test_what_a_call_raises_is_raised_and_the_next_one_is_made() -> None:
    def fails() -> None:
        raise ValueError("no")

    async def both() -> int:
        one = OneThread("test")
        with pytest.raises(ValueError, match="no"):
            await one.call(fails)
        return await one.call(lambda: 7)

    assert asyncio.run(both()) == 7


def test_a_call_that_nobody_waits_for_any_more_is_not_made() -> None:
    made: list[str] = []

    async def cancelled() -> None:
        one, go_on = OneThread("test"), threading.Event()
        first = asyncio.ensure_future(one.call(go_on.wait))
        second = asyncio.ensure_future(one.call(lambda: made.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        go_on.set()
        await first
        await one.call(lambda: made.append("third"))

    asyncio.run(cancelled())
    assert made == ["third"]
