"""Who is interrupted while directories are copied does not wait until the last of their files is there."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.external_world import BASE, ExternalWorld, a_world_with_files
from twinhive.core.model.errors import TryAgain
from twinhive.replication.external_tables.sync_external import SyncExternal
from twinhive.transfer.tree.executing import in_this_process

WAITING_SECONDS = 20.0


def two_directories() -> ExternalWorld:
    world = a_world_with_files()
    world.add_table("more", "hdfs://east/data/more")
    for number in range(20):
        world.put(f"/data/more/g{number}", b"rows")
    return world


def test_an_interruption_ends_the_copies_of_the_other_directories() -> None:
    world = two_directories()
    ended: list[bool] = []

    class OneWaits:
        def execution(self, source: Any, target: Any, say: Any, is_ending: Any) -> Any:
            here = in_this_process(source, target, is_ending=is_ending)
            noticed = threading.Event()

            def execute(job: Any, plan: Any, confirm: Any) -> Any:
                if job.places.base.endswith("/more"):
                    for _ in range(int(WAITING_SECONDS * 100)):
                        if is_ending() or noticed.wait(0.01):
                            break
                    ended.append(is_ending())
                return here(job, plan, confirm)

            return execute

    def interrupt(what: object) -> None:
        if "copied" in str(what):
            raise KeyboardInterrupt

    listed = world.listed()
    (batch,) = listed.batches
    work = replace(world.work(batch.name, listed.dump), report=interrupt)
    with pytest.raises(KeyboardInterrupt):
        SyncExternal(work, OneWaits()).run(world.ports())
    assert ended == [True]
    assert world.world.replica_files.status(f"{BASE}/data/more/g0") is None
    world.cycle()
    world.assert_twin("/data/events")
    world.assert_twin("/data/more")


def test_no_file_is_begun_after_the_end_and_a_later_run_copies_the_rest() -> None:
    world = two_directories()
    moved: list[int] = []

    class EndsAfterSome:
        def execution(self, source: Any, target: Any, say: Any, is_ending: Any) -> Any:
            class Counted:
                def moved(self, count: int) -> None:
                    moved.append(count)

                def done(self, length: int) -> None:
                    pass

                def skipped(self, length: int) -> None:
                    pass

            return in_this_process(source, target, lambda files, length: Counted(), lambda: len(moved) >= 5)

    listed = world.listed()
    (batch,) = listed.batches
    with pytest.raises(TryAgain) as found:
        SyncExternal(world.work(batch.name, listed.dump), EndsAfterSome()).run(world.ports())
    assert "not copied to its end" in str(found.value)
    assert len(moved) < 20
    world.cycle()
    world.assert_twin("/data/events")
    world.assert_twin("/data/more")
