"""Set up Airflow before the tests here import it, and give each test a configuration of its own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dags.airflow_home import create_database, use_own_airflow
from tests.support.messages.notification_inbox import Hook, MailServer, serving
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import World, a_world
from twinhive.runtime.wiring.policy_wiring import Wiring

use_own_airflow()


@pytest.fixture(autouse=True)
def known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Airflow has to notice here that a task has gone to wait."""
    monkeypatch.setattr("twinhive.surfaces.airflow.triggers.deferral_delay.noticed_within", lambda: 0.0)


@pytest.fixture
def policies(tmp_path: Path) -> PolicyFiles:
    """Return a configuration directory of the test's own."""
    return PolicyFiles(tmp_path / "config")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Two clusters in memory instead of those that the connections would lead to."""
    use_own_airflow()
    create_database()
    world = a_world()
    for name in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "host": name, "extra": {"uri": f"hdfs://{name}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", json.dumps(hdfs))
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: world.ports())
    return world


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A server to which messages are posted."""
    hook = Hook()
    with serving(hook):
        yield hook


@pytest.fixture
def mail() -> Iterator[MailServer]:
    """A mail server."""
    server = MailServer()
    with serving(server):
        yield server
