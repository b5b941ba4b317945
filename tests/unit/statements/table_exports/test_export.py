"""EXPORT TABLE: whole or absent, exact at one event, killed anywhere and repeated."""

import json
from contextlib import suppress

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.exported_tables import EXPORTS, ExportedTables
from tests.support.worlds.fake_world import Killed, KillSwitch
from twinhive.core.model.errors import ActNow, AlreadyThere, Foreign, Missing, TryAgain, TwinhiveError, Unexplained
from twinhive.core.model.names import TableName
from twinhive.statements.table_exports.export_metadata import read_description
from twinhive.statements.table_exports.exporting import ExportTable


@pytest.fixture
def tables() -> ExportedTables:
    return ExportedTables()


def flat(rows: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    return {f"{name or 'data'}/{path}": content for name, found in rows.items() for path, content in found.items()}


@pytest.mark.parametrize("table", ["orders", "plain", "empty", "no_partitions"])
def test_an_export_holds_the_rows_of_its_table_and_a_description_without_marks(
    tables: ExportedTables, table: str
) -> None:
    tables.users.set_parameters(table, {"repl.last.id": "9", "twinhive.cluster": "east", "mine": "ü"})
    done = tables.export(table)
    assert tables.exported_rows(table) == flat(tables.of_source(table))
    described = read_description(tables.world.replica_files, f"{EXPORTS}/{table}")
    assert described.table.name == TableName("sales", table)
    content = json.loads(tables.world.replica_files.read(f"{EXPORTS}/{table}/_metadata"))
    assert sorted(content) == ["partitions", "table", "version"]
    assert "mine" in content["table"] and "repl.last.id" not in content["table"]
    assert "twinhive.cluster" not in content["table"]
    assert done.partitions == len(described.partitions) == len(content["partitions"])
    assert done.event_id == tables.world.source.current_event_id()
    assert tables.left_over() == []


def test_directories_of_partitions_without_files_are_there(tables: ExportedTables) -> None:
    tables.export("orders")
    assert tables.world.replica_files.status(f"{EXPORTS}/orders/p=no files") is not None


def test_some_partitions_are_exported_by_their_values(tables: ExportedTables) -> None:
    assert tables.export("orders", spec={"P": "50%=#:ü"}).partitions == 1
    assert tables.exported_rows("orders") == {"p=50%25%3D%23%3Aü/000000_0": b"three"}


@pytest.mark.parametrize(
    ("spec", "found"), [({"q": "1"}, "has no partition key q"), ({"p": "not there"}, "has no such partition")]
)
def test_partitions_that_are_none_are_refused(tables: ExportedTables, spec: dict[str, str], found: str) -> None:
    with pytest.raises(ActNow, match=found):
        tables.export("orders", spec=spec)
    assert tables.exported_rows("orders") is None


@pytest.mark.parametrize(("table", "kind"), [("recent", "view"), ("not_there", "no table")])
def test_what_has_no_files_is_refused(tables: ExportedTables, table: str, kind: str) -> None:
    with pytest.raises(ActNow, match=kind if kind == "no table" else "cannot be exported"):
        tables.export(table)


def test_an_external_table_is_exported_too(tables: ExportedTables) -> None:
    tables.world.source_files.put("hdfs://east/outside/rows", b"rows")
    tables.export("outside")
    assert tables.exported_rows("outside") == {"data/rows": b"rows"}


def test_a_directory_with_something_in_it_is_refused_and_an_empty_one_is_taken(tables: ExportedTables) -> None:
    files = tables.world.replica_files
    files.put(f"{EXPORTS}/plain/mine", b"mine")
    for how in ({}, {"overwrites": True}):
        with pytest.raises(AlreadyThere, match="cannot be exported"):
            tables.export("plain", **how)
    assert files.read(f"{EXPORTS}/plain/mine") == b"mine"
    files.delete(f"{EXPORTS}/plain/mine")
    tables.export("plain")
    assert tables.exported_rows("plain") == flat(tables.of_source("plain"))


@pytest.mark.parametrize("spoil", ["PAR1", "beside", "in another export"])
def test_what_only_looks_like_an_export_is_not_replaced(tables: ExportedTables, spoil: str) -> None:
    files, place = tables.world.replica_files, f"{EXPORTS}/plain"
    if spoil == "PAR1":
        files.put(f"{place}/_metadata", b"PAR1 a summary of Parquet")
        files.put(f"{place}/part-0.parquet", b"mine")
    else:
        tables.export("plain")
        files.put(f"{place}/mine" if spoil == "beside" else f"{place}/orders/_metadata", b"mine")
    before = files.paths()
    with pytest.raises(AlreadyThere, match="cannot be exported") as refused:
        tables.export("plain", overwrites=True)
    assert "and no export, or not that alone" in str(refused.value.words.found)
    assert files.paths() == before


def test_of_an_export_that_is_read_with_an_answer_that_nobody_knows_nothing_is_said(
    tables: ExportedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.export("plain")
    files = tables.world.replica_files
    read = files.read

    def read_oddly(path: str) -> bytes:
        if path == f"{EXPORTS}/plain/_metadata":
            raise Unexplained(f"{path}: refused")
        return read(path)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(files, "read", read_oddly)
        with pytest.raises(Unexplained):
            tables.export("plain", overwrites=True)
    tables.export("plain", overwrites=True)


def test_an_export_is_replaced_when_that_is_said_and_the_old_one_goes_to_the_trash(tables: ExportedTables) -> None:
    tables.world.replica_files.keeps_trash = True
    tables.export("plain")
    with pytest.raises(AlreadyThere) as refused:
        tables.export("plain")
    assert refused.value.words.found == "an export"
    tables.users.insert("plain", None, [b"more"])
    tables.export("plain", overwrites=True)
    assert tables.exported_rows("plain") == flat(tables.of_source("plain"))
    assert any("/.Trash/" in path for path in tables.world.replica_files.paths())


@pytest.mark.parametrize("directory", ["hdfs://east/warehouse", "{}", "{}/below", "{}/p=a b/x"])
def test_a_directory_in_or_around_the_table_is_refused(tables: ExportedTables, directory: str) -> None:
    place = directory.format(tables.users.location("orders"))
    order = ExportTable(TableName("sales", "orders"), place)
    source = tables.world.source_files
    with pytest.raises(ActNow, match="cannot be exported"):
        order.plan(tables.world.source, source, source)
    before = source.paths()
    with pytest.raises(ActNow, match="cannot be exported"):
        order.run(tables.world.source, source, source, lambda *_: pytest.fail("nothing is copied"), print)
    assert source.paths() == before


def test_a_work_directory_of_somebody_else_is_not_used(tables: ExportedTables) -> None:
    tables.export("plain")
    work = ExportTable(TableName("sales", "plain"), f"{EXPORTS}/plain").work
    tables.world.replica_files.put(f"{work}/mine", b"mine")
    with pytest.raises(Foreign):
        tables.export("plain", overwrites=True)
    assert tables.world.replica_files.read(f"{work}/mine") == b"mine"


def test_what_changes_while_it_is_copied_is_read_again_and_the_export_is_of_one_event(tables: ExportedTables) -> None:
    changes = [
        lambda: tables.users.overwrite("orders", ("a b",), [b"new one"]),
        lambda: tables.users.overwrite("orders", ("50%=#:ü",), [b"new", b"newer"]),
    ]
    states: list[dict[str, bytes]] = []

    def change_something() -> None:
        states.append(flat(tables.of_source("orders")))
        if changes:
            changes.pop()()

    tables.export("orders", before_copy=change_something)
    # The second change comes after what it concerns was copied: it is not of the event that the export is of.
    assert len(states) == 2
    assert tables.exported_rows("orders") == states[-1]


def test_what_comes_after_its_event_is_not_in_it(tables: ExportedTables) -> None:
    before = flat(tables.of_source("orders"))
    done = tables.export("orders", before_copy=lambda: tables.users.add_partitions("orders", {("new",): [b"late"]}))
    assert tables.exported_rows("orders") == before
    assert done.event_id < tables.world.source.current_event_id()


def test_what_changes_all_the_time_is_to_be_tried_again(tables: ExportedTables) -> None:
    with pytest.raises(TryAgain, match="changes faster than it can be copied"):
        tables.export("plain", before_copy=lambda: tables.users.overwrite("plain", None, [b"again"]))
    assert tables.exported_rows("plain") is None
    tables.export("plain")
    assert tables.exported_rows("plain") == flat(tables.of_source("plain"))


def test_a_dropped_table_is_missing(tables: ExportedTables) -> None:
    with pytest.raises(Missing, match="no table"):
        tables.export("plain", before_copy=lambda: tables.users.drop_table("plain"))
    assert tables.exported_rows("plain") is None


def test_killed_at_any_change_there_is_no_export_or_a_whole_one_and_a_repetition_makes_it() -> None:
    whole = flat(ExportedTables().of_source("orders"))
    for left in left_by_kills(ExportedTables, lambda tables, switch: tables.export("orders", switch), least=10):
        found = left.exported_rows("orders")
        assert found in (None, whole)
        if found is None:
            left.export("orders")
        assert left.exported_rows("orders") == whole


def test_killed_while_one_is_replaced_the_repetition_has_the_new_rows() -> None:
    def begin() -> ExportedTables:
        tables = ExportedTables()
        tables.export("plain")
        tables.users.insert("plain", None, [b"more"])
        return tables

    for left in left_by_kills(begin, lambda tables, switch: tables.export("plain", switch, overwrites=True), least=10):
        left.export("plain", overwrites=True)
        assert left.exported_rows("plain") == flat(left.of_source("plain"))
        assert left.left_over() == []


def replaced_in_trash(tables: ExportedTables) -> list[bytes]:
    """Return the contents of the files of replaced exports that are in the trash."""
    files = tables.world.replica_files
    return [files.read(path) for path in files.paths() if "/.Trash/" in path and "/replaced" in path]


@pytest.mark.parametrize("at", range(1, 14))
def test_what_is_replaced_is_in_the_trash_whichever_change_it_was_killed_at(tables: ExportedTables, at: int) -> None:
    tables.world.replica_files.keeps_trash = True
    tables.export("plain")
    old = set(flat(tables.of_source("plain")).values())
    tables.users.overwrite("plain", None, [b"new"])
    with suppress(Killed):
        tables.export("plain", KillSwitch(at, after_effect=True), overwrites=True)
    tables.export("plain", overwrites=True)
    assert old <= set(replaced_in_trash(tables))
    assert tables.exported_rows("plain") == flat(tables.of_source("plain"))
    assert not [path for path in tables.left_over() if "/.Trash/" not in path]


def test_what_was_moved_aside_is_in_the_trash_when_another_export_came_to_its_place(tables: ExportedTables) -> None:
    files, place = tables.world.replica_files, f"{EXPORTS}/plain"
    files.keeps_trash = True
    tables.export("plain")
    old, described = set(flat(tables.of_source("plain")).values()), files.read(f"{place}/_metadata")
    real = files.rename

    def rename(source: str, target: str) -> bool:
        done = real(source, target)
        if target.endswith("/replaced"):  # Hive exports to the same directory meanwhile
            files.rename = real
            files.put(f"{place}/_metadata", described)
            files.put(f"{place}/data/rows", b"of Hive")
        return done

    files.rename = rename
    with pytest.raises(TryAgain, match="could not be put at"):
        tables.export("plain", overwrites=True)
    tables.export("plain", overwrites=True)
    assert {*old, b"of Hive"} <= set(replaced_in_trash(tables))
    assert tables.exported_rows("plain") == flat(tables.of_source("plain"))


def test_two_at_once_leave_one_whole_export() -> None:
    whole = flat(ExportedTables().of_source("orders"))

    def other(tables: ExportedTables) -> None:
        try:
            tables.export("orders")
        except TwinhiveError as error:
            assert isinstance(error, (TryAgain, AlreadyThere)), error

    for at in range(1, 40):
        tables = ExportedTables()
        switch = AnotherAt(at, lambda tables=tables: other(tables))
        try:
            tables.export("orders", switch)
        except TwinhiveError as error:
            assert isinstance(error, (TryAgain, AlreadyThere, Missing)), error
        assert tables.exported_rows("orders") == whole
        if not switch.was_there:
            break


class AnotherAt:
    """Let somebody else do something before the n-th change."""

    def __init__(self, at: int, does: object) -> None:
        self.at, self.does, self.was_there = at, does, False

    def change(self, effect: object) -> object:
        self.at -= 1
        if self.at == 0:
            self.was_there = True
            self.does()
        return effect()
