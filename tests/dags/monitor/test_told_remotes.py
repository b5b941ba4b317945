"""Who is told of remotes when the file that names them cannot be used."""

from pathlib import Path
from typing import Any

import pytest

from tests.dags.monitor.test_monitor_dag import ALARM, PAGED, WELL, Monitored, journal, memory, monitored, paged
from tests.support.messages.notification_inbox import Hook
from twinhive.runtime.settings.remotes import told_of_remotes

__all__ = ["journal", "memory", "monitored", "paged"]


def said(hook: Hook) -> list[tuple[str, str, str]]:
    every = (one for body in hook.bodies for one in body["alerts"])
    return [(one["kind"], one["state"], one["what"].splitlines()[0]) for one in every]


def test_who_is_told_of_a_remotes_file_that_cannot_be_used_is_read_from_it_all_the_same(
    monitored: Monitored, paged: Hook, memory: dict[str, Any]
) -> None:
    monitored.policies.write("remotes.yaml", {"notifications": PAGED, "colour": "red"})
    assert monitored.run() == ALARM
    assert said(paged) == [("gateway", "stands", "remotes.yaml cannot be used:")]
    monitored.policies.write("remotes.yaml", {"notifications": PAGED})
    memory["alerts"]["*remotes gateway"][2] -= 301
    assert monitored.run() == WELL
    assert said(paged)[1:] == [("gateway", "over", "now: remotes.yaml is well")]


@pytest.mark.parametrize(
    "text", ["notifications: {send: [{pigeon: x}]}", "notifications: [", "- a", "", "colour: red", "\xff"]
)
def test_where_the_file_does_not_say_it_nobody_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "remotes.yaml"
    path.write_bytes(text.encode("latin-1"))
    assert told_of_remotes(path).send == ()
    assert told_of_remotes(tmp_path / "none.yaml").send == ()
