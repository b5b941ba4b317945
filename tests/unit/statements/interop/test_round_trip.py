"""What we write for Hive says what our own dump says: it is read back, and loaded."""

from collections.abc import Callable

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.incremental import test_incremental as histories
from tests.unit.statements.interop.hive_world import CMROOT, ROOT, HiveWorld
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.replication.apply.function_files import ORIGINAL
from twinhive.replication.bootstrap.folded_tables import Folding
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.publishing import remove_other_dumps
from twinhive.replication.dump.shards import unpack_lines
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.statements.interop.hive_dump.bootstrap_writing import write_bootstrap
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_dump_reading import read_hive_dump
from twinhive.statements.interop.hive_dump.hive_layout import hive_directory
from twinhive.transfer.staged.staged_files import CopyItem


@pytest.fixture
def hive() -> HiveWorld:
    return HiveWorld()


def objects_in(hive: HiveWorld, dump: Dump) -> dict:
    records = [record for batch in dump.manifest.batches for record in dump.objects(hive.files, batch.name)]
    return {
        record.table.name: (*_said(record.table), record.table.constraints)
        for record in (*records, *dump.objects(hive.files, "views"))
    } | {
        (record.table.name, partition.values): (partition.parameters, partition.location)
        for record in records
        for partition in record.partitions
    }


def _said(table: Table) -> tuple:
    return table.columns, table.parameters, table.location


def functions(hive: HiveWorld) -> set[str]:
    return {function.name for function in hive.repl.world.replica.functions("sales")}


def contents(hive: HiveWorld) -> list[bytes]:
    """Return all that the replica's file system holds."""
    files = hive.repl.world.replica_files
    found = (path for path in files.paths() if not files.status(path).is_directory)
    return [files.read(path) for path in found]


def files_in(hive: HiveWorld, dump: Dump) -> set:
    lines = [
        line for batch in dump.manifest.batches for line in unpack_lines(hive.files.read(dump.layout.files(batch.name)))
    ]
    items = map(CopyItem.from_line, lines)
    return {(one.table, one.partition, one.relative, one.path, one.checksum, one.event_id) for one in items}


def test_a_whole_database_comes_back_with_the_same_objects_and_files(hive: HiveWorld) -> None:
    hive.users.insert("plain", None, {"below/more": b"more"})
    with_constraints(hive.users)
    ours = hive.our_dump()
    back = hive.taken_over(hive.for_hive())
    assert back.manifest.kind is DumpKind.CONSOLIDATE
    assert back.manifest.end.event_id == ours.manifest.end.event_id
    assert objects_in(hive, back) == objects_in(hive, ours)
    assert files_in(hive, back) == files_in(hive, ours)
    assert back.manifest.database.parameters == {"team": "Zürich"}


def test_a_whole_database_is_loaded_as_a_twin(hive: HiveWorld) -> None:
    with_constraints(hive.users)
    assert hive.load(hive.for_hive()) == hive.repl.world.source.current_event_id()
    assert_twin(hive.repl.world)


def without_letters_beyond_ascii(users: SourceWriter) -> None:
    users.create_table("made", keys=("p", "q"))
    users.add_partitions("made", {("1", "a b"): [b"x"], ("2", "%/=#]"): [b"y", b"z"], ("3", "c"): []})
    users.truncate("orders", [("a b",)])
    users.drop_partitions("made", [("2", "%/=#]")])


def with_constraints(users: SourceWriter) -> None:
    users.add_constraint("plain", "primary_key", "pk")
    users.add_constraint("orders", "foreign_key", "fk", parent="plain")
    users.add_constraint("plain", "check", "ck")
    users.drop_constraint("plain", "ck")


def with_everything_altered(users: SourceWriter) -> None:
    users.add_partitions("orders", {("c",): [b"three"], ("d",): [b"four"]})
    users.alter_partition("orders", ("a b",), {"k": "Zoë 日本"})
    users.alter_partitions("orders", [("a b",), ("c",)], {"l": "w"})
    users.rename_partition("orders", ("d",), ("e",))
    users.set_parameters("plain", {"x": "Zoë 日本"})
    users.set_owner("plain", "zoë")
    users.add_columns("plain", [("größe", "int")])
    users.alter_database_parameters({"team": "Genève 日本"})
    users.update_statistics("plain")
    users.update_statistics("orders", ("c",))


def with_functions(users: SourceWriter) -> None:
    users.files.write("hdfs://east/jars/a.jar", b"jar")
    users.create_function("shout", ["hdfs://east/jars/a.jar"])
    users.create_function("whisper", ["hdfs://east/jars/a.jar"])
    users.drop_function("shout")


def test_a_function_whose_file_is_gone_is_left_out_of_what_hive_is_told_and_said(hive: HiveWorld) -> None:
    hive.users.files.write("hdfs://east/jars/b.jar", b"jar")
    hive.users.create_function("shout", ["hdfs://east/jars/a.jar"])
    hive.users.create_function("whisper", ["hdfs://east/jars/b.jar"])
    begin = hive.load(hive.for_hive())
    [left] = hive.left_out
    assert left.name == "sales.shout" and "a.jar is gone" in left.reason and "next: " in left.reason
    assert functions(hive) == {"whisper"}
    hive.users.create_function("murmur", ["hdfs://east/jars/a.jar"])
    hive.load(hive.for_hive(begin))
    assert [left.name for left in hive.left_out] == ["sales.murmur"]
    assert functions(hive) == {"whisper"}


def test_of_a_function_whose_file_only_the_change_manager_has_hive_is_told_its_content(hive: HiveWorld) -> None:
    hive.users.create_function("shout", ["hdfs://east/jars/a.jar"])
    hive.files.write(f"{CMROOT}/a.jar_kept", b"jar")
    hive.files.set_attribute(f"{CMROOT}/a.jar_kept", ORIGINAL, "/jars/a.jar")
    written = hive.for_hive()
    assert hive.left_out == ()
    entry = hive.files.read(f"{written.places.functions('sales')}/shout/_metadata").decode()
    assert str(hive.files.checksum(f"{CMROOT}/a.jar_kept", ChecksumForm.IDENTITY)) in entry


OUTSIDE = pytest.mark.parametrize("uri", ["hdfs://east/user/ann/secret", "hdfs://east/jars/../user/ann/secret"])


@OUTSIDE
def test_no_file_outside_of_the_directories_of_functions_is_told_to_hive(hive: HiveWorld, uri: str) -> None:
    hive.users.files.write("hdfs://east/user/ann/secret", b"secret")
    hive.users.create_function("shout", [uri])
    begin = hive.load(hive.for_hive())
    assert [left.name for left in hive.left_out] == ["sales.shout"]
    hive.users.create_function("murmur", [uri])
    hive.load(hive.for_hive(begin))
    assert [left.name for left in hive.left_out] == ["sales.murmur"]
    assert functions(hive) == set()


@OUTSIDE
def test_no_file_outside_of_the_directories_of_functions_is_taken_from_a_dump_that_hive_wrote(
    hive: HiveWorld, uri: str
) -> None:
    hive.users.files.write("hdfs://east/user/ann/secret", b"secret")
    hive.users.files.write("hdfs://east/jars/a.jar", b"jar")
    hive.users.create_function("shout", [uri])
    hive.users.create_function("whisper", ["hdfs://east/jars/a.jar"])
    trusting = Terms(hive.repl.policy(), CMROOT, lambda function: {uri: "hdfs://east/user/ann/secret"})
    hive.terms = lambda scope=None: trusting  # type: ignore[method-assign]
    begin = hive.load(hive.for_hive())
    hive.users.create_function("murmur", [uri])
    hive.load(hive.for_hive(begin))
    assert functions(hive) == {"whisper"}
    assert not any(b"secret" in content for content in contents(hive))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "history",
    [
        without_letters_beyond_ascii,
        with_constraints,
        with_everything_altered,
        with_functions,
        histories.create_table_with_files,
        histories.insert_into_table,
        histories.insert_into_partition,
        histories.overwrite_table,
        histories.overwrite_partition_twice,
        histories.truncate_table,
        histories.views,
        histories.rename_and_recreate,
        histories.swap_tables_of,
        histories.rename_table_back_and_forth,
        histories.drop_and_create_with_other_keys,
    ],
)
def test_events_bring_the_replica_as_far_as_the_source(hive: HiveWorld, history: Callable) -> None:
    begin = hive.load(hive.for_hive())
    history(hive.users)
    assert hive.load(hive.for_hive(begin)) == hive.repl.world.source.current_event_id()
    assert_twin(hive.repl.world)


def test_a_table_that_comes_into_the_scope_is_brought_whole(hive: HiveWorld) -> None:
    scope = (("o.*",), ())
    begin = hive.our_dump(scope=scope).manifest.end.event_id
    hive.users.rename_table("plain", "other")
    hive.users.insert("other", None, {"late": b"late"})
    hive.users.rename_table("orders", "left")
    back = hive.taken_over(hive.for_hive(begin, scope))
    assert back.manifest.window.snapshots == ("other",)
    assert {(table, relative) for table, _, relative, *_ in files_in(hive, back)} == {
        ("sales.other", name) for name in ("data", "zero", "late")
    }
    (row,) = _rows(hive, back)
    assert (row.event_type, row.database, row.table) == ("DROP_TABLE", "sales", "orders")


def _rows(hive: HiveWorld, dump: Dump) -> tuple[EventRow, ...]:
    return EventRange.unpack(hive.files.read(dump.layout.events)).rows


def test_what_hive_read_while_the_source_went_on_is_consolidated_with_the_log(hive: HiveWorld) -> None:
    begin = hive.our_dump().manifest.end.event_id
    hive.users.create_table("made", files=[b"one"])
    hive.users.rename_table("made", "renamed")
    hive.users.insert("plain", None, [b"more"])
    hive.users.drop_table("empty")
    directory = hive.write(hive.our_dump())
    path = f"{directory}/hive/_dumpmetadata"
    kind, _, rest = hive.files.read(path).split(b"\t", 2)
    hive.files.write(path, b"\t".join([kind, b"%d" % begin, rest]))
    policy = hive.policy()
    taken = hive.taken_over(read_hive_dump(hive.files, directory), policy)
    assert taken.manifest.kind is DumpKind.BOOTSTRAP
    assert taken.manifest.begin.event_id == taken.manifest.end.event_id == begin
    exact = Folding(EventStream(hive.repl.ports(), policy), taken).consolidate(())
    remove_other_dumps(hive.files, policy, exact.layout)
    assert hive.load_ours(exact, policy) == hive.repl.world.source.current_event_id()
    assert_twin(hive.repl.world)


def test_a_dump_that_was_taken_over_before_is_not_written_again(hive: HiveWorld) -> None:
    dump, policy = hive.for_hive(), hive.policy()
    first = hive.taken_over(dump, policy)
    written = hive.files.status(first.layout.manifest)
    assert hive.taken_over(dump, policy) == first
    assert hive.files.status(first.layout.manifest) == written


def test_a_table_of_many_partitions_is_cut_into_several_shards(hive: HiveWorld, monkeypatch) -> None:
    monkeypatch.setattr("twinhive.statements.interop.hive_dump.table_reading._MOST_OBJECTS", 3)
    hive.users.create_table("many", keys=("p",))
    hive.users.add_partitions("many", {(str(number),): [b"row"] for number in range(10)})
    back = hive.taken_over(hive.for_hive())
    slices = [slice_ for batch in back.manifest.batches for slice_ in batch.slices if slice_.table.table == "many"]
    assert [(slice_.first, slice_.last, slice_.of) for slice_ in slices] == [
        (0, 3, 10),
        (3, 6, 10),
        (6, 9, 10),
        (9, 10, 10),
    ]
    many = TableName("sales", "many")
    assert objects_in(hive, back).keys() >= {many} | {(many, (str(number),)) for number in range(10)}


def test_rows_of_hives_dump_do_not_claim_to_be_the_logs_own(hive: HiveWorld) -> None:
    begin = hive.our_dump().manifest.end.event_id
    hive.users.insert("plain", None, [b"more"])
    rows = _rows(hive, hive.taken_over(hive.for_hive(begin)))
    assert rows and all(row.position.digest == "" for row in rows)


def test_partitions_of_views_are_left_out_and_said(hive: HiveWorld) -> None:
    hive.users.create_view("seen", keys=("p",))
    before = hive.repl.world.source.current_event_id()
    hive.users.add_partitions("seen", {("1",): ()})
    ours = hive.our_dump()
    (record,) = [one for one in ours.objects(hive.files, "views") if one.table.name.table == "seen"]
    assert len(record.partitions) == 1
    directory = hive_directory(ROOT, "sales", "left-out")
    left = write_bootstrap(hive.files, hive.files, hive.files, ours, directory, hive.terms())
    assert [entry.name for entry in left] == ["sales.seen"]
    (back,) = [
        one
        for one in hive.taken_over(read_hive_dump(hive.files, directory)).objects(hive.files, "views")
        if one.table.name.table == "seen"
    ]
    assert back.partitions == ()
    events = hive.our_dump(before)
    assert events.manifest.events == 1
    assert hive.write(events)
