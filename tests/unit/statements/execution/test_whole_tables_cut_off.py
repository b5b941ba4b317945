"""A load that brings tables whole is cut off: its position may have passed the events that brought them in."""

import shlex
from pathlib import Path

import pytest

from tests.support.worlds.memory_comparison import contents
from tests.unit.statements.execution.test_scope_cut_off import MORE as TO_ALL
from tests.unit.statements.execution.test_scope_cut_off import Change, Cut, kills

SCOPE = "sales.['p.*']"
SAME = Change({"include": ["p.*"]}, {"include": ["p.*"]}, SCOPE, SCOPE, "sales.['p.*'].['porders']")
MORE = Change(SAME.old, {"include": ["p.*", "empty"]}, SCOPE, "sales.['empty', 'p.*']", "")


def renamed(directory: Path, patch: pytest.MonkeyPatch, change: Change, replace: str) -> Cut:
    """Rename a table into the scope, then let events come before which the position is written."""
    cut = Cut(directory, patch, change, "dags")
    users = cut.terminal.users
    users.create_table("passing", files=[b"one"])
    cut.window()
    users.rename_table("orders", "porders")
    users.insert("plain", None, [b"three"])
    users.drop_table("passing")
    cut.away = cut.dump(f"REPL DUMP {change.new_scope}{replace} FROM {cut.state.position.event_id}")
    return cut


def ended(cut: Cut, by: str, error: dict[str, list[str]]) -> None:
    again = by == "the same load"
    cut.load(cut.away if again else cut.terminal.document(*shlex.split(error["commands"][0])[1:])["rows"][0][0])
    assert (cut.state.scope, cut.state.scope_before) == (cut.change.new_scope, None)


def assert_equal(cut: Cut) -> None:
    cut.terminal.users.insert("porders", ("a b",), [b"last"])
    cut.window()
    world = cut.terminal.world
    there = contents(world.source, world.source_files)
    wanted = {name: table for name, table in there.items() if name.startswith("sales.p")}
    assert contents(world.replica, world.replica_files) == wanted


@pytest.mark.parametrize("by", ["the same load", "another dump"])
def test_with_replace_what_a_rename_brings_into_both_scopes_comes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    cut, between = renamed(tmp_path, monkeypatch, MORE, f" REPLACE {SCOPE}"), 0
    for _ in kills(cut):
        if cut.state.scope_before is not None:
            between += 1
            ended(cut, by, cut.window(code=4)["error"])
            assert cut.terminal.world.replica.table_names("sales") == ["empty", "plain", "porders"]
    assert between


@pytest.mark.parametrize("by", ["the same load", "another dump"])
def test_until_it_has_ended_no_window_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    cut = renamed(tmp_path, monkeypatch, SAME, "")
    between, begin = 0, cut.state.position.event_id
    for _ in kills(cut):
        if cut.state.scope_before is not None:
            between += 1
            assert cut.state.scope_before == SAME.for_certain
            error = cut.window(code=4)["error"]
            assert "is between two scopes: a REPL LOAD has not ended" in error["what"]
            position = cut.state.position.event_id
            if position > begin:
                cut.load(cut.dump(f"REPL DUMP {SCOPE} FROM {position}"), code=4)
            ended(cut, by, error)
        assert_equal(cut)
    assert between


def test_after_the_last_event_and_before_all_tables_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replica is at the dump's event and says its scope: what it says of the one before tells that more comes."""
    cut, between = Cut(tmp_path, monkeypatch, TO_ALL, "dags"), 0
    begin = cut.state.position.event_id
    cut.terminal.users.create_function("passing")
    cut.terminal.users.drop_function("passing")
    cut.away = cut.dump(f"REPL DUMP sales REPLACE {cut.change.old_scope} FROM {begin}")
    end = cut.terminal.world.source.current_event_id()
    for _ in kills(cut):
        if cut.state.scope_before is not None and cut.state.position.event_id == end:
            between += 1
            cut.load(cut.away)
            assert (cut.state.scope, cut.state.scope_before) == ("sales", None)
            cut.assert_at(cut.change.new)
    assert between > 1
