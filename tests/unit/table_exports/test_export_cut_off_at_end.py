"""An export that was cut off when it was shown already: the same statement comes to its end, any other is refused."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.exported_tables import EXPORTS, ExportedTables
from tests.support.worlds.fake_world import Killed, KillSwitch
from tests.unit.table_exports.test_export import flat
from twinhive.model.errors import AlreadyThere, Refused, Unexplained
from twinhive.model.names import TableName
from twinhive.owned.directories import ATTRIBUTE
from twinhive.table_exports.exporting import ExportTable
from twinhive.table_exports.shown_export import Exported

PLACE = f"{EXPORTS}/orders"
WORK = ExportTable(TableName("sales", "orders"), PLACE).work


def cut_at(at: int, **how: object) -> ExportedTables:
    tables = ExportedTables()
    with pytest.raises(Killed):
        tables.export("orders", KillSwitch(at, after_effect=True), **how)
    return tables


def is_shown(tables: ExportedTables) -> bool:
    return tables.exported_rows("orders") is not None


class Cut:
    """Exported tables of which one was cut off as soon as it was there, and what it would have returned."""

    def __init__(self, **how: object) -> None:
        self.sums = ExportedTables().export("orders", **how)
        self.tables = next(filter(is_shown, (cut_at(at, **how) for at in range(1, 100))))
        self.files = self.tables.world.replica_files

    def again(self, **how: object) -> Exported:
        return self.tables.export("orders", before_copy=lambda: pytest.fail("nothing is copied"), **how)


@pytest.fixture
def cut() -> Cut:
    return Cut()


def test_killed_at_any_change_the_same_statement_ends_and_leaves_nothing() -> None:
    whole = flat(ExportedTables().of_source("orders"))
    sums = ExportedTables().export("orders")
    for left in left_by_kills(ExportedTables, lambda tables, switch: tables.export("orders", switch), least=10):
        if left.exported_rows("orders") is None or left.left_over():
            assert left.export("orders") == sums
        assert left.exported_rows("orders") == whole
        assert left.left_over() == []


def test_what_was_shown_is_said_with_its_own_event_whatever_has_become_of_the_table(cut: Cut) -> None:
    whole = cut.tables.exported_rows("orders")
    cut.tables.users.insert("orders", ("a b",), [b"more"])
    source, files = cut.tables.world.source, cut.files
    order = ExportTable(TableName("sales", "orders"), PLACE)
    (said,) = order.plan(source, cut.tables.world.source_files, files)
    assert f"as of event {cut.sums.event_id}: would clean up" in said
    assert cut.again() == cut.sums
    assert (cut.tables.exported_rows("orders"), cut.tables.left_over()) == (whole, [])
    with pytest.raises(AlreadyThere):
        cut.again()


def test_the_same_partitions_in_another_spelling_are_the_same_statement() -> None:
    cut = Cut(spec={"p": "a b"})
    assert cut.again(spec={"P": "a b"}) == cut.sums


def test_other_partitions_are_another_statement(cut: Cut) -> None:
    with pytest.raises(AlreadyThere):
        cut.again(spec={"p": "a b"})
    assert cut.tables.left_over()
    assert cut.again() == cut.sums


def test_another_table_is_another_statement(cut: Cut) -> None:
    order = ExportTable(TableName("sales", "plain"), PLACE)
    with pytest.raises(AlreadyThere):
        order.plan(cut.tables.world.source, cut.tables.world.source_files, cut.files)


def test_one_that_replaces_is_carried_out(cut: Cut) -> None:
    cut.tables.users.insert("orders", ("a b",), [b"more"])
    cut.tables.export("orders", overwrites=True)
    assert cut.tables.exported_rows("orders") == flat(cut.tables.of_source("orders"))
    assert cut.tables.left_over() == []


def test_an_export_of_somebody_else_at_its_place_is_no_end(cut: Cut) -> None:
    content = {path: cut.files.read(path) for path in cut.files.paths() if path.startswith(f"{PLACE}/")}
    cut.files.delete(PLACE)
    for path, one in content.items():
        cut.files.put(path, one)
    with pytest.raises(AlreadyThere):
        cut.again()
    assert cut.tables.left_over()


@pytest.mark.parametrize("note", [None, b"", b"[]", b"{}", b'{"file_id": "x"}'])
def test_where_nothing_is_written_down_it_is_refused_as_by_earlier_versions(cut: Cut, note: bytes | None) -> None:
    if note is None:
        cut.files.delete_file(f"{WORK}/shown.json")
    else:
        cut.files.put(f"{WORK}/shown.json", note)
    with pytest.raises(AlreadyThere):
        cut.again()
    assert cut.tables.left_over()


def test_what_is_written_in_a_directory_of_nobody_is_not_believed(cut: Cut) -> None:
    cut.files.set_attribute(WORK, ATTRIBUTE, "export:hdfs://west/other")
    with pytest.raises(AlreadyThere):
        cut.again()
    assert cut.tables.left_over()


def test_what_another_user_has_left_there_is_refused(cut: Cut, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cut.files.read

    def read(path: str, error: type[Exception] = Refused) -> bytes:
        if path.startswith(WORK):
            raise error(f"{path}: permission denied")
        return real(path)

    monkeypatch.setattr(cut.files, "read", read)
    with pytest.raises(AlreadyThere):
        cut.again()
    monkeypatch.setattr(cut.files, "read", lambda path: read(path, Unexplained))
    with pytest.raises(Unexplained):
        cut.again()
