"""A load that brings tables whole, without REPLACE, is cut off: its position may have passed events on them."""

import shlex
from pathlib import Path

import pytest

from tests.support.worlds.twins import contents
from tests.unit.statements.running.test_scope_cut_off import Change, Cut, kills

SCOPE = "sales.['p.*']"
SAME = Change({"include": ["p.*"]}, {"include": ["p.*"]}, SCOPE, SCOPE)


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cut:
    """Rename a table into the scope, then let events come before which the position is written."""
    cut = Cut(tmp_path, monkeypatch, SAME, "dags")
    users = cut.terminal.users
    users.create_table("passing", files=[b"one"])
    cut.window()
    users.rename_table("orders", "porders")
    users.insert("plain", None, [b"three"])
    users.drop_table("passing")
    cut.away = cut.dump(f"REPL DUMP {SCOPE} FROM {cut.state.position.event_id}")
    return cut


def assert_equal(cut: Cut) -> None:
    cut.terminal.users.insert("porders", ("a b",), [b"last"])
    cut.window()
    world = cut.terminal.world
    there = contents(world.source, world.source_files)
    wanted = {name: table for name, table in there.items() if name.startswith("sales.p")}
    assert contents(world.replica, world.replica_files) == wanted


@pytest.mark.parametrize("by", ["the same load", "another dump"])
def test_until_it_has_ended_no_window_goes_on(cut: Cut, by: str) -> None:
    between, begin = 0, cut.state.position.event_id
    for _ in kills(cut):
        if cut.state.scope_before is not None:
            between += 1
            assert cut.state.scope_before == "sales.['p.*'].['porders']"
            error = cut.window(code=4)["error"]
            assert "is between two scopes: a REPL LOAD has not ended" in error["what"]
            position = cut.state.position.event_id
            if position > begin:
                cut.load(cut.dump(f"REPL DUMP {SCOPE} FROM {position}"), code=4)
            if by == "another dump":
                cut.load(cut.terminal.document(*shlex.split(error["commands"][0])[1:])["rows"][0][0])
            else:
                cut.load(cut.away)
            assert (cut.state.scope, cut.state.scope_before) == (SCOPE, None)
        assert_equal(cut)
    assert between
