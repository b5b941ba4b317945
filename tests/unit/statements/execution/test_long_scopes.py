"""A scope that is longer than what a metastore keeps of a parameter: it is refused, or remembered by its hash."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.unit.statements.execution.speaker import Speaker
from tests.unit.statements.execution.test_scope_cut_off import MORE, PLAIN, Change, Cut, advised, kills
from tests.unit.statements.execution.test_whole_tables_cut_off import MORE as RENAMED
from tests.unit.statements.execution.test_whole_tables_cut_off import renamed
from twinhive.core.model.marks import SCOPE, SCOPE_BEFORE
from twinhive.core.model.scopes import scope_texts
from twinhive.core.model.scopes.scope_texts import held_scope
from twinhive.statements.steps import repl_dump_options

NAMES = ["orders", "plain", *(f"table_{number:04}" for number in range(400))]
LONG = f"sales.[{', '.join(map(repr, NAMES))}]"
FEWER = Change({"include": NAMES}, PLAIN, LONG, "sales.['plain']", "")


@pytest.fixture(autouse=True)
def a_metastore_with_short_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    real = InMemoryMetastore.set_database_parameters

    def limited(self: InMemoryMetastore, name: str, parameters: Any) -> None:
        assert all(len(value) <= 4000 for value in parameters.values()), "value too long for a column"
        real(self, name, parameters)

    monkeypatch.setattr(InMemoryMetastore, "set_database_parameters", limited)


def test_from_a_long_scope_a_load_leads_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off anywhere the same load ends it, or one of another dump that says the same."""
    cut, between = Cut(tmp_path, monkeypatch, FEWER, "dags"), 0
    for _ in kills(cut):
        away = cut.away
        if cut.state.scope_before is not None:
            between += 1
            assert cut.state.scope_before.startswith("* ") and len(cut.state.scope_before) < 100
            assert "is between two scopes" in cut.window(code=4)["error"]["what"]
            away = cut.dump(f"REPL DUMP {FEWER.new_scope} REPLACE {LONG} FROM {cut.state.position.event_id}")
        cut.load(away)
        assert (cut.state.scope, cut.state.scope_before) == (FEWER.new_scope, None)
    assert between
    cut.assert_at(PLAIN)


def test_ahead_of_such_a_dump_and_between_two_scopes_the_advice_says_what_the_dump_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark, a hash, can be said by nobody."""
    cut = Cut(tmp_path, monkeypatch, FEWER, "dags")
    cut.terminal.users.insert("plain", None, [b"three"])
    cut.window()
    replica = cut.terminal.world.replica
    parameters = replica.database("sales").parameters
    between = {SCOPE: FEWER.new_scope, SCOPE_BEFORE: held_scope(LONG)}
    replica.set_database_parameters("sales", {**parameters, **between})
    error = cut.load(cut.away, code=4)
    assert advised(error) == f"REPL DUMP {FEWER.new_scope} REPLACE {LONG} FROM {cut.state.position.event_id}"
    cut.load(cut.dump(advised(error)))
    cut.assert_at(PLAIN)


def test_where_too_many_tables_come_whole_the_scope_before_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It selects none of them, so nothing that it selects is missing: another dump ends a load that was cut off."""
    monkeypatch.setattr(scope_texts, "MOST_BYTES", len(MORE.for_certain) - 1)
    cut, between = Cut(tmp_path, monkeypatch, MORE, "dags"), 0
    for _ in kills(cut):
        if cut.state.scope_before is not None:
            between += 1
            assert cut.state.scope_before == MORE.old_scope
            cut.terminal.users.create_table("one_more", files=[b"one"])
            command = cut.window(code=4)["error"]["commands"][0]
            cut.load(cut.terminal.document(*shlex.split(command)[1:])["rows"][0][0])
            cut.assert_at(MORE.new)
    assert between


def test_not_where_a_rename_has_brought_in_what_it_selects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event of that may be passed: only the same dump is sure to have the table."""
    monkeypatch.setattr(scope_texts, "MOST_BYTES", len(RENAMED.new_scope))
    cut, between = renamed(tmp_path, monkeypatch, RENAMED, f" REPLACE {RENAMED.old_scope}"), 0
    for _ in kills(cut):
        if cut.state.scope_before is not None:
            between += 1
            assert cut.state.scope_before.startswith("* ")
            cut.load(cut.away)
            assert cut.terminal.world.replica.table_names("sales") == ["empty", "plain", "porders"]
    assert between


@pytest.mark.parametrize("of", ["events", "a whole database"])
def test_a_dump_of_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    """Its load would apply all, and fail when it writes what the replica is of. The DAGs go on: they need no mark."""
    cut = Cut(tmp_path, monkeypatch, FEWER, "dags")
    statement = f"REPL DUMP {LONG}" + (f" FROM {cut.state.position.event_id}" if of == "events" else "")
    for more in ((), ("--dry-run",)):
        said = cut.terminal.type("sql", statement, "--policy", "sales", *more, code=4)
        assert "no replica can remember the scope of this statement" in said
        assert "at most 4000 bytes" in said
    cut.window()


@pytest.mark.parametrize("of", ["events", "a whole database"])
def test_a_load_of_one_that_an_earlier_version_made_is_refused_before_anything_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    cut = Cut(tmp_path, monkeypatch, FEWER, "dags")
    replica = cut.terminal.world.replica
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(repl_dump_options, "is_too_long", lambda text: False)
        away = cut.dump(f"REPL DUMP {LONG}" + (f" FROM {cut.state.position.event_id}" if of == "events" else ""))
    if of != "events":
        replica.drop_database("sales")
    before = replica.database("sales")
    error = cut.load(away, code=4)["error"]
    assert "no replica can remember the scope of this statement" in error["what"]
    assert replica.database("sales") == before


def test_hive_which_remembers_no_scope_is_written_such_a_dump(speaker: Speaker) -> None:
    keys = f"{speaker.without_external[:-1]}, 'twinhive.dump.layout'='hive')"
    ((directory, _),) = speaker.say(
        f"REPL DUMP sales.['{'|'.join(name for name in NAMES if name != 'orders')}'] {keys}", "east"
    )
    assert "/twinhive-" in directory
