"""A journal that is down costs one warning and a moment, and nothing else."""

import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.journal_records import a_batch, a_failure, a_state, a_table, a_window
from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.writing import Journal

BUSY_PATIENCE = 0.5


@pytest.fixture
def frozen_server() -> Iterator[str]:
    """The address of a server that accepts connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"postgresql+psycopg2://u:secret@127.0.0.1:{listener.getsockname()[1]}/journal"


def write_everything(journal: Journal) -> None:
    journal.record_state(a_state())
    journal.forget_others(["sales"])
    journal.record_window(a_window())
    journal.record_batch(a_batch())
    journal.record_failure(a_failure())
    journal.resolve_failure("sales.incremental", "apply", -1)
    journal.resolve_all("sales.incremental")
    journal.resolve_older_copies("sales.incremental", "first")
    journal.replace_tables("sales", [a_table("orders")])
    journal.update_tables("sales", [a_table("orders")], ["old"])
    journal.end_windows("sales", "incremental")
    journal.end_copied_windows("sales", "external")
    journal.prune(0.0)


def warnings_of(url: str, patience: float = 3.0) -> list[str]:
    """Write everything into a journal that is down; return its warnings."""
    warnings: list[str] = []
    journal = Journal(url, warnings.append, patience=patience)
    write_everything(journal)
    assert journal.is_down
    return warnings


def test_a_server_that_is_not_there_costs_one_warning() -> None:
    [warning] = warnings_of("postgresql+psycopg2://u:secret@127.0.0.1:1/journal")
    assert "refused" in warning and "nothing but history is lost" in warning
    assert "secret" not in warning and "\n" not in warning


def test_a_server_that_never_answers_is_waited_for_once(frozen_server: str) -> None:
    began = time.monotonic()
    [warning] = warnings_of(frozen_server, patience=0.3)
    assert "no answer after 0.3 s" in warning
    # Thirteen writes were tried: had each waited, it would be four seconds.
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "url", ["mysql://u@host/db", "nonsense", "postgresql+nodriver://u@host/db", "sqlite:////nowhere/at/all/journal.db"]
)
def test_an_address_that_cannot_be_used_costs_one_warning(url: str) -> None:
    [warning] = warnings_of(url)
    assert "\n" not in warning


def test_a_file_that_may_not_be_written_costs_one_warning(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal(f"sqlite:///{path}").record_window(a_window())
    [warning] = warnings_of(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert "readonly" in warning


def test_a_file_that_is_no_database_costs_one_warning(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"not a database" * 100)
    [warning] = warnings_of(f"sqlite:///{path}")
    assert "not a database" in warning


def test_a_database_that_somebody_holds_locked_costs_one_warning(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal(f"sqlite:///{path}").record_window(a_window())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        [warning] = warnings_of(f"sqlite:///{path}", patience=BUSY_PATIENCE)
    finally:
        holder.close()
    assert "no answer after" in warning


def test_looking_for_failures_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Journal(f"sqlite:///{path}", pytest.fail)
    journal.record_window(a_window())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    journal.resolve_failure("sales.incremental", "window", -1)
    holder.close()
    assert not journal.is_down


def test_a_task_that_succeeds_leaves_no_trace_in_a_journal_without_failures(tmp_path: Path) -> None:
    journal = Journal(f"sqlite:///{tmp_path / 'journal.db'}", pytest.fail)
    journal.resolve_failure("sales.incremental", "window", -1)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 0


def test_a_reader_says_that_the_journal_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="the journal cannot be read") as error:
        open_reader("postgresql+psycopg2://u:secret@127.0.0.1:1/journal")
    assert "secret" not in str(error.value) and error.value.next_step
    with pytest.raises(InvalidSettings, match="TWINHIVE_JOURNAL"):
        open_reader("mysql://u@host/db")
    reader = open_reader(f"sqlite:///{tmp_path / 'journal.db'}")
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute("DROP TABLE twinhive_policies")
    with pytest.raises(Unreachable, match="cannot be read"):
        reader.overview()
