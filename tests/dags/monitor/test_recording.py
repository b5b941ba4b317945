"""What tasks do can be read in the journal; what they do does not depend on it."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from tests.dags.policies.test_in_process import EXTERNAL, IDLE, LOADED, WITHOUT_SPARK, dags_of, run
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.errors import ActNow, Foreign, Unexplained, Unreachable
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import resync
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_parts import StepOfParts
from twinhive.operations.journal.journal_reading import JournalReader, open_reader
from twinhive.operations.journal.records import Failure, WindowRun
from twinhive.operations.journal.schema import METADATA
from twinhive.replication.bootstrap.gate import Gate, GateOpen
from twinhive.replication.incremental.window_stage import WindowCut
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase
from twinhive.surfaces.airflow.monitor.recorded_results import TaskPlace
from twinhive.surfaces.airflow.monitor.recording import failure_of
from twinhive.surfaces.airflow.tasks.stage_task import is_last_try


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JournalReader:
    """The journal of the test's tasks."""
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    return open_reader(url)


@pytest.fixture
def dags(world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The DAGs of a policy that allows no event to be left over for the time after the load."""
    return dags_of(policies, monkeypatch, {"include": False}, rest_events=0, settle_seconds=0)


@pytest.fixture
def policy(dags: dict[str, Any], policies: PolicyFiles) -> Policy:
    return policies.wiring("sales").policy


@pytest.fixture
def users(world: World, policy: Policy) -> SourceWriter:
    """Users of the source of a replica that is published."""
    run_bootstrap(policy, world.ports(), {"run": "b"}, print)
    return SourceWriter(world.source, world.source_files, "sales")


def windows(journal: JournalReader) -> dict[str, WindowRun]:
    """Return the newest window of each phase."""
    return {window.phase: window for window in reversed(journal.windows("sales"))}


def rows(journal: JournalReader) -> dict[str, list[Any]]:
    """Return all that the journal holds."""
    with journal._engine.begin() as connection:
        return {name: connection.execute(text(f"SELECT * FROM {name}")).all() for name in METADATA.tables}


def test_a_window_is_written_down_with_its_copies_tables_and_lag(
    journal: JournalReader, dags: dict[str, Any], users: SourceWriter, world: World
) -> None:
    users.insert("plain", None, [b"more"])
    assert run(dags["incremental"]) == WITHOUT_SPARK
    newest = world.source.current_event_id()
    [window] = journal.windows("sales")
    assert (window.phase, window.outcome, window.end_event) == ("incremental", "done", newest)
    assert (window.files, window.bytes, window.batches) == (1, 4, 1)
    assert window.events > 0 and window.begin_event is not None and window.ended is not None
    assert window.dag_id == "sales.incremental" and window.run_id
    [batch] = journal.batches("sales", window.dump)
    assert (batch.task_id, batch.label, batch.outcome, batch.bytes) == (
        "window",
        "sales.plain (events 9 to 9)",
        "done",
        4,
    )
    # Only what the window has touched was looked at.
    [table] = journal.tables("sales")[1]
    assert (table.table, table.state, table.last_event) == ("plain", "published", newest)
    state = journal.policy("sales")
    assert state is not None
    assert (state.phase, state.replicated, state.newest, state.lag_seconds) == ("following", newest, newest, 0.0)
    assert state.source == "east/sales"
    assert len(journal.lag("sales", time.time() - 60)) == 1


def test_an_idle_run_writes_nothing(journal: JournalReader, dags: dict[str, Any], users: SourceWriter) -> None:
    before = rows(journal)
    assert run(dags["incremental"]) == IDLE
    assert rows(journal) == before


def test_a_renamed_and_a_dropped_table_are_not_there_any_more(
    journal: JournalReader, dags: dict[str, Any], users: SourceWriter
) -> None:
    assert run(dags["scan"]) == {"scan": "success"}
    there = {table.table for table in journal.tables("sales")[1]}
    users.rename_table("plain", "renamed")
    users.drop_table("orders")
    assert run(dags["incremental"]) == WITHOUT_SPARK
    assert {table.table for table in journal.tables("sales")[1]} == (there - {"plain", "orders"}) | {"renamed"}


def test_a_bootstrap_is_over_when_rounds_begin_and_all_is_when_the_replica_is_published(
    journal: JournalReader,
    dags: dict[str, Any],
    policy: Policy,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Copying asks for Spark, which is not here: the run fails after its lists.
    run(dags["bootstrap"], ends="failed")
    window = windows(journal)["bootstrap"]
    assert (window.outcome, window.batches > 0) == ("failed", True)
    assert {failure.task_id for failure in journal.failures("sales")} == {"tables.copy"}
    assert {batch.outcome for batch in journal.batches("sales", window.dump)} == {"failed"}
    run_phase(BOOTSTRAP, policy, world.ports(), {"run": "b"}, print)

    look = Gate.run

    def look_late(gate: Gate, ports: WritePorts) -> GateOpen:
        SourceWriter(world.source, world.source_files, "sales").create_table("made_meanwhile")
        return look(gate, ports)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Gate, "run", look_late)
        run(dags["consolidate"])
    first = windows(journal)
    assert (first["bootstrap"].outcome, first["consolidate"].outcome) == ("done", "done")
    # What the bootstrap has copied is not the round's.
    assert first["consolidate"].batches > 0 and first["consolidate"].files == 0
    assert journal.failures("sales") != []

    assert run(dags["consolidate"]) == LOADED
    assert [window.outcome for window in journal.windows("sales")] == ["done"] * 3
    assert journal.failures("sales") == []
    counts = journal.table_counts("sales")
    assert counts["published"] == len(world.replica.table_names("sales"))
    left_out = journal.tables("sales", state="left out")[1]
    assert left_out and all(table.reason for table in left_out)
    assert journal.policy("sales") is not None
    assert_twin(world)


def test_a_scan_writes_the_tables_with_their_sizes(
    journal: JournalReader, dags: dict[str, Any], users: SourceWriter, world: World
) -> None:
    users.insert("orders", ("a b",), [b"more"])
    assert run(dags["incremental"]) == WITHOUT_SPARK
    assert run(dags["scan"]) == {"scan": "success"}
    tables = {table.table: table for table in journal.tables("sales")[1]}
    assert set(tables) == set(world.source.table_names("sales"))
    root = world.source.table(TableName("sales", "orders")).location
    files = [path for path in world.source_files.paths() if path.startswith(f"{root}/")]
    length = sum(len(world.source_files.read(path)) for path in files)
    assert (tables["orders"].files, tables["orders"].bytes) == (len(files), length)
    # A window knows less of a table with partitions, and does not take that away.
    users.insert("orders", ("a b",), [b"and more"])
    assert run(dags["incremental"]) == WITHOUT_SPARK
    [orders] = journal.tables("sales", search="orders")[1]
    assert orders.files == len(files)


def test_what_a_verification_finds_is_written_also_where_the_task_is_red(
    journal: JournalReader, world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    dags = dags_of(policies, monkeypatch, {"include": False}, rest_events=0, settle_seconds=0, second_look_seconds=0)
    run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    assert run(dags["verify"])["look_again"] == "success"
    equal = journal.proof("sales")
    assert equal is not None and equal.findings == 0
    assert equal.headline == f"equal at event {world.source.current_event_id()}"
    world.replica.drop_table(TableName("sales", "plain"), delete_data=True)
    assert run(dags["verify"], ends="failed")["look_again"] == "failed"
    found = journal.proof("sales")
    assert found is not None and found.findings == 1 and found.headline.startswith("NOT EQUAL")
    assert found.commands == "twinhive repair sales plain" and "plain" in (found.details or "")


def test_a_pass_over_external_tables_ends_with_its_last_copy(
    journal: JournalReader, world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    dags = dags_of(policies, monkeypatch, EXTERNAL)
    policy = policies.wiring("sales").policy
    world.source_files.put("hdfs://east/outside/part-0", b"rows")
    run_phase(BOOTSTRAP, policy, world.ports(), {"run": "b"}, print)
    assert run(dags["consolidate"]) == LOADED
    [outside] = journal.tables("sales", search="outside")[1]
    assert (outside.state, outside.kind, outside.last_sync) == ("pending", "external", None)
    run(dags["external"])
    [outside] = journal.tables("sales", search="outside")[1]
    assert (outside.files, outside.bytes) == (1, 4)
    window = windows(journal)["external"]
    assert (window.outcome, window.batches, window.files, window.bytes) == ("done", 1, 1, 4)
    [batch] = journal.batches("sales", window.dump)
    assert (batch.task_id, batch.map_index, batch.files) == ("sync", 0, 1)
    assert run(dags["incremental"]) == IDLE
    run(dags["scan"])
    [outside] = journal.tables("sales", search="outside")[1]
    assert outside.state == "published" and outside.last_sync is not None


def test_a_failure_is_written_with_what_to_do_and_goes_when_it_is_made_up_for(
    journal: JournalReader,
    dags: dict[str, Any],
    users: SourceWriter,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(step: object, ports: WritePorts) -> WindowCut:
        raise Foreign("database sales is not ours", found="no mark", expected="our mark", next_step="drop it")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(StepOfParts, "run", refuse)
        run(dags["incremental"], ends="failed")
    [failure] = journal.failures("sales")
    assert (failure.dag_id, failure.task_id, failure.map_index) == ("sales.incremental", "window", -1)
    assert (failure.kind, failure.act_now, failure.what) == ("Foreign", True, "database sales is not ours")
    assert (failure.found, failure.expected, failure.next_step) == ("no mark", "our mark", "drop it")
    assert run(dags["incremental"]) == IDLE
    assert journal.failures("sales") == []
    assert [one.what for one in journal.failures("sales", open_only=False)] == ["database sales is not ours"]


def a_place() -> TaskPlace:
    return TaskPlace("sales", "incremental", "apply", "sales.incremental", "r", "apply", -1, 2, {}, 0.0)


def test_of_errors_the_family_is_kept_and_foreign_ones_are_told_by_their_class() -> None:
    known = failure_of(Unreachable("no answer", found=7), a_place())
    assert (known.kind, known.act_now, known.found, known.try_number) == ("Unreachable", False, "7", 2)
    other = failure_of(ZeroDivisionError("division by zero"), a_place())
    assert (other.kind, other.act_now, other.what) == ("ZeroDivisionError", False, "division by zero")
    assert isinstance(other, Failure) and other.next_step
    assert failure_of(MemoryError(), a_place()).what == "MemoryError"


def test_an_answer_that_nobody_knows_is_a_persons_turn_after_the_last_try_only() -> None:
    place = TaskPlace("sales", "scan", "scan", "sales.scan", "r", "scan", -1, 1, {}, 0.0)
    error = Unexplained("what is that")
    assert not failure_of(error, place).act_now
    assert failure_of(error, replace(place, is_last_try=True)).act_now
    tries = [SimpleNamespace(try_number=number, max_tries=most) for number, most in [(1, 3), (4, 3), (5, 7), (8, 7)]]
    assert [is_last_try(one) for one in tries] == [False, True, False, True]


def test_the_commands_of_an_error_are_kept_as_they_are() -> None:
    error = ActNow("it is wrong", next_step="bring it over with: " + resync("sales", "x; id"))
    assert failure_of(error, a_place()).commands == "twinhive resync sales 'x; id'"
    assert failure_of(ActNow("it is wrong", next_step="clear this task"), a_place()).commands is None


def test_a_dry_run_leaves_no_trace(journal: JournalReader, dags: dict[str, Any], users: SourceWriter) -> None:
    users.insert("plain", None, [b"more"])
    before = rows(journal)
    assert dags["incremental"].test(run_conf={"dry_run": True}).state == "success"
    assert rows(journal) == before


def test_runs_are_as_green_without_a_journal(
    world: World,
    dags: dict[str, Any],
    users: SourceWriter,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("TWINHIVE_JOURNAL", "postgresql+psycopg2://u:secret@127.0.0.1:1/journal")
    users.insert("plain", None, [b"more"])
    assert run(dags["incremental"]) == WITHOUT_SPARK
    assert_twin(world)
    warnings = [record for record in caplog.records if "the journal is not written" in record.getMessage()]
    # One for this process, in which the tasks follow each other.
    assert len(warnings) == 1
    assert "secret" not in caplog.text


def test_what_cannot_be_read_for_the_journal_fails_no_task(
    journal: JournalReader,
    dags: dict[str, Any],
    users: SourceWriter,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def unreadable(*_: Any, **__: Any) -> None:
        raise Unreachable("the metastore of east does not answer")

    monkeypatch.setattr("twinhive.surfaces.airflow.monitor.recorded_results.read_tables", unreadable)
    users.insert("plain", None, [b"more"])
    assert run(dags["incremental"]) == WITHOUT_SPARK
    assert_twin(world)
    assert "something was not recorded" in caplog.text
    assert journal.failures("sales", open_only=False) == []
