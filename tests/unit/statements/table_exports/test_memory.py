"""Exports and imports stream: how many files are held at a time does not depend on how many there are."""

import gc
from pathlib import Path
from typing import Any

import pytest

from tests.support.worlds.large_exports import LargeExports
from twinhive.statements.execution import table_file_copies
from twinhive.statements.table_exports import listed_files, table_tree
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.staged_files import CopyItem

AT_ONCE = 500


class Watched:
    """Count what is held of files, each so often."""

    def __init__(self, tables: LargeExports) -> None:
        self.most = self.looks = 0
        self._renames = 0
        for name in ("write", "status", "rename"):
            setattr(tables.west, name, self._with_a_look(getattr(tables.west, name)))
        for files in (tables.east, tables.west):
            files.list_pages = self._with_looks(files.list_pages)  # type: ignore[method-assign]

    def _with_a_look(self, call: Any) -> Any:
        def called(*given: Any) -> Any:
            self._renames += 1
            if self._renames % 800 == 0:
                self.look()
            return call(*given)

        return called

    def _with_looks(self, pages: Any) -> Any:
        def listing(paths: Any) -> Any:
            for page in pages(paths):
                yield page
                self.look()

        return listing

    def look(self) -> None:
        self.looks += 1
        self.most = max(self.most, sum(isinstance(one, (CopyItem, CopyOutcome)) for one in gc.get_objects()))


@pytest.mark.parametrize("many", [2_000, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_what_is_held_of_files_does_not_grow_with_them(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_files, "FILES_A_PIECE", 4 * AT_ONCE)
    monkeypatch.setattr(table_tree, "_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(table_file_copies, "DEALT_AT_ONCE", AT_ONCE)
    tables = LargeExports(many, tmp_path)
    watched = Watched(tables)
    assert tables.export().files == many
    assert tables.import_().files == many
    assert tables.west.placed == 2 * many
    assert watched.looks > many / 1000
    assert watched.most < 5 * AT_ONCE
