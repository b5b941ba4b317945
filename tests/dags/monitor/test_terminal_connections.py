"""What the page offers as a command works where Airflow knows the connections, and not only the environment."""

import pytest

from tests.dags.airflow_home import create_database
from twinhive.core.model.connections import SOURCE_VARIABLE
from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings import resolve_from_environment
from twinhive.surfaces.airflow.connections.terminal_connections import resolve_through_airflow
from twinhive.surfaces.cli.app import run
from twinhive.surfaces.cli.connection_sources import resolver


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is in Airflow's database alone."""
    create_database()
    from airflow.models.connection import Connection
    from airflow.utils.session import create_session

    monkeypatch.delenv(SOURCE_VARIABLE, raising=False)
    with create_session() as session:
        session.query(Connection).filter(Connection.conn_id == "kept").delete()
        session.add(Connection(conn_id="kept", conn_type="hdfs", host="h1", port=8020, extra='{"user": "ann"}'))


@pytest.mark.usefixtures("kept")
def test_a_connection_of_airflows_database_is_found() -> None:
    found = resolve_through_airflow("kept")
    assert (found.host, found.port, found.extra) == ("h1", 8020, {"user": "ann"})


@pytest.mark.usefixtures("kept")
def test_one_that_airflow_does_not_know_says_where_it_looked() -> None:
    with pytest.raises(InvalidSettings, match="connection nowhere is not known to Airflow") as caught:
        resolve_through_airflow("nowhere")
    assert "AIRFLOW_HOME" in str(caught.value) and "airflow connections get" in str(caught.value)


def test_a_terminal_asks_airflow_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOURCE_VARIABLE, raising=False)
    assert resolver() is resolve_from_environment
    monkeypatch.setenv(SOURCE_VARIABLE, "environment")
    assert resolver() is resolve_from_environment
    assert run(["--airflow", "version"]) == 0
    assert resolver() is resolve_through_airflow


def test_another_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SOURCE_VARIABLE, "vault")
    with pytest.raises(InvalidSettings, match="TWINHIVE_CONNECTIONS cannot be used"):
        resolver()
