"""Two exports that replace what is at one directory, at the same time: a whole export is there in the end."""

import threading

import pytest

from tests.support.worlds.exported_tables import EXPORTS, ExportedTables, Rows
from tests.unit.statements.table_exports.test_export import AnotherAt
from twinhive.core.model.errors import AlreadyThere, Missing, TryAgain, TwinhiveError

PLACE = f"{EXPORTS}/plain"


@pytest.fixture
def tables() -> ExportedTables:
    return with_export()


def with_export() -> ExportedTables:
    tables = ExportedTables()
    tables.world.replica_files.keeps_trash = True
    tables.export("plain")
    return tables


def whole(tables: ExportedTables) -> Rows:
    return {f"data/{path}": content for path, content in tables.of_source("plain")[""].items()}


def replacing(tables: ExportedTables, switch: object = None) -> TwinhiveError | None:
    """Replace the export; return what keeps it from that."""
    try:
        tables.export("plain", switch, overwrites=True)
    except (TryAgain, AlreadyThere, Missing) as error:
        return error
    return None


def test_one_that_is_replaced_as_soon_as_it_is_shown_leaves_the_other_its_tree(tables: ExportedTables) -> None:
    """When the first has shown its export, the second moves that aside; then the first ends, before the second."""
    files, ends = tables.world.replica_files, {}
    is_aside, first_is_done = threading.Event(), threading.Event()
    second = threading.Thread(target=lambda: ends.update(second=replacing(tables)))
    real = files.rename

    def rename(source: str, target: str) -> bool:
        done = real(source, target)
        if threading.current_thread() is second and source == PLACE:
            is_aside.set()
            first_is_done.wait(10)
        elif threading.current_thread() is not second and target == PLACE:
            second.start()
            is_aside.wait(10)
        return done

    files.rename = rename
    ends["first"] = replacing(tables)
    first_is_done.set()
    second.join(10)
    assert isinstance(ends["first"], TryAgain) and ends["second"] is None
    assert tables.exported_rows("plain") == whole(tables)
    assert not [path for path in tables.left_over() if "/.Trash/" not in path]


def test_one_whose_tree_is_gone_puts_back_what_it_has_moved_aside(tables: ExportedTables) -> None:
    files = tables.world.replica_files
    real = files.rename

    def rename(source: str, target: str) -> bool:
        if source.endswith("/tree"):
            files.delete(source)
        return real(source, target)

    files.rename = rename
    assert isinstance(replacing(tables), TryAgain)
    assert tables.exported_rows("plain") == whole(tables)


def test_another_at_any_moment_leaves_a_whole_export_and_one_of_both_says_that_it_is_there() -> None:
    for at in range(1, 40):
        tables, ends = with_export(), []
        switch = AnotherAt(at, lambda tables=tables, ends=ends: ends.append(replacing(tables)))
        ends.append(replacing(tables, switch))
        assert tables.exported_rows("plain") == whole(tables), at
        assert None in ends, at
        if not switch.was_there:
            assert at > 5
            return
