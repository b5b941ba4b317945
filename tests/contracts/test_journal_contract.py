"""The journal is the same on SQLite and on PostgreSQL."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy import Engine, create_engine, func, insert, inspect, select, text, update

from tests.support.journal_records import NOW, a_batch, a_copy, a_failure, a_state, a_table, a_window
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import Usage
from twinhive.operations.journal.journal_reading import JournalReader, open_reader
from twinhive.operations.journal.open_records import what_is_open
from twinhive.operations.journal.opening import open_engine
from twinhive.operations.journal.records import Failure
from twinhive.operations.journal.schema import LAG, METADATA, NOTES, VERSION, prepare
from twinhive.operations.journal.writing import Journal

BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.sandbox)]


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'journal.db'}"
        return
    server = request.getfixturevalue("sandbox").postgres_url("postgres")
    name = f"journal_{uuid.uuid4().hex[:12]}"
    connection = psycopg2.connect(server.replace("+psycopg2", ""))
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
        own = server.rpartition("/")[0] + f"/{name}"
        yield own
        for writes in (True, False):
            open_engine(own, writes=writes).dispose()
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")
    connection.close()


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def journal(url: str, warnings: list[str]) -> Iterator[Journal]:
    """A journal that nothing may be wrong with."""
    yield Journal(url, warnings.append)
    assert warnings == []


@pytest.fixture
def reader(url: str) -> JournalReader:
    return open_reader(url)


@pytest.fixture
def plain_engine(url: str) -> Iterator[Engine]:
    """A way to the database beside the journal's own."""
    engine = create_engine(url)
    yield engine
    engine.dispose()


def test_a_state_is_written_over_the_one_before_and_never_over_a_newer_one(
    journal: Journal, reader: JournalReader
) -> None:
    journal.record_state(a_state(replicated=5))
    journal.record_state(a_state(at=NOW + 60, replicated=7, trouble="no such database"))
    journal.record_state(a_state(at=NOW + 30, replicated=6))
    assert reader.policy("sales") == a_state(at=NOW + 60, replicated=7, trouble="no such database")
    assert reader.policy("nobody") is None


def test_an_unchanged_lag_is_sampled_every_ten_minutes_and_news_at_once(
    journal: Journal, reader: JournalReader
) -> None:
    for minute in range(25):
        # The source goes on for other databases: that is no news of this one.
        journal.record_state(a_state(at=NOW + minute * 60, newest=100 + minute))
    journal.record_state(a_state(at=NOW + 25 * 60, lag_events=1, lag_seconds=3.0))
    minutes = [round((sample.at - NOW) / 60) for sample in reader.lag("sales", NOW - 1, points=10_000)]
    assert minutes == [0, 10, 20, 25]


def sample(engine: Engine, lag_of: dict[float, float]) -> None:
    """Write down what the lag was, by time."""
    rows = [{"policy": "sales", "at": at, "lag_events": 1, "lag_seconds": lag} for at, lag in lag_of.items()]
    with engine.begin() as connection:
        connection.execute(insert(LAG), rows)


def test_of_samples_beside_each_other_the_greatest_lag_is_shown(reader: JournalReader, plain_engine: Engine) -> None:
    began = time.time() - 1000
    sample(plain_engine, {began + second: float(500 - abs(500 - second)) for second in range(0, 1000, 10)})
    shown = reader.lag("sales", began - 1, points=10)
    assert len(shown) in (10, 11)
    assert max(sample.lag_seconds or 0 for sample in shown) == 500
    assert [sample.at for sample in shown] == sorted(sample.at for sample in shown)


def test_many_states_are_one_call(journal: Journal, reader: JournalReader) -> None:
    for at in (NOW, NOW + 60):
        journal.record_states([a_state(f"policy{number:03d}", at=at) for number in range(600)])
    total, shown = reader.overview(limit=3, order="policy", offset=1)
    assert total == 600
    assert [one.policy for one in shown] == ["policy001", "policy002", "policy003"]
    assert len(reader.lag("policy001", NOW - 1)) == 1


def test_the_overview_shows_first_what_is_wrong(journal: Journal, reader: JournalReader) -> None:
    journal.record_states(
        [
            a_state("fine", source="east/zebra"),
            a_state("slow", lag_seconds=90.0, max_lag=60.0),
            a_state("behind", lag_seconds=500.0),
            a_state("frozen"),
            a_state("red"),
            a_state("gone", phase="unreachable", replicated=None, trouble="the metastore of east does not answer"),
        ]
    )
    journal.record_failure(a_failure("red"))
    journal.record_failure(a_failure("red", map_index=2))
    frozen = [a_table("orders", policy="frozen", state="quarantined"), a_table("plain", policy="frozen")]
    journal.replace_tables("frozen", frozen)
    total, shown = reader.overview()
    assert (total, [one.policy for one in shown]) == (6, ["gone", "red", "slow", "frozen", "behind", "fine"])
    assert [one.open_failures for one in shown] == [0, 2, 0, 0, 0, 0]
    assert [(one.tables, one.tables_in_trouble) for one in shown if one.tables] == [(2, 1)]
    assert shown[2].too_late and not shown[4].too_late
    troubled, page = reader.overview(troubled_only=True, limit=2)
    assert (troubled, [one.policy for one in page]) == (4, ["gone", "red"])
    assert [one.policy for one in reader.overview("ZEBRA")[1]] == ["fine"]
    assert reader.overview("%")[0] == 0
    assert [one.policy for one in reader.overview(names=["red", "fine", "nobody"], order="lag")[1]] == ["fine", "red"]
    assert reader.overview(names=[]) == (0, [])


def test_policies_that_are_gone_are_forgotten_and_what_they_did_stays(journal: Journal, reader: JournalReader) -> None:
    journal.record_states([a_state("old"), a_state("new")])
    journal.replace_tables("old", [a_table("orders")])
    journal.record_window(a_window("old"))
    journal.forget_others(["new", "newer"])
    assert [one.policy for one in reader.overview()[1]] == ["new"]
    assert reader.tables("old") == (0, [])
    assert reader.windows("old") == [a_window("old")]


def test_a_window_that_is_taken_up_again_keeps_its_begin_and_what_it_copied(
    journal: Journal, reader: JournalReader
) -> None:
    journal.record_window(a_window())
    journal.record_batch(a_batch(files=3, bytes=300))
    journal.record_window(a_window(began=NOW + 100, run_id="second"))
    [window] = reader.windows("sales")
    assert window == replace(a_window(), run_id="second", files=3, bytes=300)


def test_copies_of_a_batch_add_up_in_the_batch_and_in_its_window(journal: Journal, reader: JournalReader) -> None:
    journal.record_window(a_window())
    journal.record_batch(a_batch(files=3, bytes=300, seconds=1.5, outcome="failed"))
    journal.record_batch(a_batch("b2", files=1, bytes=10))
    journal.record_batch(a_batch(files=2, bytes=200, seconds=1.0))
    first, second = reader.batches("sales", a_window().dump)
    assert (first.files, first.bytes, first.seconds, first.outcome) == (5, 500, 2.5, "done")
    assert second == a_batch("b2", files=1, bytes=10)
    assert (reader.windows("sales")[0].files, reader.windows("sales")[0].bytes) == (6, 510)


def test_windows_end_by_phase_by_run_or_with_their_last_batch(journal: Journal, reader: JournalReader) -> None:
    journal.record_window(a_window(phase="bootstrap", dump="b"))
    journal.record_window(a_window(run_id="mine"))
    journal.record_window(a_window(run_id="other", dump="o"))
    journal.record_window(a_window(phase="external", dump="pass", batches=2))
    journal.end_windows("sales", "bootstrap")
    journal.end_windows("sales", "incremental", run_id="mine")
    journal.record_batch(a_batch(dump="pass"))
    journal.end_copied_windows("sales", "external")
    assert {window.dump: window.outcome for window in reader.windows("sales")} == {
        "b": "done",
        a_window().dump: "done",
        "o": "running",
        "pass": "running",
    }
    journal.record_batch(a_batch("b2", dump="pass"))
    journal.end_copied_windows("sales", "external")
    [window] = [one for one in reader.windows("sales") if one.dump == "pass"]
    assert window.outcome == "done" and window.ended is not None


def test_a_failure_is_open_until_its_task_succeeds_and_a_newer_one_replaces_it(
    journal: Journal, reader: JournalReader
) -> None:
    journal.record_window(a_window())
    journal.record_failure(a_failure(try_number=1))
    journal.record_failure(a_failure(at=NOW + 5, try_number=2, found="nothing", expected="something"))
    [failure] = reader.failures("sales")
    assert failure == a_failure(at=NOW + 5, try_number=2, found="nothing", expected="something")
    assert [one.resolved for one in reader.failures("sales", open_only=False)] == [None, NOW + 5]
    assert reader.windows("sales")[0].outcome == "failed"
    journal.resolve_failure("sales.incremental", "apply", 0)
    assert len(reader.failures("sales")) == 1
    journal.resolve_failure("sales.incremental", "apply", -1)
    assert reader.failures("sales") == []
    assert (reader.windows("sales")[0].outcome, reader.windows("sales")[0].ended) == ("running", None)


def open_ones(reader: JournalReader) -> set[tuple[str, str, int]]:
    return {(one.run_id, one.task_id, one.map_index) for one in reader.failures("sales")}


def test_what_other_runs_left_is_made_up_for_by_a_new_plan_and_all_by_the_end(
    journal: Journal, reader: JournalReader
) -> None:
    journal.record_failure(a_failure(run_id="old", task_id="copy", map_index=7))
    journal.record_failure(a_failure(run_id="new", task_id="copy", map_index=8))
    journal.record_failure(a_failure(run_id="old"))
    journal.resolve_older_copies("sales.incremental", "new")
    assert open_ones(reader) == {("new", "copy", 8), ("old", "apply", -1)}
    journal.resolve_all("sales.scan")
    assert len(open_ones(reader)) == 2
    journal.resolve_all("sales.incremental")
    assert open_ones(reader) == set()


def test_tables_are_replaced_counted_searched_and_paged(journal: Journal, reader: JournalReader) -> None:
    journal.replace_tables("sales", [a_table("old")])
    journal.replace_tables("other", [a_table("orders", policy="other")])
    tables = [a_table(f"t{number:04d}") for number in range(1500)]
    journal.replace_tables(
        "sales", [*tables, a_table("Odd_name", state="left out", reason="transactional", files=None)]
    )
    assert reader.table_counts("sales") == {"left out": 1, "published": 1500}
    total, page = reader.tables("sales", offset=1, limit=2, search="T00")
    assert (total, [table.table for table in page]) == (100, ["t0001", "t0002"])
    assert reader.tables("sales", state="left out")[1] == [
        a_table("Odd_name", state="left out", reason="transactional", files=None)
    ]
    assert reader.tables("sales", search="d_n")[0] == 1


def test_some_tables_are_updated_and_the_counts_follow(journal: Journal, reader: JournalReader) -> None:
    journal.record_state(a_state())
    journal.replace_tables("sales", [a_table("one"), a_table("two"), a_table("three")])
    journal.update_tables("sales", [a_table("one", state="quarantined"), a_table("four")], gone=["two"])
    assert [table.table for table in reader.tables("sales")[1]] == ["four", "one", "three"]
    [overview] = reader.overview()[1]
    assert (overview.tables, overview.tables_in_trouble) == (3, 1)


def test_old_rows_are_pruned_and_older_samples_thinned(
    journal: Journal, reader: JournalReader, plain_engine: Engine
) -> None:
    day = 24 * 3600
    journal.record_window(a_window(began=NOW - 91 * day, dump="old"))
    journal.record_window(a_window(began=NOW - 89 * day))
    journal.record_batch(a_batch(dump="old", ended=NOW - 91 * day))
    journal.record_failure(a_failure(at=NOW - 91 * day))
    journal.record_state(a_state("forgotten", at=NOW - 15 * day))
    journal.replace_tables("forgotten", [a_table("orders", policy="forgotten", at=NOW - 15 * day)])
    journal.record_states([a_state(at=NOW - 15 * day)])
    hour = NOW - 2 * day - 3600 - (NOW - 2 * day) % 600
    sample(plain_engine, {hour + minute * 60: float(minute) for minute in range(60)})
    journal.record_state(a_state(at=NOW))
    journal.prune(NOW)
    journal.prune(NOW + 3600)
    assert [window.dump for window in reader.windows("sales")] == [a_window().dump]
    assert reader.batches("sales", "old") == []
    assert reader.failures("sales", open_only=False) == []
    assert reader.policy("forgotten") is None and reader.tables("forgotten")[0] == 0
    with plain_engine.connect() as connection:
        kept = connection.execute(select(LAG.c.lag_seconds).order_by(LAG.c.at)).scalars().all()
    assert kept == [9.0, 19.0, 29.0, 39.0, 49.0, 59.0, 0.0]


def test_the_monitor_prunes_by_the_way_once_an_hour(
    journal: Journal, reader: JournalReader, plain_engine: Engine
) -> None:
    journal.record_window(a_window(began=NOW - 91 * 24 * 3600))
    journal.forget_others(["sales"])
    assert reader.windows("sales") == []
    journal.record_window(a_window(began=NOW - 91 * 24 * 3600))
    journal.forget_others(["sales"])
    assert len(reader.windows("sales")) == 1
    with plain_engine.begin() as connection:
        connection.execute(update(NOTES).values(value=str(NOW - 3700)).where(NOTES.c.key == "pruned"))
    journal.forget_others(["sales"])
    assert reader.windows("sales") == []


def test_a_window_that_another_one_of_its_phase_replaces_is_told_so(journal: Journal, reader: JournalReader) -> None:
    journal.record_window(a_window(dump="given up"))
    journal.record_window(a_window(dump="failed"))
    journal.record_failure(a_failure())
    journal.record_window(a_window(phase="external", dump="pass"))
    journal.record_window(a_window(dump="new"))
    found = {window.dump: window.outcome for window in reader.windows("sales")}
    assert found == {"given up": "replaced", "failed": "failed", "pass": "running", "new": "running"}


def test_a_look_that_knows_less_takes_no_size_and_no_sync_away(journal: Journal, reader: JournalReader) -> None:
    journal.replace_tables("sales", [a_table("orders"), a_table("clicks", files=None, bytes=None)])
    journal.tables_synced("sales", ["clicks"], NOW + 1)
    unknown = {"files": None, "bytes": None, "last_event": 95}
    journal.update_tables("sales", [a_table("orders", **unknown)])
    journal.replace_tables("sales", [a_table("orders", **unknown), a_table("clicks", **unknown)])
    clicks, orders = reader.tables("sales")[1]
    assert (orders.files, orders.bytes, orders.last_event) == (3, 300, 95)
    assert (clicks.files, clicks.last_sync) == (None, NOW + 1)


def test_sizes_are_written_of_tables_that_are_known(journal: Journal, reader: JournalReader) -> None:
    journal.replace_tables("sales", [a_table("orders"), a_table("clicks", files=None, bytes=None)])
    journal.replace_tables("other", [replace(a_table("clicks", files=None, bytes=None), policy="other")])
    journal.tables_sized("sales", {"clicks": Usage(5_000_000_000, 7, 2), "gone": Usage(1, 1, 1)})
    journal.tables_sized("sales", {})
    clicks, orders = reader.tables("sales")[1]
    assert (clicks.files, clicks.bytes, orders.files) == (7, 5_000_000_000, 3)
    assert [table.files for table in reader.tables("other")[1]] == [None]


def test_texts_that_a_database_cannot_store_are_made_fit(journal: Journal, reader: JournalReader) -> None:
    journal.record_failure(a_failure(what="a\0b \ud83d", found="x" * 10_000))
    [failure] = reader.failures("sales")
    assert failure.what == "ab ?"
    assert failure.found is not None and len(failure.found) == 4_000 and failure.found.endswith("x…")


def test_tables_of_an_older_version_are_renamed_away_not_deleted(
    journal: Journal, url: str, plain_engine: Engine, warnings: list[str]
) -> None:
    journal.record_window(a_window())
    with plain_engine.begin() as connection:
        connection.execute(update(NOTES).values(value="0").where(NOTES.c.key == "version"))
    Journal(url, warnings.append).record_window(a_window(dump="new"))
    names = inspect(plain_engine).get_table_names()
    [old] = [name for name in names if name.startswith("twinhive_windows_v0_2")]
    assert METADATA.tables.keys() <= set(names)
    with plain_engine.connect() as connection:
        assert connection.scalar(text(f"SELECT dump FROM {old}")) == a_window().dump
    assert [window.dump for window in open_reader(url).windows("sales")] == ["new"]


def test_a_column_that_an_older_process_did_not_make_is_added(
    journal: Journal, url: str, plain_engine: Engine, warnings: list[str]
) -> None:
    journal.record_failure(a_failure(what="before"))
    with plain_engine.begin() as connection:
        connection.execute(text("ALTER TABLE twinhive_failures DROP COLUMN commands"))
    commands = "twinhive resync sales 'x|sh'\ntwinhive status sales"
    Journal(url, warnings.append).record_failure(a_failure(what="now", task_id="copy", commands=commands))
    found = open_reader(url).failures("sales", limit=10)
    assert {failure.what: failure.commands for failure in found} == {"before": None, "now": commands}


def test_tables_of_a_newer_version_are_left_alone(
    journal: Journal, url: str, plain_engine: Engine, warnings: list[str]
) -> None:
    journal.record_window(a_window())
    with plain_engine.begin() as connection:
        connection.execute(update(NOTES).values(value=str(VERSION + 1)).where(NOTES.c.key == "version"))
    said: list[str] = []
    late = Journal(url, said.append)
    late.record_window(a_window(dump="new"))
    late.record_window(a_window(dump="newer"))
    [line] = said
    assert "written by a newer version" in line and "install the newer version here too" in line
    with plain_engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM twinhive_windows")) == 1
    with pytest.raises(ActNow, match="newer version"):
        prepare(plain_engine)


def test_a_table_that_is_dropped_in_the_middle_is_created_again(
    journal: Journal, reader: JournalReader, plain_engine: Engine
) -> None:
    journal.record_window(a_window())
    with plain_engine.begin() as connection:
        connection.execute(text("DROP TABLE twinhive_failures"))
        connection.execute(text("DROP TABLE twinhive_lag"))
    journal.resolve_failure("sales.incremental", "apply", -1)
    journal.record_failure(a_failure())
    assert len(reader.failures("sales")) == 1
    assert len(reader.windows("sales")) == 1


def _record(url: str, number: int, go: object, answers: object) -> None:
    said: list[str] = []
    go.wait()  # type: ignore[attr-defined]
    # The order is what counts here, not how long a busy machine takes.
    Journal(url, said.append, patience=30).record_failure(a_failure(map_index=number))
    answers.put(said)  # type: ignore[attr-defined]


def test_processes_that_create_the_tables_at_the_same_time_all_write(url: str, plain_engine: Engine) -> None:
    # Not forked: threads that other tests have left may hold a lock just then, and a child would wait for it for ever.
    context = get_context("spawn")
    go, answers = context.Event(), context.Queue()
    several = [context.Process(target=_record, args=(url, number, go, answers)) for number in range(4)]
    for process in several:
        process.start()
    go.set()
    assert [answers.get(timeout=120) for _ in several] == [[]] * 4
    for process in several:
        process.join()
    failures = open_reader(url).failures("sales", limit=10)
    assert sorted(failure.map_index for failure in failures) == [0, 1, 2, 3]
    with plain_engine.connect() as connection:
        versions = select(func.count()).select_from(NOTES).where(NOTES.c.key == "version")
        assert connection.scalar(versions) == 1


def test_records_are_read_as_they_were_written(journal: Journal, reader: JournalReader) -> None:
    window = a_window(begin_event=None, end_event=None, ended=NOW + 1, outcome="done")
    journal.record_window(window)
    failure = Failure(
        "sales", NOW, "d", "r", "t", 3, 2, "Foreign", True, "what", "found", "expected", "next", "a\nb", None
    )
    journal.record_failure(failure)
    journal.record_batch(a_batch(label="sales.orders +37 tables", map_index=12))
    table = a_table("clicks", kind="external", state="pending", reason="data since event 7", last_sync=NOW - 60)
    journal.replace_tables("sales", [table])
    assert reader.windows("sales") == [window]
    assert reader.failures("sales") == [failure]
    assert reader.batches("sales", a_window().dump) == [a_batch(label="sales.orders +37 tables", map_index=12)]
    assert reader.tables("sales") == (1, [table])


def test_a_copy_at_work_is_there_until_it_ends_and_only_its_own_try_changes_it(url: str, journal: Journal) -> None:
    first, second = a_copy(), a_copy(try_number=2, began=NOW + 5, moved=NOW + 5)
    journal.copy_begins(first)
    journal.copy_moves(first, NOW + 1)
    assert what_is_open(url).copies == [replace(first, moved=NOW + 1)]
    journal.copy_begins(second)
    # A try that was given up, and is not dead yet.
    journal.copy_moves(first, NOW + 9)
    journal.copy_ends(first)
    assert what_is_open(url).copies == [second]
    journal.copy_begins(a_copy(map_index=4))
    journal.copy_ends(second)
    assert [one.map_index for one in what_is_open(url).copies] == [4]
    journal.prune(NOW + 100 * 24 * 3600)
    assert what_is_open(url).copies == []


def test_a_policy_whose_copy_stands_still_is_in_trouble(journal: Journal, reader: JournalReader) -> None:
    journal.record_state(a_state(stalled="sales.bootstrap, task copy has moved nothing for 2 h"))
    journal.record_state(a_state("well"))
    assert [state.policy for state in reader.overview(troubled_only=True)[1]] == ["sales"]
