"""Tables whose values have directories of their own go through exports and imports as any other."""

from typing import Any

import pytest

from tests.support.users.skewed_tables import CONTENTS, assert_directories_below, create_skewed, said_places
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.exported_tables import EXPORTS, ExportedTables
from twinhive.core.model.names import TableName
from twinhive.statements.table_exports.export_metadata import read_description


def with_skewed() -> ExportedTables:
    tables = ExportedTables()
    create_skewed(tables.users, "plain_skewed")
    create_skewed(tables.users, "parts_skewed", "1", "a b")
    return tables


@pytest.fixture
def tables() -> ExportedTables:
    return with_skewed()


def objects(metastore: Any, name: TableName) -> list[Any]:
    table = metastore.table(name)
    return metastore.partitions(name, metastore.partition_names(name)) if table.partition_keys else [table]


@pytest.mark.parametrize("table", ["plain_skewed", "parts_skewed"])
def test_an_export_says_the_values_and_has_all_their_files(tables: ExportedTables, table: str) -> None:
    done = tables.export(table)
    described = read_description(tables.world.replica_files, f"{EXPORTS}/{table}")
    there = objects(tables.world.source, TableName("sales", table))
    assert done.files == len(CONTENTS) * len(there)
    assert [said_places(one) for one in described.partitions or [described.table]] == [
        said_places(one) for one in there
    ]


@pytest.mark.parametrize("how", [{}, {"location": "hdfs://west/some where"}, {"external": True}])
@pytest.mark.parametrize("table", ["plain_skewed", "parts_skewed"])
def test_an_imported_table_says_its_own_directories(tables: ExportedTables, table: str, how: dict[str, Any]) -> None:
    tables.export(table)
    tables.import_(table, "t", **how)
    assert tables.of_import("t") == tables.of_source(table)
    for one in objects(tables.world.replica, TableName("d", "t")):
        assert_directories_below(one)
        assert str(one.location).startswith("hdfs://west/")


def test_partitions_are_added_to_a_table_that_is_there(tables: ExportedTables) -> None:
    tables.export("parts_skewed")
    tables.import_("parts_skewed", "t", spec={"p": "1"})
    tables.import_("parts_skewed", "t", spec={"p": "a b"})
    assert tables.of_import("t") == tables.of_source("parts_skewed")
    for one in objects(tables.world.replica, TableName("d", "t")):
        assert_directories_below(one)


def test_rows_of_an_empty_table_are_told_to_the_log_with_their_directories(tables: ExportedTables) -> None:
    tables.imported.create_table("t")
    tables.export("plain_skewed")
    tables.import_("plain_skewed", "t")
    assert tables.of_import("t") == {"": CONTENTS}
    assert tables.events_of_import("t")[-1] == "INSERT"


def test_killed_at_any_change_and_run_again() -> None:
    def begin() -> ExportedTables:
        tables = with_skewed()
        tables.export("parts_skewed")
        return tables

    for left in left_by_kills(begin, lambda tables, switch: tables.import_("parts_skewed", "t", switch), least=10):
        if left.left_over() or left.of_import("t") != left.of_source("parts_skewed"):
            left.import_("parts_skewed", "t")
        for one in objects(left.world.replica, TableName("d", "t")):
            assert_directories_below(one)
        assert left.of_import("t") == left.of_source("parts_skewed")
