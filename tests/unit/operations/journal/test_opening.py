"""Every process finds the same journal by the same rule."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from tests.support.journal_records import a_window
from twinhive.core.model.errors import InvalidSettings
from twinhive.operations.journal import address
from twinhive.operations.journal.address import is_shared, journal_address, resolved
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.schema import METADATA
from twinhive.operations.journal.writing import Journal, open_journal


def test_the_variable_says_where_the_journal_is() -> None:
    url = "postgresql+psycopg2://u:p@host/journal"
    assert journal_address({"TWINHIVE_JOURNAL": url, "AIRFLOW_HOME": "/srv/airflow"}) == url


def test_without_it_the_journal_is_a_file_beside_airflows() -> None:
    assert journal_address({"AIRFLOW_HOME": "/srv/airflow"}) == "sqlite:////srv/airflow/twinhive-journal.db"
    assert journal_address({"TWINHIVE_JOURNAL": "", "AIRFLOW_HOME": "/a"}) == "sqlite:////a/twinhive-journal.db"
    assert journal_address({}) == f"sqlite:///{Path.home()}/airflow/twinhive-journal.db"


def test_writers_and_readers_of_a_process_share_the_journal_of_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TWINHIVE_JOURNAL", raising=False)
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    assert open_journal() is open_journal()
    open_journal().record_window(a_window())
    assert open_reader().windows("sales") == [a_window()]


def test_a_reader_may_be_the_first(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    assert open_reader(url).overview() == (0, [])
    assert set(inspect(create_engine(url)).get_table_names()) == METADATA.tables.keys()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The connections that Airflow was asked for."""
    ids: list[str] = []

    def address_of(connection_id: str) -> str:
        ids.append(connection_id)
        if connection_id != "known":
            raise InvalidSettings(f"no connection {connection_id}")
        return "sqlite://"

    monkeypatch.setattr(address, "_of_connections", [address_of])
    return ids


def test_a_connection_of_airflow_may_say_where_it_is(asked: list[str]) -> None:
    assert resolved("airflow://known") == "sqlite://"
    assert resolved("sqlite:////a/b.db") == "sqlite:////a/b.db"
    assert asked == ["known"]


def test_a_connection_that_is_not_known_costs_history_and_no_work(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWINHIVE_JOURNAL", "airflow://nowhere")
    warnings: list[str] = []
    journal = Journal(journal_address(), warnings.append)
    journal.record_window(a_window())
    assert journal.is_down and "no connection nowhere" in warnings[0]
    with pytest.raises(InvalidSettings, match="no connection nowhere"):
        open_reader()


def test_outside_of_airflow_a_connection_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_of_connections", [])
    with pytest.raises(InvalidSettings, match=r"the journal cannot be opened \(TWINHIVE_JOURNAL\)"):
        resolved("airflow://known")


def test_a_file_is_not_shared_by_workers() -> None:
    assert not is_shared(journal_address({}))
    assert is_shared("postgresql+psycopg2://u@host/journal") and is_shared("airflow://journal")
