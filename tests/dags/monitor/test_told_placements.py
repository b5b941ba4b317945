"""The people of a placement are told like those of a policy, through the channels that its file names."""

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.dags.monitor.test_monitor_dag import ALARM, PAGED, WELL, Monitored, journal, memory, monitored
from tests.support.journal_records import a_copy, a_failure
from tests.support.messages.notification_inbox import Hook
from twinhive.operations.journal.writing import Journal
from twinhive.surfaces.airflow.monitor import stalled_copies
from twinhive.surfaces.airflow.monitor.failure_callbacks import FailureCallback

__all__ = ["journal", "memory", "monitored"]

PLACEMENT: dict[str, Any] = {"placement": "near", "database": "sales", "cluster": "north", "notifications": PAGED}


@pytest.fixture(autouse=True)
def paged(monitored: Monitored, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> Hook:
    """The webhook that the people of a placement are told by; those of the policy are told by nothing."""
    monkeypatch.setenv("AIRFLOW_CONN_PAGER", json.dumps({"conn_type": "http", "host": hook.url}))
    policies = monitored.policies
    clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    clusters["clusters"]["north"] = {**clusters["clusters"]["west"], "metastore": {"of": "east"}}
    policies.write("clusters.yaml", clusters)
    (policies.directory / "placements").mkdir()
    policies.write("placements/near.yaml", PLACEMENT)
    return hook


def a_failed_list(**more: Any) -> Any:
    return a_failure(
        "near", dag_id="near.copies", task_id="list_copies", **{"act_now": True, "what": "no room", **more}
    )


def said(hook: Hook) -> list[tuple[str, str, str, str]]:
    every = (one for body in hook.bodies for one in body["alerts"])
    return [(one["policy"], one["kind"], one["about"], one["state"]) for one in every]


def open_failures(monitored: Monitored) -> dict[str, float]:
    """What was sent of failures that a person must mend, by whose they are."""
    name = "twinhive.failures.open {{'policy': '{}', 'family': 'act_now'}}"
    sent = monitored.metrics
    return {whose: sent[name.format(whose)] for whose in ("near", "sales") if name.format(whose) in sent}


def stalled_copies_sent(monitored: Monitored) -> dict[str, float]:
    """What was sent of copies that move nothing, by whose they are."""
    name = "twinhive.copies.stalled {{'policy': '{}'}}"
    sent = monitored.metrics
    return {whose: sent[name.format(whose)] for whose in ("near", "sales") if name.format(whose) in sent}


def test_a_journal_that_does_not_answer_does_not_say_that_nothing_has_failed_or_stands_still(
    monitored: Monitored, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TWINHIVE_JOURNAL", f"sqlite:///{tmp_path / 'no folder' / 'journal.db'}")
    monitored.run()
    assert open_failures(monitored) == stalled_copies_sent(monitored) == {}


def test_a_failure_is_told_reminded_of_and_told_to_be_over(
    monitored: Monitored, paged: Hook, journal: str, memory: dict[str, Any]
) -> None:
    told = {**PAGED, "remind_after": 60}
    monitored.policies.write("placements/near.yaml", {**PLACEMENT, "notifications": told})
    Journal(journal).record_failure(a_failed_list())
    assert monitored.run() == ALARM
    assert said(paged) == [("near", "stopped", "copies", "stands")]
    assert open_failures(monitored) == {"near": 1, "sales": 0}
    memory["alerts"]["near stopped copies"][1] -= 61
    assert monitored.run() == ALARM
    assert len(monitored.told) == 2
    Journal(journal).resolve_all("near.copies")
    memory["alerts"]["near stopped copies"][2] -= 301
    assert monitored.run() == WELL
    assert said(paged)[-1] == ("near", "stopped", "copies", "over")
    assert paged.bodies[-1]["alerts"][0]["what"] == "now: placement near: nothing is wrong with it"


def test_what_is_still_wrong_is_said_with_what_is_over(
    monitored: Monitored, paged: Hook, journal: str, memory: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stalled_copies, "airflow_runs", lambda work: True)
    copy = a_copy("near", dag_id="near.copies", task_id="copy", began=1.0, moved=time.time() - 7_200)
    Journal(journal).copy_begins(copy)
    Journal(journal).record_failure(a_failed_list())
    assert monitored.run() == ALARM
    assert sorted(kind for _, kind, _, _ in said(paged)) == ["stalled", "stopped"]
    assert stalled_copies_sent(monitored) == {"near": 1, "sales": 0}
    Journal(journal).resolve_all("near.copies")
    memory["alerts"]["near stopped copies"][2] -= 301
    assert monitored.run() == ALARM
    assert paged.bodies[-1]["alerts"][0]["what"] == "now: placement near: near.copies: a copy moves nothing"


@pytest.mark.parametrize(("watch", "ends"), [({}, WELL), ({"failed_for": 0}, ALARM)])
def test_what_may_pass_gets_as_long_as_the_file_says(
    monitored: Monitored, journal: str, watch: dict[str, Any], ends: dict[str, str]
) -> None:
    monitored.policies.write("placements/near.yaml", {**PLACEMENT, "watch": watch})
    Journal(journal).record_failure(a_failed_list(act_now=False))
    assert monitored.run() == ends


@pytest.mark.parametrize(
    ("watch", "ends"), [({}, ALARM), ({"stalled_for": 9_000}, WELL), ({"stalled_for": "off"}, WELL)]
)
def test_a_copy_stands_still_for_as_long_as_the_file_says(
    monitored: Monitored,
    journal: str,
    watch: dict[str, Any],
    ends: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stalled_copies, "airflow_runs", lambda work: True)
    monitored.policies.write("placements/near.yaml", {**PLACEMENT, "watch": watch})
    Journal(journal).copy_begins(a_copy("near", dag_id="near.copies", began=1.0, moved=time.time() - 7_200))
    assert monitored.run() == ends


@pytest.mark.parametrize("document", [PLACEMENT, {**PLACEMENT, "colour": "red"}])
def test_a_task_tells_at_once_what_a_person_must_mend_also_with_a_file_that_cannot_be_used(
    monitored: Monitored, paged: Hook, journal: str, document: dict[str, Any]
) -> None:
    monitored.policies.write("placements/near.yaml", document)
    Journal(journal).record_failure(a_failed_list())
    context = {
        "dag": SimpleNamespace(dag_id="near.copies"),
        "run_id": "first",
        "ti": SimpleNamespace(task_id="list_copies", map_index=-1, try_number=1),
        "exception": None,
    }
    FailureCallback(str(monitored.policies.directory), "near", "copies")(context)
    assert said(paged) == [("near", "stopped", "copies", "stands")]


def test_a_file_that_cannot_be_used_is_told_of(monitored: Monitored, paged: Hook) -> None:
    assert monitored.run() == WELL
    monitored.policies.write("placements/near.yaml", {**PLACEMENT, "colour": "red"})
    assert monitored.run() == ALARM
    assert [(policy, kind) for policy, kind, _, _ in said(paged)] == [("near", "trouble")]
    assert "colour" in str(paged.bodies[-1])
