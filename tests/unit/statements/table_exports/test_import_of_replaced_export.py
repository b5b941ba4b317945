"""An import takes description and files from the same export: one that is replaced meanwhile is to be tried again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.exported_tables import EXPORTS, ExportedTables
from twinhive.core.model.errors import TryAgain
from twinhive.core.model.names import TableName


@pytest.fixture
def tables() -> ExportedTables:
    made = ExportedTables()
    made.export("orders")
    return made


def replaced(tables: ExportedTables) -> None:
    """Let the nightly export put the table as it is now in the place of the one before."""
    tables.users.add_partitions("orders", {("new",): {"n": b"new"}})
    tables.users.insert("orders", ("a b",), {"later": b"of the second export"})
    tables.export("orders", overwrites=True)


def assert_nothing_then_all(tables: ExportedTables, **how: Any) -> None:
    shown = tables.of_import("t")
    assert not shown, "a state that never was"
    tables.import_("orders", "t", **how)
    assert tables.of_import("t") == tables.of_source("orders")


@pytest.mark.parametrize("external", [False, True])
def test_between_the_look_and_the_listing(tables: ExportedTables, external: bool) -> None:
    found = tables.looked("orders", "t", external=external)
    replaced(tables)
    with pytest.raises(TryAgain, match="was replaced while it was imported"):
        found.run(tables.tools())
    assert_nothing_then_all(tables, external=external)


def test_so_says_a_dry_run(tables: ExportedTables) -> None:
    found = tables.looked("orders", "t")
    replaced(tables)
    files = tables.world.replica_files
    with pytest.raises(TryAgain, match="was replaced while it was imported"):
        found.plan(tables.world.replica, files, files)


def test_while_it_is_listed(tables: ExportedTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of its directories are listed before, one after: all are of what was described by their names."""
    files = tables.world.replica_files
    real, before = files.list_pages, [lambda: replaced(tables)]

    def list_pages(paths: Any) -> Any:
        for number, found in enumerate(real(paths)):
            yield found
            if number == 1 and found[0].startswith(EXPORTS) and before:
                before.pop()()

    found = tables.looked("orders", "t")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(files, "list_pages", list_pages)
        with pytest.raises(TryAgain, match="was replaced while it was imported"):
            found.run(tables.tools())
    assert_nothing_then_all(tables)


@pytest.mark.parametrize("when", ["before it is copied", "after it was copied"])
def test_while_it_is_copied(tables: ExportedTables, when: str) -> None:
    tools = tables.tools()
    real: Callable[..., Any] = tools.copy

    def copy(*given: Any) -> Any:
        if when.startswith("before"):
            replaced(tables)
        outcome = real(*given)
        if when.startswith("after"):
            replaced(tables)
        return outcome

    with pytest.raises(TryAgain):
        tables.looked("orders", "t").run(replace(tools, copy=copy))
    assert_nothing_then_all(tables)


def test_one_that_is_read_in_place_and_replaced_while_it_is_registered(tables: ExportedTables) -> None:
    replica = tables.world.replica
    real = replica.create_table

    def create_table(table: Any) -> None:
        real(table)
        if table.name == TableName("d", "t"):
            replaced(tables)

    replica.create_table = create_table  # type: ignore[method-assign]
    found = tables.looked("orders", "t", external=True)
    with pytest.raises(TryAgain):
        found.run(tables.tools())
    assert not tables.of_import("t")


def test_an_export_that_only_a_reader_opens_is_the_same(tables: ExportedTables) -> None:
    found = tables.looked("orders", "t")
    tables.world.replica_files.read(f"{EXPORTS}/orders/_metadata")
    found.run(tables.tools())
    assert tables.of_import("t") == tables.of_source("orders")
