"""IMPORT TABLE: new tables and old ones, what is refused before a byte is copied, killed anywhere and repeated."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.exported_tables import EXPORTS, ExportedTables
from twinhive.core.model.errors import ActNow, AlreadyThere, Missing, TryAgain, TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.tjson import from_text, to_text


@pytest.fixture
def tables() -> ExportedTables:
    made = ExportedTables()
    for table in ("orders", "plain", "empty", "no_partitions"):
        made.export(table)
    return made


def imported(tables: ExportedTables, table: str) -> Any:
    return tables.world.replica.table(TableName("d", table))


@pytest.mark.parametrize("table", ["orders", "plain", "empty", "no_partitions"])
def test_a_new_table_has_the_rows_the_columns_and_the_parameters(tables: ExportedTables, table: str) -> None:
    done = tables.import_(table, "t")
    assert tables.of_import("t") == tables.of_source(table)
    there, source = imported(tables, "t"), tables.users.table(table)
    assert (there.columns, there.partition_keys, there.table_type) == (
        source.columns,
        source.partition_keys,
        "MANAGED_TABLE",
    )
    assert done.location == there.location == "hdfs://west/warehouse/managed/d.db/t"
    assert tables.left_over() == []


def test_a_replica_that_hive_has_made_takes_no_import_until_its_mark_is_taken_out(tables: ExportedTables) -> None:
    replica = tables.world.replica
    replica.set_database_parameters("d", {"repl.last.id": "7", "repl.target.for": "true"})
    with pytest.raises(ActNow, match="Hive's REPL LOAD has made"):
        tables.import_("plain", "t")
    assert imported(tables, "t") is None
    replica.set_database_parameters("d", {"repl.last.id": "", "repl.target.for": "true"})
    tables.import_("plain", "t")


def test_it_tells_the_log_so_that_a_replica_of_it_has_the_rows(tables: ExportedTables) -> None:
    tables.import_("orders", "t")
    assert tables.events_of_import("t") == ["CREATE_TABLE", "ADD_PARTITION"]
    tables.import_("plain", "p")
    assert tables.events_of_import("p") == ["CREATE_TABLE"]
    tables.import_("plain", "p2")


def test_rows_of_an_empty_table_are_told_to_the_log(tables: ExportedTables) -> None:
    tables.import_("empty", "t")
    accurate = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "0"}
    tables.imported.set_parameters("t", {**imported(tables, "t").parameters, **accurate})
    tables.import_("plain", "t")
    assert tables.of_import("t") == tables.of_source("plain")
    assert tables.events_of_import("t")[-1] == "INSERT"
    assert "COLUMN_STATS_ACCURATE" not in imported(tables, "t").parameters


def test_partitions_are_added_to_a_table_that_is_there(tables: ExportedTables) -> None:
    tables.import_("orders", "t", spec={"p": "a b"})
    done = tables.import_("orders", "t", spec={"p": "50%=#:ü"})
    assert done.partitions == 1
    tables.import_("orders", "t", spec={"p": "no files"})
    assert tables.of_import("t") == tables.of_source("orders")
    assert tables.events_of_import("t") == ["CREATE_TABLE", *["ADD_PARTITION"] * 3]


def test_a_name_that_is_left_out_is_that_of_the_exported_table_in_default(tables: ExportedTables) -> None:
    tables.world.replica.create_database(Database("default", None, None, {}, thrift="{}"))
    from twinhive.statements.table_exports.importing import ImportTable

    found = ImportTable(None, f"{EXPORTS}/plain").look(tables.world.replica, tables.world.replica_files, "hdfs://west")
    assert (found.target.name, found.target.location) == (
        TableName("default", "plain"),
        "hdfs://west/warehouse/managed/plain",
    )


def test_an_external_table_without_a_location_reads_the_export_in_place(tables: ExportedTables) -> None:
    before = tables.world.replica_files.paths()
    for _ in range(2):
        done = tables.import_("orders", "t", external=True)
    assert (done.files, done.location) == (0, f"{EXPORTS}/orders")
    assert tables.world.replica_files.paths() == before
    assert tables.of_import("t") == tables.of_source("orders")
    there = imported(tables, "t")
    assert (there.table_type, there.parameters["EXTERNAL"]) == ("EXTERNAL_TABLE", "TRUE")
    assert "external.table.purge" not in there.parameters
    tables.import_("plain", "p", external=True)
    assert tables.of_import("p") == tables.of_source("plain")


@pytest.mark.parametrize("external", [True, False])
def test_a_location_is_taken(tables: ExportedTables, external: bool) -> None:
    done = tables.import_("orders", "t", external=external, location="hdfs://west/data/orders")
    assert done.location == imported(tables, "t").location == "hdfs://west/data/orders"
    assert tables.of_import("t") == tables.of_source("orders")


def spoiled(tables: ExportedTables, table: str, change: Callable[[dict[str, Any]], None]) -> None:
    path = f"{EXPORTS}/{table}/_metadata"
    content = json.loads(tables.world.replica_files.read(path))
    change(content)
    tables.world.replica_files.write(path, json.dumps(content).encode())


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda content: content.update(version="0.3"), r"version 0\.3"),
        (lambda content: content.update(table="{"), "_metadata cannot be read"),
        (lambda content: content.pop("table"), "_metadata cannot be read"),
        (lambda content: content.update(partitions=[1]), "_metadata cannot be read"),
        (lambda content: content.update(partitions={"a": 1}), "_metadata cannot be read"),
    ],
)
def test_a_description_that_cannot_be_read_is_refused(
    tables: ExportedTables, change: Callable[[dict[str, Any]], None], found: str
) -> None:
    spoiled(tables, "orders", change)
    with pytest.raises(ActNow, match=found):
        tables.import_("orders", "t")
    assert imported(tables, "t") is None


def test_partitions_as_one_text_are_read_as_some_versions_of_hive_write_them(tables: ExportedTables) -> None:
    spoiled(tables, "orders", lambda content: content.update(partitions=json.dumps(content["partitions"])))
    tables.import_("orders", "t")
    assert tables.of_import("t") == tables.of_source("orders")


def test_a_directory_without_a_description_is_no_export(tables: ExportedTables) -> None:
    tables.world.replica_files.delete(f"{EXPORTS}/orders/_metadata")
    with pytest.raises(Missing, match="is no export of a table"):
        tables.import_("orders", "t")


@pytest.mark.parametrize(("table", "gone"), [("orders", "p=a b"), ("plain", "data")])
def test_an_export_that_lacks_a_directory_is_not_whole(tables: ExportedTables, table: str, gone: str) -> None:
    tables.world.replica_files.delete(f"{EXPORTS}/{table}/{gone}")
    with pytest.raises(Missing, match="is not whole"):
        tables.import_(table, "t")
    assert imported(tables, "t") is None


def test_a_partition_that_is_there_is_refused_before_a_byte_is_copied(tables: ExportedTables) -> None:
    tables.import_("orders", "t", spec={"p": "a b"})
    before = tables.world.replica_files.paths()
    with pytest.raises(AlreadyThere, match=r"1 partitions of d\.t are there already"):
        tables.import_("orders", "t")
    assert tables.world.replica_files.paths() == before


def test_a_table_with_rows_is_refused(tables: ExportedTables) -> None:
    tables.import_("empty", "t")
    tables.imported.insert("t", None, [b"mine"])
    with pytest.raises(AlreadyThere, match="its directory is not empty"):
        tables.import_("plain", "t")
    assert list((tables.of_import("t") or {})[""].values()) == [b"mine"]


@pytest.mark.parametrize("table", ["orders", "plain"])
def test_files_of_nobody_at_a_new_place_are_refused_and_stay(tables: ExportedTables, table: str) -> None:
    place = "hdfs://west/warehouse/managed/d.db/t" + ("/p=a b" if table == "orders" else "")
    tables.world.replica_files.put(f"{place}/mine", b"mine")
    with pytest.raises(AlreadyThere, match="its directory is not empty"):
        tables.import_(table, "t")
    assert tables.world.replica_files.read(f"{place}/mine") == b"mine"
    assert imported(tables, "t") is None


def test_a_table_that_does_not_fit_is_refused_with_all_that_differs(tables: ExportedTables) -> None:
    tables.imported.create_table("t", keys=("q",))
    with pytest.raises(ActNow, match="does not fit table") as refused:
        tables.import_("orders", "t", external=True, location="hdfs://west/other")
    found = str(refused.value.words.found)
    for part in ("partition keys", "EXTERNAL is said", "LOCATION says hdfs://west/other"):
        assert part in found
    with pytest.raises(ActNow, match="does not fit table"):
        tables.import_("plain", "t")


def test_another_format_is_refused(tables: ExportedTables) -> None:
    tables.import_("orders", "t", spec={"p": "a b"})

    def other_format(content: dict[str, Any]) -> None:
        tree = from_text(content["table"])
        tree["7"]["rec"]["3"] = {"str": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"}
        content["table"] = to_text(tree)

    spoiled(tables, "orders", other_format)
    with pytest.raises(ActNow, match="input format"):
        tables.import_("orders", "t", spec={"p": "no files"})


def test_views_and_databases_that_are_not_there_are_refused(tables: ExportedTables) -> None:
    tables.imported.create_view("v")
    with pytest.raises(ActNow, match="cannot be imported into"):
        tables.import_("plain", "v")
    tables.world.replica.create_database(Database("gone", None, None, {}, thrift="{}"))
    from twinhive.statements.table_exports.importing import ImportTable

    with pytest.raises(Missing, match="there is no database nowhere"):
        ImportTable(TableName("nowhere", "t"), f"{EXPORTS}/plain").look(
            tables.world.replica, tables.world.replica_files, "hdfs://west"
        )


@pytest.mark.parametrize("location", [f"{EXPORTS}/orders", f"{EXPORTS}/orders/below"])
def test_a_place_in_the_export_is_refused(tables: ExportedTables, location: str) -> None:
    with pytest.raises(ActNow, match="is in the export"):
        tables.import_("orders", "t", location=location)


@pytest.mark.parametrize("table", ["orders", "plain"])
@pytest.mark.parametrize("is_there", [False, True])
def test_killed_at_any_change_nothing_shows_in_part_and_a_repetition_has_all(table: str, is_there: bool) -> None:
    def begin() -> ExportedTables:
        tables = ExportedTables()
        tables.export(table)
        if is_there:
            alike = "no_partitions" if table == "orders" else "empty"
            tables.export(alike)
            tables.import_(alike, "t")
        return tables

    whole = ExportedTables().of_source(table)
    for left in left_by_kills(begin, lambda tables, switch: tables.import_(table, "t", switch), least=8):
        found = left.of_import("t") or {}
        assert all(rows in (whole[name], {}) for name, rows in found.items())
        assert table != "orders" or all(rows == whole[name] for name, rows in found.items())
        if not is_there and table == "plain" and found:
            assert found == whole
        if left.left_over() or found != whole:
            left.import_(table, "t")
        assert left.of_import("t") == whole
        assert left.left_over() == []


def test_what_was_cut_off_goes_on_where_it_was_and_not_with_another_export() -> None:
    for left in left_by_kills(_exported_orders, lambda tables, switch: tables.import_("orders", "t", switch), least=8):
        if left.of_import("t"):
            continue
        left.users.overwrite("orders", ("a b",), [b"newer"])
        left.export("orders", overwrites=True)
        left.import_("orders", "t")
        assert left.of_import("t") == left.of_source("orders")


def _exported_orders() -> ExportedTables:
    tables = ExportedTables()
    tables.export("orders")
    return tables


@pytest.mark.thorough
@pytest.mark.parametrize("table", ["orders", "plain"])
def test_two_at_once_leave_all_rows_once(table: str) -> None:
    whole = ExportedTables().of_source(table)
    for at in range(1, 60):
        tables = ExportedTables()
        tables.export(table)
        switch = AnotherOnce(at, lambda tables=tables: _tried(tables, table))
        _tried(tables, table, switch)
        if tables.of_import("t") != whole:
            _tried(tables, table)
        assert tables.of_import("t") == whole
        if not switch.was_there:
            return
    raise AssertionError("more changes than were looked at")


def _tried(tables: ExportedTables, table: str, switch: Any = None) -> None:
    try:
        tables.import_(table, "t", switch)
    except TwinhiveError as error:
        assert isinstance(error, (TryAgain, AlreadyThere, Missing)), error


class AnotherOnce:
    """Let somebody else do something before the n-th change."""

    def __init__(self, at: int, does: Callable[[], None]) -> None:
        self.at, self.does, self.was_there = at, does, False

    def change(self, effect: Callable[[], Any]) -> Any:
        self.at -= 1
        if self.at == 0:
            self.was_there = True
            self.does()
        return effect()
