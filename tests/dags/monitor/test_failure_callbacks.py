"""A task or a run that has failed for good is told at once, also when its process could say nothing."""

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.dags.policies.test_in_process import dags_of, run
from tests.support.messages.notification_inbox import Hook
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.operations.journal.journal_reading import JournalReader, open_reader
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.records import WHOLE_RUN
from twinhive.operations.journal.writing import Journal
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.surfaces.airflow.monitor.failure_callbacks import FailureCallback
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JournalReader:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setenv("TWINHIVE_JOURNAL", url)
    return open_reader(url)


@pytest.fixture
def dags(
    world: World, policies: PolicyFiles, hook: Hook, journal: JournalReader, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The DAGs of a policy whose people are told by a webhook."""
    monkeypatch.setenv("AIRFLOW_CONN_PAGER", json.dumps({"conn_type": "http", "host": hook.url}))
    told = {"owner": "data-platform", "send": [{"webhook": "pager"}]}
    return dags_of(policies, monkeypatch, {"include": False}, notifications=told)


def told(hook: Hook) -> list[tuple[str, str, str]]:
    return [(one["kind"], one["about"], one["what"]) for body in hook.bodies for one in body["alerts"]]


def a_context(dag: Any, task_id: str = "apply", map_index: int = -1, error: Any = None) -> dict[str, Any]:
    """Return what the DAG processor hands over for a task that was killed."""
    instance = SimpleNamespace(task_id=task_id, map_index=map_index, try_number=4)
    return {"dag": dag, "run_id": "r", "ti": instance, "exception": error, "reason": "killed"}


@pytest.mark.thorough
def test_a_first_copy_that_fails_is_told_once_however_many_batches_fail(
    dags: dict[str, Any], hook: Hook, journal: JournalReader
) -> None:
    # Copying asks for Spark, which is not here.
    run(dags["bootstrap"], ends="failed")
    assert len(journal.failures("sales")) > 1
    [(kind, about, what)] = told(hook)
    assert about == "bootstrap" and kind in ("failed", "stopped") and "sales.bootstrap, task tables.copy" in what


def test_what_a_person_must_do_is_told_at_once_and_not_with_every_run(
    dags: dict[str, Any], hook: Hook, world: World, policies: PolicyFiles
) -> None:
    run_bootstrap(policies.wiring("sales").policy, world.ports(), {"run": "b"}, print)
    users = SourceWriter(world.source, world.source_files, "sales")
    users.insert("plain", None, {"lost": b"lost"})
    users.files.delete(f"{users.location('plain')}/lost")
    for _ in range(2):
        run(dags["incremental"], ends="failed")
    [(kind, about, what)] = told(hook)
    assert (kind, about) == ("stopped", "incremental") and "sales.incremental, task window" in what


def test_what_may_pass_and_starts_again_by_itself_is_left_to_the_monitor(
    dags: dict[str, Any], hook: Hook, policies: PolicyFiles
) -> None:
    FailureCallback(str(policies.directory), "sales", "incremental")(a_context(dags["incremental"]))
    assert told(hook) == []
    [one] = what_is_open().failures
    assert (one.newest.kind, one.newest.task_id, one.newest.try_number) == ("Killed", "apply", 4)


@pytest.mark.parametrize("of_run", [False, True])
def test_a_killed_task_that_wrote_nothing_is_told_and_its_window_has_failed(
    dags: dict[str, Any], hook: Hook, policies: PolicyFiles, journal: JournalReader, *, of_run: bool
) -> None:
    callback = FailureCallback(str(policies.directory), "sales", "bootstrap", of_run=of_run)
    for _ in range(2):
        callback(a_context(dags["bootstrap"], "tables.copy", 7))
    [failure] = journal.failures("sales")
    assert failure.task_id == (WHOLE_RUN if of_run else "tables.copy")
    assert "sales.bootstrap failed without a word" in failure.what
    [(kind, about, _)] = told(hook)
    assert (kind, about) == ("failed", "bootstrap")


def test_a_run_that_ends_by_its_form_leaves_nothing_open(
    dags: dict[str, Any], hook: Hook, policies: PolicyFiles, journal: JournalReader
) -> None:
    wrong = PersonMustAct(InvalidSettings("the form holds unknown keys"))
    FailureCallback(str(policies.directory), "sales", "bootstrap")(a_context(dags["bootstrap"], error=wrong))
    FailureCallback(str(policies.directory), "sales", "bootstrap", of_run=True)(a_context(dags["bootstrap"]))
    assert journal.failures("sales") == [] and told(hook) == []


def test_without_a_journal_the_first_of_many_tasks_tells(
    dags: dict[str, Any], hook: Hook, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWINHIVE_JOURNAL", "sqlite:////no/such/directory/journal.db")
    callback = FailureCallback(str(policies.directory), "sales", "bootstrap")
    for map_index in range(5):
        callback(a_context(dags["bootstrap"], "tables.copy", map_index, PersonMustAct(ActNow("lost"))))
    assert told(hook) == [("stopped", "bootstrap", "lost")]


def test_nothing_that_goes_wrong_while_telling_is_raised(dags: dict[str, Any], hook: Hook, tmp_path: Path) -> None:
    hook.status = 500
    callback = FailureCallback(str(tmp_path / "gone"), "sales", "bootstrap")
    callback(a_context(dags["bootstrap"]))
    callback({})


def test_every_dag_of_a_policy_tells_of_tasks_and_of_runs(dags: dict[str, Any]) -> None:
    for phase in ("bootstrap", "consolidate", "incremental", "scan", "external"):
        assert [one.of_run for one in dags[phase].on_failure_callback] == [True]
        for task in dags[phase].tasks:
            assert [one.phase for one in task.on_failure_callback] == [phase]
    for dag_id in ("operate", "twinhive.sql"):
        assert all(task.on_failure_callback for task in dags[dag_id].tasks)


def test_a_task_that_was_cleared_and_runs_again_makes_up_for_its_death(
    dags: dict[str, Any], journal: JournalReader, policies: PolicyFiles
) -> None:
    FailureCallback(str(policies.directory), "sales", "scan")(a_context(dags["scan"], "scan"))
    assert len(journal.failures("sales")) == 1
    Journal(f"sqlite:///{policies.directory.parent / 'journal.db'}").resolve_failure("sales.scan", "scan", -1)
    assert journal.failures("sales") == []


@pytest.mark.thorough
def test_a_monitor_that_is_silent_is_told_by_the_task_that_cuts_windows(
    dags: dict[str, Any], hook: Hook, journal: JournalReader, policies: PolicyFiles
) -> None:
    writer = Journal(f"sqlite:///{policies.directory.parent / 'journal.db'}")
    run(dags["incremental"])
    writer.monitor_was_here(time.time() - 600)
    run(dags["incremental"])
    assert told(hook) == []
    writer.monitor_was_here(time.time() - 1_000)
    for _ in range(2):
        run(dags["incremental"])
    [(kind, _, what)] = told(hook)
    assert kind == "silent" and "nobody watches policy sales" in what
