"""EXPORT of a table two of whose partitions share a directory, or of which one lies in another's, works at once."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.exported_tables import ExportedTables
from twinhive.statements.table_exports import listed_files


def shared(below: str, partitions: int = 2) -> ExportedTables:
    tables = ExportedTables()
    users = tables.users
    users.create_table("shared", ("p",))
    users.add_partitions("shared", {(str(one),): {"a": b"1", "b": b"2"} for one in range(partitions)})
    first = users.location("shared", ("0",))
    for one in range(1, partitions):
        users.set_partition_location("shared", (str(one),), first + below)
    if below:
        tables.world.source_files.put(f"{first}{below}/c", b"3")
    return tables


def rows(tables: ExportedTables) -> dict[str, bytes]:
    found = tables.of_source("shared")
    return {f"{name}/{path}": content for name, files in found.items() for path, content in files.items()}


@pytest.mark.parametrize("below", ["", "/deep"])
@pytest.mark.parametrize("partitions", [2, 4])
@pytest.mark.parametrize("files_a_piece", [1, 2, 100])
def test_all_of_them_have_their_files(
    below: str, partitions: int, files_a_piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_files, "FILES_A_PIECE", files_a_piece)
    tables = shared(below, partitions)
    done = tables.export("shared")
    assert tables.exported_rows("shared") == rows(tables)
    assert done.files == len(rows(tables))
    assert tables.left_over() == []
    tables.import_("shared", "t")
    assert tables.of_import("t") == tables.of_source("shared")


@pytest.mark.parametrize("below", ["", "/deep"])
def test_also_after_a_kill_at_any_change(below: str) -> None:
    for left in left_by_kills(lambda: shared(below, 3), lambda tables, switch: tables.export("shared", switch)):
        if left.exported_rows("shared") is None:
            left.export("shared")
        assert left.exported_rows("shared") == rows(left)
