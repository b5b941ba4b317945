"""The journal's address may be a connection of Airflow."""

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowSecretsBackendAccessDenied
from sqlalchemy import make_url

from tests.support.journal_records import a_state
from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.operations.journal.address import resolved
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.writing import Journal
from twinhive.surfaces.airflow.connections import journal_connection
from twinhive.surfaces.airflow.connections.journal_connection import journal_of


def test_a_connection_becomes_the_journals_address(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"conn_type": "postgres", "host": "db", "schema": "journal", "login": "an:n", "password": "p@ss/w#rd%"}
    monkeypatch.setenv("AIRFLOW_CONN_JOURNAL", json.dumps(said))
    url = make_url(resolved("airflow://journal"))
    assert (url.host, url.port, url.database, url.username, url.password) == (
        "db",
        5432,
        "journal",
        "an:n",
        "p@ss/w#rd%",
    )


@pytest.mark.parametrize(
    ("connection", "found"),
    [
        ({"conn_type": "mysql", "host": "db", "schema": "journal"}, "type mysql"),
        ({"conn_type": "postgres", "host": "db"}, "database"),
    ],
)
def test_a_connection_that_cannot_be_used_says_why_and_shows_no_password(
    monkeypatch: pytest.MonkeyPatch, connection: dict[str, str], found: str
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_OTHER", json.dumps({**connection, "password": "secret"}))
    with pytest.raises(InvalidSettings, match="the journal cannot be opened") as caught:
        journal_of("other")
    assert found in str(caught.value) and "secret" not in str(caught.value)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Exception]:
    """A secrets backend that fails as often as it is told to, then leads to a file."""
    failures: list[Exception] = []

    def get_connection(connection_id: str) -> Any:
        if failures:
            raise failures.pop(0)
        return Connection(conn_id=connection_id, conn_type="postgres", host="db", schema="journal")

    monkeypatch.setattr(BaseHook, "get_connection", get_connection)
    address = f"sqlite:///{tmp_path / 'journal.db'}"
    monkeypatch.setattr(journal_connection, "postgresql_address", lambda *found: address)
    return failures


@pytest.mark.parametrize(
    "failure", [AirflowNotFoundException("no"), AirflowSecretsBackendAccessDenied("403"), TimeoutError("vault")]
)
def test_a_backend_that_hiccups_may_be_asked_again(backend: list[Exception], failure: Exception) -> None:
    backend.append(failure)
    with pytest.raises(Unreachable, match="Airflow gave no connection for the journal") as caught:
        journal_of("journal")
    assert "airflow connections get journal" in str(caught.value)
    assert journal_of("journal").startswith("sqlite:")


def test_what_comes_after_a_hiccup_of_the_backend_is_written(backend: list[Exception]) -> None:
    backend += [TimeoutError("vault"), AirflowNotFoundException("no")]
    warnings: list[str] = []
    journal = Journal("airflow://journal", warnings.append)
    for name in ("lost", "lost too", "kept"):
        journal.record_state(a_state(name))
    assert [state.policy for state in open_reader(resolved("airflow://journal")).overview()[1]] == ["kept"]
    assert len(warnings) == 2


def test_a_backend_that_does_not_recover_is_left_alone(backend: list[Exception]) -> None:
    backend += [TimeoutError("vault")] * 10
    journal = Journal("airflow://journal", lambda said: None)
    for _ in range(10):
        journal.record_state(a_state("lost"))
    assert journal.is_down and len(backend) == 7
