"""What runs ask of the clusters, and how often they decode an event, does not grow without a word.

The counts of fixed runs in memory are kept in `counted_runs.json`: decoded events, calls of metastores and NameNodes by
method, lease proofs, entries of listings. How to write it again stands in tests/support/kept_counts.py.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.support.builders import a_policy
from tests.support.kept_counts import Counts, assert_not_grown
from tests.support.users.mixed_history import EVENTS, SCRATCH, SCRATCH_EVENTS, create_tables, write_history
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.counted_world import DECODED, OPENED, PROOFS, CountedWorld
from tests.support.worlds.fake_world import tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.scan import Scan, Scanned
from twinhive.runtime.pipeline.phases import BOOTSTRAP, INCREMENTAL, Stage
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase, run_rounds

KEPT_IN = "counted_runs"
POLICY = tuned(a_policy(exclude=(SCRATCH,)), window_events=250)
TABLES, PARTITIONS_EACH = 20, 500
PARTITIONS = TABLES * PARTITIONS_EACH
NOW = 2e9
"""Seconds since 1970, after all that happens in memory."""


@pytest.fixture(scope="module")
def followed() -> Mapping[str, Counts]:
    """Follow a history of 1,000 events; return what cutting its windows took, and what applying them took."""
    world = CountedWorld()
    users = users_of(world)
    create_tables(users)
    run_bootstrap(POLICY, world.ports(), {"run": "b"}, nobody_reads)
    before = world.source.current_event_id()
    write_history(users)
    assert world.source.current_event_id() - before == EVENTS
    world.tally.take()
    windows, applies = Counter[str](), Counter[str]()
    with world.decoding_counted():
        while not (planned := run(world, INCREMENTAL[:1]))["window"].idle:
            windows.update(world.tally.take())
            run(world, INCREMENTAL[1:], planned)
            applies.update(world.tally.take())
    users.drop_table(SCRATCH)
    assert_twin(world)
    return {"window": windows, "apply": applies}


def test_a_round_that_folds_a_thousand_events_takes_no_more_than_it_did() -> None:
    world = CountedWorld()
    users = users_of(world)
    create_tables(users)
    run(world, BOOTSTRAP)
    write_history(users)
    world.tally.take()
    with world.decoding_counted():
        run_rounds(POLICY, world.ports(), {"run": "c"}, nobody_reads)
    counts = world.tally.take()
    users.drop_table(SCRATCH)
    assert_twin(world)
    assert counts[DECODED] >= EVENTS - SCRATCH_EVENTS
    assert_not_grown(KEPT_IN, "fold 1,000 events and load", counts)


@pytest.fixture(scope="module")
def replicated() -> Mapping[str, Counts]:
    """Replicate a warehouse of 10,000 partitions, look at it twice, find nothing to do; return what each run took."""
    world = CountedWorld()
    make_warehouse(users_of(world))
    counts: dict[str, Counts] = {}

    def counted(name: str, act: Callable[[], Any]) -> Any:
        world.tally.take()
        result = act()
        counts[name] = world.tally.take()
        return result

    with world.decoding_counted():
        counted("bootstrap", lambda: run(world, BOOTSTRAP))
        loaded = counted("consolidate", lambda: run_rounds(POLICY, world.ports(), {"run": "c"}, nobody_reads))["load"]
        assert (loaded.tables, loaded.partitions) == (TABLES, PARTITIONS)
        assert counted("first scan", lambda: scan(world)).suspects == PARTITIONS
        assert counted("scan", lambda: scan(world)).suspects == 0
        assert counted("idle", lambda: run(world, INCREMENTAL))["window"].idle
    return counts


def test_cutting_the_windows_of_a_thousand_events_takes_no_more_than_it_did(followed: Mapping[str, Counts]) -> None:
    assert followed["window"][OPENED] >= followed["window"][DECODED] >= EVENTS - SCRATCH_EVENTS
    assert_not_grown(KEPT_IN, "cut the windows of 1,000 events", followed["window"])


def test_applying_a_thousand_events_takes_no_more_than_it_did(followed: Mapping[str, Counts]) -> None:
    assert followed["apply"][PROOFS] > 0
    assert_not_grown(KEPT_IN, "apply 1,000 events", followed["apply"])


def test_a_bootstrap_of_ten_thousand_partitions_takes_no_more_than_it_did(replicated: Mapping[str, Counts]) -> None:
    assert_not_grown(KEPT_IN, "bootstrap 10,000 partitions", replicated["bootstrap"])


def test_a_round_that_loads_ten_thousand_partitions_takes_no_more_than_it_did(
    replicated: Mapping[str, Counts],
) -> None:
    assert replicated["consolidate"][PROOFS] > 0
    assert_not_grown(KEPT_IN, "consolidate 10,000 partitions", replicated["consolidate"])


def test_a_first_scan_of_ten_thousand_partitions_takes_no_more_than_it_did(replicated: Mapping[str, Counts]) -> None:
    assert_not_grown(KEPT_IN, "first scan of 10,000 partitions", replicated["first scan"])


def test_a_scan_that_finds_nothing_changed_takes_no_more_than_it_did(replicated: Mapping[str, Counts]) -> None:
    assert_not_grown(KEPT_IN, "scan of 10,000 partitions, nothing changed", replicated["scan"])


def test_an_idle_incremental_run_takes_no_more_than_it_did(replicated: Mapping[str, Counts]) -> None:
    assert_not_grown(KEPT_IN, "idle incremental run", replicated["idle"])


def run(world: CountedWorld, stages: tuple[Stage, ...], earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return run_phase(stages, POLICY, world.ports(), {"run": "r"}, nobody_reads, earlier or {})


def scan(world: CountedWorld) -> Scanned:
    work = Work(POLICY, holder={"run": "s"}, report=nobody_reads)
    return Scan(work, clock=lambda: NOW, wait=lambda seconds: None).run(world.ports())


def users_of(world: CountedWorld) -> SourceWriter:
    return SourceWriter.with_database(world.source, world.source_files, POLICY.source.database)


def make_warehouse(users: SourceWriter) -> None:
    """Create the partitioned tables; every fifth partition has a file: files take most of the time here."""
    days = range(PARTITIONS_EACH)
    for number in range(TABLES):
        users.create_table(f"t{number:02d}", keys=("day",))
        users.add_partitions(f"t{number:02d}", {(f"{day:03d}",): [] if day % 5 else {"f": b"rows"} for day in days})


def nobody_reads(line: object) -> None:
    """Take a line of the log."""
