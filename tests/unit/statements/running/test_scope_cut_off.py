"""The scope is changed by a load, while windows bring the replica further."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.policy_terminal import a_terminal
from tests.support.worlds.statements_in_memory import let_statements_reach
from tests.support.worlds.twins import contents
from twinhive.model.marks import ReplicaState

ALL: dict[str, Any] = {}
PLAIN = {"include": ["plain"]}


@dataclass(frozen=True)
class Change:
    """From which tables of the file to which, and how a statement writes both."""

    old: dict[str, Any]
    new: dict[str, Any]
    old_scope: str
    new_scope: str


FEWER = Change(ALL, PLAIN, "sales", "sales.['plain']")
MORE = Change(PLAIN, ALL, "sales.['plain']", "sales")
CHANGES = {"fewer": FEWER, "more": MORE}


class Cut:
    """Be a terminal beside a dump that changes the scope."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch, change: Change, made_by: str) -> None:
        self.change = change
        self.terminal = a_terminal(directory, patch)
        let_statements_reach(lambda: self.terminal.world, patch)
        self.select(change.old)
        if made_by == "dags":
            self.terminal.type("run", "sales", "bootstrap")
        else:
            self.load(self.dump(f"REPL DUMP {change.old_scope}"))
        self.terminal.users.insert("plain", None, [b"two"])
        replace = f"REPL DUMP {change.new_scope} REPLACE {change.old_scope} FROM {self.state.position.event_id}"
        self.away = self.dump(replace)

    @property
    def state(self) -> ReplicaState:
        database = self.terminal.world.replica.database("sales")
        return ReplicaState.read(database.parameters if database else None)

    def select(self, tables: dict[str, Any]) -> None:
        self.terminal.policies.add("sales", external_tables={"include": False}, tables=tables)

    def dump(self, text: str) -> str:
        return str(self.terminal.document("sql", text, "--policy", "sales")["rows"][0][0])

    def load(self, directory: str, *more: str, code: int = 0) -> Any:
        return self.terminal.document("sql", f"REPL LOAD FROM '{directory}'", "--policy", "sales", *more, code=code)

    def window(self, code: int = 0) -> Any:
        return self.terminal.document("run", "sales", "incremental", code=code)

    def assert_at(self, tables: dict[str, Any]) -> None:
        """The replica has what the file would select, as the source has it, and windows go on with it."""
        self.select(tables)
        self.terminal.users.insert("plain", None, [b"last"])
        self.terminal.type("run", "sales", "incremental")
        world, included = self.terminal.world, tables.get("include")
        there = contents(world.source, world.source_files)
        wanted = {name: table for name, table in there.items() if not included or name == "sales.plain"}
        assert contents(world.replica, world.replica_files) == wanted


def advised(document: Any) -> str:
    """Return the statement that an error names."""
    found = re.search(r"REPL DUMP [^;]*", document["error"]["next"])
    assert found
    return found.group(0)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_event_of_the_dump_was_reached_by_a_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    """The scope is changed all the same, with all that it brings."""
    cut = Cut(tmp_path, monkeypatch, change, "dags")
    cut.terminal.type("run", "sales", "incremental")
    planned = cut.terminal.type("sql", f"REPL LOAD FROM '{cut.away}'", "--policy", "sales", "--dry-run")
    assert "would load the dump" in planned
    said = cut.terminal.type("sql", f"REPL LOAD FROM '{cut.away}'", "--policy", "sales")
    assert f"the replica is of scope {change.new_scope} now, and the file of policy sales selects" in said
    assert cut.state.scope == change.new_scope
    cut.assert_at(change.new)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_ahead_of_a_dump_with_replace_the_advice_leads_to_its_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    cut = Cut(tmp_path, monkeypatch, change, "dags")
    cut.terminal.users.insert("plain", None, [b"three"])
    cut.terminal.type("run", "sales", "incremental")
    error, position = cut.load(cut.away, code=4), cut.state.position.event_id
    assert advised(error) == f"REPL DUMP {change.new_scope} REPLACE {change.old_scope} FROM {position}"
    cut.load(cut.dump(advised(error)))
    cut.assert_at(change.new)
