"""What others do to a replica between the first look of a REPL LOAD and its lease: the copying takes hours."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.hive import fake_metastore
from tests.unit.statements.execution.test_scope_cut_off import CHANGES, FEWER, MORE, Change, Cut, advised
from twinhive.core.model.errors import Unreachable
from twinhive.core.ports import WritePorts
from twinhive.statements.steps.repl_load import ReplLoad


def meanwhile(patch: pytest.MonkeyPatch, do: Callable[[], object], after: str = "_copy") -> None:
    """Have this done once, after this part of the next load."""
    real = getattr(ReplLoad, after)

    def then(step: ReplLoad, ports: WritePorts) -> None:
        patch.setattr(ReplLoad, after, real)
        real(step, ports)
        do()

    patch.setattr(ReplLoad, after, then)


def window_passes(cut: Cut) -> None:
    cut.terminal.users.insert("plain", None, [b"meanwhile"])
    cut.window()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_window_passes_a_change_of_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """The load must not end well: none of the tables were brought or dropped."""
    cut = Cut(tmp_path, monkeypatch, change, "dags")
    meanwhile(monkeypatch, lambda: window_passes(cut))
    error = cut.load(cut.away, code=4)
    assert "is ahead of this dump" in error["error"]["what"]
    assert (cut.state.scope, cut.state.scope_before) == (None, None)
    position = cut.state.position.event_id
    assert advised(error) == f"REPL DUMP {change.new_scope} REPLACE {change.old_scope} FROM {position}"
    cut.load(cut.dump(advised(error)))
    cut.assert_at(change.new)


def test_a_window_passes_mere_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has brought all that the load would have."""
    cut = Cut(tmp_path, monkeypatch, FEWER, "dags")
    events = cut.dump(f"REPL DUMP sales FROM {cut.state.position.event_id}")
    meanwhile(monkeypatch, lambda: window_passes(cut))
    cut.load(events)
    cut.assert_at(FEWER.old)


def test_a_window_passes_a_table_that_comes_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it has brought that table too nobody can tell from the position."""
    cut = Cut(tmp_path, monkeypatch, MORE, "dags")
    cut.terminal.users.rename_table("orders", "plain_too")
    cut.select({"include": ["plain.*"]})
    cut.terminal.type("run", "sales", "bootstrap", "--again")
    cut.terminal.users.rename_table("recent", "plain_recent")
    events = cut.dump(f"REPL DUMP sales.['plain.*'] FROM {cut.state.position.event_id}")
    meanwhile(monkeypatch, lambda: window_passes(cut))
    assert "is ahead of this dump" in cut.load(events, code=4)["error"]["what"]


def test_another_load_ends_the_same_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Cut(tmp_path, monkeypatch, MORE, "dags")

    def another() -> None:
        cut.terminal.users.insert("plain", None, [b"meanwhile"])
        cut.load(cut.dump(f"REPL DUMP {MORE.new_scope} REPLACE {MORE.old_scope} FROM {cut.state.position.event_id}"))

    meanwhile(monkeypatch, another, after="check")
    cut.load(cut.away)
    cut.assert_at(MORE.new)


def test_another_load_leaves_the_replica_between_two_scopes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load of mere events, which began before, must not say that all is there."""
    cut = Cut(tmp_path, monkeypatch, FEWER, "dags")
    events = cut.dump(f"REPL DUMP sales FROM {cut.state.position.event_id}")

    def another() -> None:
        drop, dropped = fake_metastore.InMemoryMetastore.drop_table, []

        def fails_later(*told: object, **more: object) -> None:
            if len(dropped) == 2:
                raise Unreachable("the metastore does not answer", next_step="wait")
            dropped.append(told)
            drop(*told, **more)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fake_metastore.InMemoryMetastore, "drop_table", fails_later)
            cut.terminal.type("sql", f"REPL LOAD FROM '{cut.away}'", "--policy", "sales", code=3)

    meanwhile(monkeypatch, another, after="check")
    assert "is between two scopes: a REPL LOAD has not ended" in cut.load(events, code=4)["error"]["what"]
    assert (cut.state.scope, cut.state.scope_before) == (FEWER.new_scope, FEWER.for_certain)
    cut.load(cut.away)
    cut.assert_at(FEWER.new)


def test_a_window_reaches_the_event_of_a_change_and_cleans_away_what_was_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables that come whole need their files at the dump's last event too; said again, the load copies them."""
    cut = Cut(tmp_path, monkeypatch, MORE, "dags")
    meanwhile(monkeypatch, cut.window)
    error = cut.load(cut.away, code=4)["error"]
    assert "is not complete on the replica" in error["what"]
    assert "sales.orders (3 partitions): its files are not copied" in error["found"]
    assert (cut.state.scope, cut.state.scope_before) == (None, None)
    cut.load(cut.away)
    cut.assert_at(MORE.new)
