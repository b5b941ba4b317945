"""Sensors that wait: what a poll asks of the metastore for one of them, and for many."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.sets.scene import Scene
from twinhive.hive.adapters.hive.hive_reader import ThriftMetastoreReader
from twinhive.publishing.sets.done_sets import DEFAULT_KEEP
from twinhive.surfaces.airflow.triggers import replica_watch
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger

_POLLS = 4
_PATIENCE = 60.0


def measure_waiting(scene: Scene, sensors: int) -> None:
    """Print how many calls a poll makes for one sensor and for many, as Airflow's triggerer runs them."""
    settings = json.dumps({"connection": "east_metastore"})
    one = asyncio.run(_polled(settings, scene, ["waited"]))
    names = ["waited", *(f"waited{number}" for number in range(sensors - 1))]
    many = asyncio.run(_polled(settings, scene, names))
    print(f"a poll for 1 sensor: {one[0]:.1f} calls, {one[1] * 1e3:.0f} ms of the metastore's answers")
    print(f"a poll for {sensors:,} sensors: {many[0]:.1f} calls, {many[1] * 1e3:.0f} ms of the metastore's answers")
    print(f"one mark of a broader set woke all of them within {many[2]:.1f} s", flush=True)


async def _polled(settings: str, scene: Scene, names: list[str]) -> tuple[float, float, float]:
    """Return calls and seconds of a poll, and how long it took from a mark of the whole table until all had fired."""
    place = (scene.table.database, scene.table.table)
    with _counted() as asked:
        since = int(time.time()) + 1  # marks of the run before do not count
        triggers = [SetDoneTrigger(settings, place, [("day", name)], since, DEFAULT_KEEP) for name in names]
        waiting = [asyncio.ensure_future(_fired(trigger)) for trigger in triggers]
        await asyncio.sleep(replica_watch.POLL_SECONDS)  # the first look of all
        [watch] = replica_watch._watches.values()
        rounds, before, seconds = watch.rounds, len(asked), sum(asked)
        while watch.rounds < rounds + _POLLS:
            await asyncio.sleep(0.02)
        polls = watch.rounds - rounds
        calls, taken = (len(asked) - before) / polls, (sum(asked) - seconds) / polls
        assert not any(task.done() for task in waiting)
        began = time.monotonic()
        await asyncio.to_thread(scene.mark_whole, str(len(names)))
        await asyncio.wait_for(asyncio.gather(*waiting), _PATIENCE)
    return calls, taken, time.monotonic() - began


async def _fired(trigger: SetDoneTrigger) -> None:
    async for _ in trigger.run():
        return


@contextmanager
def _counted() -> Iterator[list[float]]:
    """Take the seconds of each call that reads a metastore."""
    asked: list[float] = []
    real = ThriftMetastoreReader._read

    def timed(self: ThriftMetastoreReader, doing: str, call: Callable[[Any], Any]) -> Any:
        began = time.monotonic()
        try:
            return real(self, doing, call)
        finally:
            asked.append(time.monotonic() - began)

    ThriftMetastoreReader._read = timed  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        ThriftMetastoreReader._read = real  # type: ignore[method-assign]
