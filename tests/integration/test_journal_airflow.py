"""A real Airflow's tasks write the journal into the sandbox's PostgreSQL."""

import time

import pytest

from sandbox import Sandbox
from sandbox.postgres import JOURNAL_DATABASE
from tests.integration.airflow_fixtures import RunningAirflow, until
from tests.support.users.warehouse import Warehouse
from twinhive.journal.reading import JournalReader, open_reader
from twinhive.journal.records import WindowRun

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]


@pytest.fixture
def journal(sandbox: Sandbox) -> JournalReader:
    return open_reader(sandbox.postgres_url(JOURNAL_DATABASE))


def test_a_first_copy_and_a_window_are_in_the_journal(
    airflow: RunningAirflow, east: Warehouse, journal: JournalReader
) -> None:
    database = east.create_database()
    east.create_table(database, "plain", files={"data": b"1,2\n" * 1000, "more": b"3\n"})
    east.create_table(database, "empty")
    dag_id = airflow.add(database)
    bootstrap = airflow.trigger(dag_id)
    assert bootstrap.wait() == "success"
    assert bootstrap.handed_over().wait() == "success"

    windows = {window.phase: window for window in journal.windows(database)}
    assert {window.outcome for window in windows.values()} == {"done"}, windows
    first = windows["bootstrap"]
    assert (first.dag_id, first.run_id) == (dag_id, bootstrap.run_id)
    assert (first.files, first.bytes) == (2, 4002)
    batches = journal.batches(database, first.dump)
    assert sum(batch.bytes for batch in batches) == 4002
    assert {(batch.task_id, batch.outcome) for batch in batches} == {("tables.copy", "done")}
    assert {table.table: table.state for table in journal.tables(database)[1]} == {
        "plain": "published",
        "empty": "published",
    }
    assert journal.failures(database, open_only=False) == []
    state = journal.policy(database)
    assert state is not None and (state.phase, state.lag_events) == ("following", 0)

    east.create_table(database, "made", files={"data": b"5,6\n"})
    airflow.api.unpause(f"{database}.incremental")
    airflow.trigger(f"{database}.incremental")
    done = until(lambda: [one for one in journal.windows(database) if finished(one)], "a window is in the journal")
    assert done[0].bytes == 4
    until(lambda: journal.tables(database, search="made", state="published")[1], "the new table is in the journal")
    until(lambda: journal.lag(database, time.time() - 3600), "its lag is in the journal")


def finished(window: WindowRun) -> bool:
    return window.phase == "incremental" and window.outcome == "done"
