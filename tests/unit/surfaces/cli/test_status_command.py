"""`twinhive status`: all policies in a table, one in full; trouble of one hides no other."""

import time
from pathlib import Path

import pytest

from tests.support.policy_terminal import Terminal
from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.monitored_policy import Limits
from twinhive.surfaces.cli import status_command as cli_status


def test_all_policies_have_a_line(published: Terminal) -> None:
    published.users.insert("plain", None, [b"more"])
    said = published.type("status")
    assert "sales" in said and "following" in said
    (policy,) = published.document("status")["policies"]
    assert (policy["policy"], policy["phase"], policy["lag_events"]) == ("sales", "following", 2)
    assert policy["newest"] - policy["replicated"] >= 1


def test_a_file_that_cannot_be_used_hides_no_other_policy(published: Terminal) -> None:
    published.policies.write("policies/broken.yaml", "policy: broken\ncolour: red\n")
    said = published.type("status", code=4)
    assert "unusable" in said and "following" in said and "twinhive check broken" in said
    found = {one["policy"]: one for one in published.document("status", code=4)["policies"]}
    assert found["broken"]["error"]["family"] == "act_now" and found["sales"]["phase"] == "following"


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ((None,), 0),
        ((None, Unreachable("the metastore m:9083 does not answer", next_step="start it")), 3),
        ((Unreachable("no answer"), InvalidSettings("wrong")), 4),
    ],
)
def test_the_exit_code_is_that_of_the_worst(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, errors: tuple[Exception | None, ...], code: int
) -> None:
    found = [PolicyLag(f"p{number}", 0.0, error=error) for number, error in enumerate(errors)]
    monkeypatch.setattr(cli_status, "measure_policies", lambda configuration, resolve: found)
    said = terminal.type("status", code=code)
    assert all(one.policy in said for one in found)
    assert all(one.error.what in said for one in found if one.error)
    assert terminal.document("status", code=code)["exit_code"] == code


def test_a_policy_that_is_late_says_so_and_is_no_trouble(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    late = PolicyLag(
        "sales", 0.0, phase="following", lag_events=9, lag_seconds=4000.0, limits=Limits(max_lag=600.0), at_least=True
    )
    monkeypatch.setattr(cli_status, "measure_policies", lambda configuration, resolve: [late])
    said = terminal.type("status")
    assert "1 h 6 min (max_lag 10 min)" in said and "9+" in said


def test_one_policy_is_shown_in_full(published: Terminal) -> None:
    published.users.insert("plain", None, [b"more"])
    published.type("resync", "sales", "plain")
    said = published.type("status", "sales")
    assert "waits for resync: plain" in said and "lag" in said
    found = published.document("status", "sales")
    assert found["waits_for_resync"] == ["plain"]
    assert (found["phase"], found["events_in_scope"], found["lag_events"], found["lease"]) == ("following", 2, 2, None)


def test_a_replica_that_is_not_there_yet_has_no_lag(terminal: Terminal) -> None:
    found = terminal.document("status", "sales")
    assert (found["phase"], found["lag_seconds"], found["replicated"]) == ("absent", None, None)


def test_a_server_that_does_not_answer_is_tried_again(published: Terminal) -> None:
    published.world.source.down = True
    assert published.document("status", "sales", code=3)["error"]["family"] == "try_again"


def test_when_the_monitor_has_looked_is_said_where_the_journal_is_known(
    published: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "journal.db"
    monkeypatch.setenv("TWINHIVE_JOURNAL", f"sqlite:///{file}")
    assert "twinhive.monitor" not in published.type("status") and not file.exists()
    Journal(f"sqlite:///{file}").monitor_was_here(time.time() - 3 * 3600)
    assert "twinhive.monitor looked 3 h" in published.type("status")
    assert published.document("status")["monitor_at"] == pytest.approx(time.time() - 3 * 3600, abs=60)
