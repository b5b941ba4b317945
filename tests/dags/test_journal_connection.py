"""The journal's address may be a connection of Airflow."""

import json

import pytest
from sqlalchemy import make_url

from twinhive.airflow_edge.journal_connection import journal_of
from twinhive.domain.errors import InvalidSettings
from twinhive.journal.address import resolved


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
        (None, "no connection of this id"),
    ],
)
def test_a_connection_that_cannot_be_used_says_why_and_shows_no_password(
    monkeypatch: pytest.MonkeyPatch, connection: dict[str, str] | None, found: str
) -> None:
    if connection is not None:
        monkeypatch.setenv("AIRFLOW_CONN_OTHER", json.dumps({**connection, "password": "secret"}))
    with pytest.raises(InvalidSettings, match="the journal cannot be opened") as caught:
        journal_of("other")
    assert found in str(caught.value) and "secret" not in str(caught.value)
