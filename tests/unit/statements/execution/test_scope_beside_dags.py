"""Statements under a policy keep the replica at the tables of its file, whose DAGs follow no others."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.policy_terminal import Terminal, a_terminal
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.statements_in_memory import let_statements_reach
from twinhive.core.model.marks import LAST_ID, SCOPE

ALL: dict[str, Any] = {}
PLAIN = {"include": ["plain"]}


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = a_terminal(tmp_path, monkeypatch)
    let_statements_reach(lambda: terminal.world, monkeypatch)
    select(terminal, ALL)
    return terminal


def select(terminal: Terminal, tables: dict[str, Any]) -> None:
    terminal.policies.add("sales", external_tables={"include": False}, tables=tables)


def dump(terminal: Terminal, text: str) -> str:
    return str(terminal.document("sql", text, "--policy", "sales")["rows"][0][0])


def load(terminal: Terminal, directory: str, *more: str, code: int = 0) -> Any:
    return terminal.document("sql", f"REPL LOAD FROM '{directory}'", "--policy", "sales", *more, code=code)


def refused(terminal: Terminal, directory: str) -> dict[str, str]:
    """Load a dump, planned and for good; return the error of both, which have changed nothing."""
    before = state(terminal)
    planned, said = (load(terminal, directory, *more, code=4)["error"] for more in (("--dry-run",), ()))
    assert planned == said
    assert state(terminal) == before
    return dict(said)


def state(terminal: Terminal) -> Any:
    world = terminal.world
    return world.replica.database("sales"), contents(world.replica, world.replica_files)


def position(terminal: Terminal) -> int:
    return int(terminal.document("sql", "REPL STATUS sales", "--policy", "sales")["rows"][0][0])


def mark(terminal: Terminal) -> str | None:
    database = terminal.world.replica.database("sales")
    assert database is not None
    return database.parameters.get(SCOPE)


def assert_equal(terminal: Terminal) -> None:
    world = terminal.world
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)


def test_events_of_fewer_tables_than_the_files_are_refused(terminal: Terminal) -> None:
    terminal.type("run", "sales", "bootstrap")
    begin = position(terminal)
    terminal.users.create_table("made", files=[b"one"])
    error = refused(terminal, dump(terminal, f"REPL DUMP sales.['plain'] FROM {begin}"))
    assert "has another policy than this dump" in error["what"]
    assert error["found"] == "the replica: sales; the dump: sales.['plain']"
    assert error["next"].startswith(f"REPL DUMP sales FROM {begin}; or, ")
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)


def test_events_of_more_tables_than_the_files_are_refused(terminal: Terminal) -> None:
    select(terminal, PLAIN)
    terminal.type("run", "sales", "bootstrap")
    begin = position(terminal)
    terminal.users.create_table("made", files=[b"one"])
    terminal.users.insert("plain", None, [b"two"])
    error = refused(terminal, dump(terminal, f"REPL DUMP sales FROM {begin}"))
    fitting, _, _ = error["next"].partition(";")
    assert fitting == f"REPL DUMP sales.['plain'] FROM {begin}"
    load(terminal, dump(terminal, fitting))
    terminal.users.insert("plain", None, [b"three"])
    terminal.type("run", "sales", "incremental")
    assert terminal.world.replica.table_names("sales") == ["plain"]


def test_a_first_load_of_other_tables_is_refused(terminal: Terminal) -> None:
    directory = dump(terminal, "REPL DUMP sales.['plain']")
    error = refused(terminal, directory)
    assert "cannot begin with this dump: it is of another scope" in error["what"]
    assert error["found"] == "the dump: sales.['plain']; the policy's file: sales"
    assert error["next"].startswith("REPL DUMP sales, ")
    assert terminal.world.replica.database("sales") is None
    select(terminal, PLAIN)
    load(terminal, directory)
    terminal.users.insert("plain", None, [b"two"])
    terminal.type("run", "sales", "incremental")
    assert terminal.world.replica.table_names("sales") == ["plain"]


def test_a_database_that_the_file_does_not_name_is_of_any_scope(terminal: Terminal) -> None:
    directory = dump(terminal, "REPL DUMP sales.['plain']")
    terminal.type("sql", f"REPL LOAD sales INTO twin FROM '{directory}'", "--policy", "sales")
    assert terminal.world.replica.table_names("twin") == ["plain"]
    terminal.users.insert("plain", None, [b"two"])
    (begin,) = terminal.document("sql", "REPL STATUS twin", "--policy", "sales")["rows"][0]
    directory = dump(terminal, f"REPL DUMP sales.['plain'] FROM {begin}")
    terminal.type("sql", f"REPL LOAD sales INTO twin FROM '{directory}'", "--policy", "sales")
    assert terminal.document("sql", "REPL STATUS twin", "--policy", "sales")["rows"][0][0] > begin


@pytest.mark.parametrize(
    ("tables", "scope"),
    [
        ({}, "sales.['.*?']"),
        ({"include": [".+"]}, "sales"),
        ({"include": ["plain", "empty"]}, "SALES.['Empty', 'PLAIN', 'plain']"),
        ({"include": ["Recent", "PLAIN", "outside"]}, "sales.['plain', 'outside', 'recent']"),
        ({"exclude": ["made"]}, "sales.['.*'].['Made']"),
        ({"include": [r"p\w+", "it's"]}, r"sales.['it\'s', 'p\\w+']"),
    ],
    ids=str,
)
def test_tables_that_are_only_written_in_another_way_are_the_files(
    terminal: Terminal, tables: dict[str, Any], scope: str
) -> None:
    select(terminal, tables)
    load(terminal, dump(terminal, f"REPL DUMP {scope}"))
    terminal.users.insert("plain", None, [b"two"])
    terminal.type("run", "sales", "incremental")
    terminal.users.insert("plain", None, [b"three"])
    load(terminal, dump(terminal, f"REPL DUMP {scope} FROM {position(terminal)}"))
    terminal.users.insert("plain", None, [b"four"])
    terminal.type("run", "sales", "incremental")
    there = contents(terminal.world.source, terminal.world.source_files)
    assert contents(terminal.world.replica, terminal.world.replica_files)["sales.plain"] == there["sales.plain"]


def test_external_tables_are_no_other_scope(terminal: Terminal) -> None:
    """Whether they come is not said by the tables that are selected."""
    terminal.policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    terminal.type("run", "sales", "bootstrap")
    terminal.users.create_table("made", files=[b"one"])
    load(terminal, dump(terminal, f"REPL DUMP sales FROM {position(terminal)}"))
    terminal.users.insert("made", None, [b"two"])
    terminal.type("run", "sales", "incremental")
    assert {"made", "outside"} <= set(terminal.world.replica.table_names("sales"))


@pytest.mark.parametrize("by", ["dags", "statements"])
def test_after_a_change_of_the_file_replace_brings_the_replica_to_it(terminal: Terminal, by: str) -> None:
    select(terminal, PLAIN)
    if by == "dags":
        terminal.type("run", "sales", "bootstrap")
    else:
        load(terminal, dump(terminal, "REPL DUMP sales.['plain']"))
    select(terminal, ALL)
    load(terminal, dump(terminal, f"REPL DUMP sales REPLACE sales.['plain'] FROM {position(terminal)}"))
    terminal.users.create_table("made", files=[b"one"])
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)


def test_replace_may_lead_away_from_the_file_and_dags_stand_still_until_it_leads_back(terminal: Terminal) -> None:
    terminal.type("run", "sales", "bootstrap")
    away = dump(terminal, f"REPL DUMP sales.['plain'] REPLACE sales FROM {position(terminal)}")
    said = terminal.type("sql", f"REPL LOAD FROM '{away}'", "--policy", "sales")
    assert "the replica is of scope sales.['plain'] now, and the file of policy sales selects sales: nothing" in said
    terminal.users.create_table("made", files=[b"one"])
    before = state(terminal)
    error = terminal.document("run", "sales", "incremental", code=4)["error"]
    assert "was loaded with another scope than the policy's tables" in error["what"]
    assert error["found"] == "twinhive.scope = sales.['plain']"
    assert error["expected"].startswith("sales, ")
    assert state(terminal) == before
    # Statements alone go on with what the replica is.
    terminal.users.insert("plain", None, [b"two"])
    load(terminal, dump(terminal, f"REPL DUMP sales.['plain'] FROM {position(terminal)}"))
    command = terminal.document("run", "sales", "incremental", code=4)["error"]["commands"][0]
    load(terminal, terminal.document(*shlex.split(command)[1:])["rows"][0][0])
    assert mark(terminal) == "sales"
    terminal.users.insert("made", None, [b"two"])
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)


def test_a_replica_of_another_scope_is_built_again(terminal: Terminal) -> None:
    """As earlier versions have loaded it."""
    select(terminal, PLAIN)
    load(terminal, dump(terminal, "REPL DUMP sales.['plain']"))
    select(terminal, ALL)
    said = terminal.type("run", "sales", "incremental", code=4)
    assert "twinhive run sales bootstrap --again" in said
    terminal.type("run", "sales", "bootstrap", "--again")
    assert mark(terminal) is None
    terminal.users.create_table("made", files=[b"one"])
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)


def made_by_hive(terminal: Terminal) -> int:
    """Let a replica bear nothing but what Hive writes on it."""
    terminal.type("run", "sales", "bootstrap")
    database = terminal.world.replica.database("sales")
    assert database is not None
    terminal.world.replica.set_database_parameters("sales", {LAST_ID: database.parameters[LAST_ID]})
    return position(terminal)


def test_a_replica_of_hive_is_taken_over_with_the_tables_of_the_file(terminal: Terminal) -> None:
    begin = made_by_hive(terminal)
    terminal.users.create_table("made", files=[b"one"])
    refused(terminal, dump(terminal, f"REPL DUMP sales.['plain'] FROM {begin}"))
    load(terminal, dump(terminal, f"REPL DUMP sales FROM {begin}"))
    terminal.users.insert("made", None, [b"two"])
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)


def test_of_a_replica_of_hive_replace_is_believed(terminal: Terminal) -> None:
    begin = made_by_hive(terminal)
    terminal.users.insert("plain", None, [b"two"])
    load(terminal, dump(terminal, f"REPL DUMP sales.['plain'] REPLACE sales.['p.*'] FROM {begin}"))
    assert mark(terminal) == "sales.['plain']"
