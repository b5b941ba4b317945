"""How far a first copy is can be told from the clusters alone, at every moment of it."""

from dataclasses import replace

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.policy import Options
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.core.step.step_base import Work
from twinhive.operations.monitoring.lag import measure
from twinhive.operations.monitoring.measured_progress import read_progress
from twinhive.operations.monitoring.monitored_policy import Follower
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.dump.dump_layout import result_path
from twinhive.replication.dump.dump_store import current_dump
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.notification_log.list_files import ListFiles
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

POLICY = a_policy(options=Options(batch_objects=1, copy_threads=1))
HALF = LoadProgress("d", 2_000.0, 1_000.0, 4, 4, 2, 40, 20, 8_000_000_000, 2_000_000_000)


class Loading:
    """A first copy that is done step by step."""

    def __init__(self) -> None:
        self.world: World = a_world()
        self.policy = POLICY
        stages = tuple(stage for stage in BOOTSTRAP if stage.name in ("preflight", "list_objects"))
        run_phase(stages, POLICY, self.world.ports(), {"run": "b"}, lambda line: None)
        self.dump = current_dump(self.world.ports().dump_files, POLICY)
        self.batches = [batch.name for batch in self.dump.manifest.batches]

    def work(self, batch: str) -> Work:
        return Work(POLICY, batch, self.dump.key, {"run": "b"}, lambda line: None)

    def progress(self, at: float = 1e12) -> LoadProgress:
        found = read_progress(self.world.ports(), POLICY, at)
        assert found is not None
        return found


@pytest.fixture
def loading() -> Loading:
    return Loading()


def test_before_there_is_a_dump_there_is_nothing_to_tell() -> None:
    assert read_progress(a_world().ports(), POLICY, 0.0) is None


def test_lists_tell_how_much_there_is_and_results_how_much_is_done(loading: Loading) -> None:
    assert len(loading.batches) > 2
    first = loading.progress()
    assert (first.batches, first.listed, first.done, first.is_listed) == (len(loading.batches), 0, 0, False)
    assert first.part == 0.0 and first.seconds_left is None
    for batch in loading.batches:
        ListFiles(loading.work(batch)).run(loading.world.ports())
    listed = loading.progress()
    assert listed.is_listed and listed.bytes > 0 and listed.files > 0 and listed.bytes_done == 0
    shares = []
    for batch in loading.batches:
        CopyBatch(loading.work(batch)).run(loading.world.ports())
        now = loading.progress()
        shares.append(now.part)
        assert now.bytes == listed.bytes
    assert shares == sorted(shares) and shares[-1] == 1.0
    last = loading.progress()
    assert (last.done, last.files_done, last.bytes_done) == (last.batches, last.files, last.bytes)
    assert last.began is not None and last.seconds_left == 0


def test_a_batch_of_which_files_failed_is_not_done(loading: Loading) -> None:
    for batch in loading.batches:
        ListFiles(loading.work(batch)).run(loading.world.ports())
        CopyBatch(loading.work(batch)).run(loading.world.ports())
    before = loading.progress()
    files = loading.world.ports().replica_files
    batch = next(name for name in loading.batches if _result(loading, name))
    failed = {**(_result(loading, batch) or {}), "failure_count": 1}
    write_json(files, result_path(POLICY.staging, loading.dump.key, batch), failed)
    after = loading.progress()
    assert (after.done, after.files_done) == (before.done - 1, before.files_done - 1)


def _result(loading: Loading, batch: str) -> dict[str, object] | None:
    return read_json(loading.world.ports().replica_files, result_path(POLICY.staging, loading.dump.key, batch))


def test_the_monitor_knows_it_while_the_replica_is_absent_or_loading_and_not_when_it_follows(loading: Loading) -> None:
    [lag] = measure([Follower(POLICY, loading.world.ports())], 1e9, 20.0)
    assert lag.watched.progress is not None and lag.watched.progress.batches == len(loading.batches)
    run_bootstrap(POLICY, loading.world.ports(), {"run": "b"}, lambda line: None)
    [lag] = measure([Follower(POLICY, loading.world.ports())], 1e9, 20.0)
    assert lag.watched.progress is None


def test_rate_and_end_are_estimated_from_the_bytes_since_the_copying_began() -> None:
    assert (HALF.rate, HALF.seconds_left, HALF.part) == (2_000_000.0, 3_000.0, 0.25)
    assert HALF.text == ("2 of 4 batches; 20 of 40 files; 2.0 GB of 8.0 GB; 25%; 2.0 MB/s; about 50 min left")
    assert replace(HALF, listed=3).text.startswith("2 of 4 batches, 3 are listed; 20 of 40 files so far")
    assert replace(HALF, began=None).seconds_left is None
    empty = replace(HALF, bytes=0, bytes_done=0, files=0, files_done=0)
    assert (empty.part, empty.rate) == (0.5, None)
