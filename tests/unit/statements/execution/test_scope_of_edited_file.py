"""The file of a policy is edited: statements see what the replica was made of, windows of DAGs alone go on."""

import re
import shlex
from typing import Any

import pytest

from tests.support.policy_terminal import Terminal
from tests.unit.statements.execution.test_scope_beside_dags import (
    ALL,
    PLAIN,
    assert_equal,
    dump,
    load,
    mark,
    position,
    refused,
    select,
    terminal,
)
from twinhive.core.model.marks import FILE_SCOPE, SCOPE

__all__ = ["terminal"]


def parameters(terminal: Terminal) -> dict[str, str]:
    database = terminal.world.replica.database("sales")
    assert database is not None
    return dict(database.parameters)


def edited(terminal: Terminal) -> None:
    """Let DAGs make the replica of one table, then select all in the file."""
    select(terminal, PLAIN)
    terminal.type("run", "sales", "bootstrap")
    assert parameters(terminal)[FILE_SCOPE] == "sales.['plain']"
    select(terminal, ALL)
    terminal.users.insert("plain", None, [b"two"])


def follow_by_window(terminal: Terminal) -> None:
    """Let the window say which statement leads to the file's tables, and say it."""
    command = terminal.document("run", "sales", "incremental", code=4)["error"]["commands"][0]
    load(terminal, terminal.document(*shlex.split(command)[1:])["rows"][0][0])


@pytest.mark.parametrize("advice", [0, 1], ids=["as the replica is", "as the file is"])
def test_events_of_the_edited_file_are_refused_and_the_advice_leads_there(terminal: Terminal, advice: int) -> None:
    edited(terminal)
    error = refused(terminal, dump(terminal, f"REPL DUMP sales FROM {position(terminal)}"))
    assert error["found"] == "the replica: sales.['plain']; the dump: sales"
    load(terminal, dump(terminal, re.findall(r"REPL DUMP [^;]*", error["next"])[advice]))
    if advice == 0:
        follow_by_window(terminal)
    assert mark(terminal) == "sales" and FILE_SCOPE not in parameters(terminal)
    terminal.users.insert("plain", None, [b"three"])
    terminal.type("run", "sales", "incremental")
    assert_equal(terminal)


def test_windows_go_on_with_an_edited_file_and_bring_its_tables_when_asked(terminal: Terminal) -> None:
    edited(terminal)
    terminal.type("run", "sales", "incremental")
    assert parameters(terminal)[FILE_SCOPE] == "sales"
    for table in ("empty", "no_partitions", "orders", "recent"):
        terminal.type("resync", "sales", table)
    terminal.type("run", "sales", "incremental")
    assert SCOPE not in parameters(terminal)
    terminal.users.insert("plain", None, [b"three"])
    load(terminal, dump(terminal, f"REPL DUMP sales FROM {position(terminal)}"))
    assert_equal(terminal)


def test_of_a_replica_of_an_earlier_version_the_file_as_it_is_counts(terminal: Terminal) -> None:
    terminal.type("run", "sales", "bootstrap")
    old = {key: value for key, value in parameters(terminal).items() if key != FILE_SCOPE}
    terminal.world.replica.set_database_parameters("sales", old)
    terminal.users.insert("plain", None, [b"two"])
    load(terminal, dump(terminal, f"REPL DUMP sales FROM {position(terminal)}"))
    assert_equal(terminal)


def test_more_names_than_a_metastore_keeps_are_not_remembered(terminal: Terminal) -> None:
    edited(terminal)
    select(terminal, {"include": ["plain", *(f"table_{number:04}" for number in range(400))]})
    terminal.type("run", "sales", "incremental")
    assert FILE_SCOPE not in parameters(terminal)
    assert all(len(value) <= 4000 for value in parameters(terminal).values())


EDITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (ALL, PLAIN),
    (PLAIN, ALL),
    (PLAIN, {"include": ["orders", "empty"]}),
    ({"include": ["p.*", "empty"]}, {"exclude": ["plain", "it's"]}),
    ({"exclude": ["o.*"]}, {"include": [r"[a-z]\w+"], "exclude": ["plain"]}),
]


@pytest.mark.parametrize(("old", "new"), EDITS, ids=str)
def test_after_an_edit_of_what_statements_have_loaded_the_window_names_what_leads_there(
    terminal: Terminal, old: dict[str, Any], new: dict[str, Any]
) -> None:
    select(terminal, old)
    terminal.type("run", "sales", "bootstrap")
    terminal.users.insert("plain", None, [b"two"])
    scope = parameters(terminal)[FILE_SCOPE]
    load(terminal, dump(terminal, f"REPL DUMP {scope} FROM {position(terminal)}"))
    select(terminal, new)
    terminal.users.create_table("omade", files=[b"one"])
    follow_by_window(terminal)
    terminal.users.insert("omade", None, [b"two"])
    terminal.type("run", "sales", "incremental")
    made = set(terminal.world.replica.table_names("sales"))
    select(terminal, new)
    terminal.type("run", "sales", "bootstrap", "--again")
    assert made == set(terminal.world.replica.table_names("sales"))
