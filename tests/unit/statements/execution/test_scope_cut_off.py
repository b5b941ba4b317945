"""A load that changes the scope is cut off: until it has ended no window and no other dump goes on with the replica."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.policy_terminal import a_terminal
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import copies_of, left_by_kills
from tests.support.worlds.fake_world import World, killable
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.statements_in_memory import let_statements_reach
from twinhive.core.model.marks import SCOPE, SCOPE_BEFORE, ReplicaState
from twinhive.core.ports import WritePorts
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.statements.execution import repl_loading

ALL: dict[str, Any] = {}
PLAIN = {"include": ["plain"]}


@dataclass(frozen=True)
class Change:
    """From which tables of the file to which, how a statement writes both, and what is there also while it comes."""

    old: dict[str, Any]
    new: dict[str, Any]
    old_scope: str
    new_scope: str
    for_certain: str


FEWER = Change(ALL, PLAIN, "sales", "sales.['plain']", "sales")
WITHOUT_NEW = "sales.['.*'].['empty', 'no_partitions', 'orders', 'outside', 'recent']"
MORE = Change(PLAIN, ALL, "sales.['plain']", "sales", WITHOUT_NEW)
CHANGES = {"fewer": FEWER, "more": MORE}


class Cut:
    """Be a terminal on which the load of a change is killed at one moment."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch, change: Change, made_by: str) -> None:
        self.change = change
        self.terminal = a_terminal(directory, patch)
        self.switch: Any = None
        let_statements_reach(lambda: self.terminal.world, patch)
        patch.setattr(Wiring, "write_ports", lambda wiring: self.ports())
        patch.setattr(repl_loading, "ports_between", lambda source, replica, dumps: self.ports())
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

    def go_on(self, world: World, switch: Any = None) -> None:
        """Have this world from now on; changes of those who type go through the switch, if any."""
        self.terminal.world, self.switch = world, switch
        self.terminal.users = SourceWriter(world.source, world.source_files, "sales")

    def ports(self) -> WritePorts:
        ports = self.terminal.world.ports()
        return ports if self.switch is None else killable(ports, self.switch)

    def assert_at(self, tables: dict[str, Any]) -> None:
        """The replica has what the file would select, as the source has it, and windows go on with it."""
        self.select(tables)
        self.terminal.users.insert("plain", None, [b"last"])
        self.terminal.type("run", "sales", "incremental")
        world, included = self.terminal.world, tables.get("include")
        there = contents(world.source, world.source_files)
        wanted = {name: table for name, table in there.items() if not included or name == "sales.plain"}
        assert contents(world.replica, world.replica_files) == wanted


def kills(cut: Cut, *, least: int = 10) -> Iterator[None]:
    """Put the terminal before what a kill of the load leaves, for each change that it makes."""

    def load(world: World, switch: Any) -> None:
        cut.go_on(world, switch)
        cut.load(cut.away)

    for world in left_by_kills(copies_of(cut.terminal.world), load, least=least):
        cut.go_on(world)
        cut.select(cut.change.old)
        yield


@pytest.mark.thorough
@pytest.mark.parametrize("made_by", ["dags", "statements"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_killed_then_a_window_then_the_same_load_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, made_by: str
) -> None:
    cut, between = Cut(tmp_path, monkeypatch, change, made_by), 0
    for _ in kills(cut):
        away = cut.away
        if cut.state.scope_before is not None:
            between += 1
            refused_between(cut, change)
        elif cut.state.scope != change.new_scope:
            cut.assert_at(change.old)
            # A window has passed the dump.
            away = cut.dump(advised(cut.load(away, code=4)))
        cut.load(away)
        assert (cut.state.scope, cut.state.scope_before) == (change.new_scope, None)
        cut.assert_at(change.new)
    assert between


def advised(document: Any) -> str:
    """Return the statement that an error names."""
    found = re.search(r"REPL DUMP [^;]*", document["error"]["next"])
    assert found
    return found.group(0)


def refused_between(cut: Cut, change: Change) -> None:
    """Neither a window by either file nor another dump goes on; nothing is changed by it."""
    before = contents(cut.terminal.world.replica, cut.terminal.world.replica_files)
    for tables in (change.old, change.new):
        cut.select(tables)
        error = cut.window(code=4)["error"]
        assert "is between two scopes: a REPL LOAD has not ended" in error["what"]
        assert error["found"] == f"twinhive.scope = {change.new_scope}; twinhive.scope.before = {change.for_certain}"
    for scope in (change.old_scope, change.new_scope):
        error = cut.load(cut.dump(f"REPL DUMP {scope} FROM {cut.state.position.event_id}"), code=4)["error"]
        assert "is between two scopes: a REPL LOAD has not ended" in error["what"]
        assert f"REPL DUMP {change.new_scope} REPLACE {change.for_certain} FROM " in error["next"]
    assert contents(cut.terminal.world.replica, cut.terminal.world.replica_files) == before


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_where_the_dump_is_gone_another_one_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    """As the refused window names it, with what users have done since."""
    cut, between = Cut(tmp_path, monkeypatch, change, "dags"), 0
    for _ in kills(cut):
        if cut.state.scope_before is None:
            continue
        between += 1
        cut.terminal.users.insert("plain", None, [b"three"])
        command = cut.window(code=4)["error"]["commands"][0]
        cut.load(cut.terminal.document(*shlex.split(command)[1:])["rows"][0][0])
        cut.assert_at(change.new)
    assert between


def test_the_replica_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Cut(tmp_path, monkeypatch, FEWER, "statements")
    for _ in kills(cut):
        if cut.state.scope_before is not None:
            assert "twinhive run sales bootstrap --again" in cut.terminal.type("run", "sales", "incremental", code=4)
            cut.terminal.type("run", "sales", "bootstrap", "--again")
            cut.assert_at(ALL)
            return
    pytest.fail("no kill has left the replica between two scopes")


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


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_between_two_scopes_and_ahead_of_a_dump_the_advice_leads_on_from_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    """As when a second dump of the same change is cut off in its middle, and the first is loaded again."""
    cut = Cut(tmp_path, monkeypatch, change, "dags")
    cut.terminal.users.insert("plain", None, [b"three"])
    cut.window()
    replica = cut.terminal.world.replica
    parameters = replica.database("sales").parameters
    between = {SCOPE: change.new_scope, SCOPE_BEFORE: change.for_certain}
    replica.set_database_parameters("sales", {**parameters, **between})
    error = cut.load(cut.away, code=4)
    assert "is ahead of this dump" in error["error"]["what"]
    position = cut.state.position.event_id
    assert advised(error) == f"REPL DUMP {change.new_scope} REPLACE {change.for_certain} FROM {position}"
    cut.load(cut.dump(advised(error)))
    cut.assert_at(change.new)
