"""Every process finds the same journal by the same rule."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from tests.journal_records import a_window
from twinhive.journal.opening import journal_url
from twinhive.journal.reading import open_reader
from twinhive.journal.schema import METADATA
from twinhive.journal.writing import open_journal


def test_the_variable_says_where_the_journal_is() -> None:
    url = "postgresql+psycopg2://u:p@host/journal"
    assert journal_url({"TWINHIVE_JOURNAL": url, "AIRFLOW_HOME": "/srv/airflow"}) == url


def test_without_it_the_journal_is_a_file_beside_airflows() -> None:
    assert journal_url({"AIRFLOW_HOME": "/srv/airflow"}) == "sqlite:////srv/airflow/twinhive-journal.db"
    assert journal_url({"TWINHIVE_JOURNAL": "", "AIRFLOW_HOME": "/a"}) == "sqlite:////a/twinhive-journal.db"
    assert journal_url({}) == f"sqlite:///{Path.home()}/airflow/twinhive-journal.db"


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
