"""Write partitions of a source, kill it at any change, repeat it; and see on a replica what the log was told."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from tests.support.hive.metastore_objects import a_table
from tests.support.rows_frame import RowsFrame, lines_of
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import Killable
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Foreign, TryAgain, TwinhiveError
from twinhive.core.model.marks import LAST_ID
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.tjson import from_text, to_text
from twinhive.publishing.partition_writes.partition_writer import PartitionsWritten, PartitionWriter
from twinhive.publishing.partition_writes.write_request import PartitionWrite, SmallFiles
from twinhive.publishing.sets.listed_sets import SetsOfDatabase
from twinhive.publishing.sets.marking_sets import UnmarkSet

NAME = TableName("sales", "days")
PARQUET = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
ODD = ("a b", "ü/=", "100%", "日本")


def of_parquet(table: Table) -> Table:
    tree = from_text(table.thrift)
    tree["7"]["rec"]["7"]["rec"]["2"] = {"str": PARQUET}
    return replace(table, thrift=to_text(tree))


class Written(Followed):
    """A followed source with a partitioned table, and jobs that write into it."""

    def __init__(self) -> None:
        super().__init__()
        self.world.source.create_table(of_parquet(a_table("sales", "days", keys=("p",))))

    def write(
        self,
        rows: dict[str, list[str]],
        mode: str = "add",
        job: str = "one",
        *,
        switch: Any = None,
        tasks: int = 1,
        small_files: SmallFiles | None = None,
        frame: RowsFrame | None = None,
        set_done: str | None = None,
        clearing: int = 0,
    ) -> PartitionsWritten:
        metastore, files = self.world.source, self.world.source_files
        if switch is not None:
            metastore, files = Killable(metastore, switch), Killable(files, switch)
        given = [((value,), line) for value, lines in rows.items() for line in lines]
        request = PartitionWrite.of(str(NAME), mode, job, small_files, set_done, clearing)
        writer = PartitionWriter(request, metastore, files, self.log.append)
        return writer.write(frame or RowsFrame(files, given, tasks=tasks))

    def marks(self) -> list[tuple[str, int, int | None]]:
        """Return set, how often it was marked, how many partitions it had."""
        listed = SetsOfDatabase(self.world.source, "sales", None, "30d").read()
        return [(one.mark.spec, one.mark.count, one.mark.partitions) for one in listed]

    def rows(self) -> dict[str, list[str]]:
        table = self.world.source.table(NAME)
        assert table is not None
        names = self.world.source.partition_names(NAME)
        found = self.world.source.partitions(NAME, names)
        return {one.values[0]: lines_of(self.world.source_files, one.location or "") for one in found}

    def events(self) -> list[str]:
        return [row.event_type for row in self.world.source.events_after(0, 10**6) if row.table == "days"]


@pytest.fixture
def written() -> Written:
    return Written()


def test_new_partitions_are_shown_by_one_call_and_one_event_and_reach_the_replica(written: Written) -> None:
    before = len(written.events())
    done = written.write({value: [f"row of {value}"] for value in ODD})
    assert (done.partitions, done.files, done.shown.new) == (4, 4, 4)
    assert written.events()[before:] == ["ADD_PARTITION"]
    assert written.rows() == {value: [f"row of {value}"] for value in ODD}
    written.follow()
    written.assert_twin()


def test_a_partition_that_is_there_is_refused_before_any_is_shown(written: Written) -> None:
    written.write({"a": ["1"]})
    with pytest.raises(ActNow, match=r"1 partitions of sales\.days are there already") as refused:
        written.write({"a": ["2"], "b": ["3"]}, job="two")
    assert refused.value.words.found == "p=a"
    assert written.rows() == {"a": ["1"]}


def test_an_overwrite_replaces_what_it_has_rows_for_and_the_replica_has_the_same(written: Written) -> None:
    written.write({"a": ["1"], "b": ["2"]})
    written.follow()
    old = written.world.source.partitions(NAME, ["p=a"])[0].location
    done = written.write({"a": ["new"], "c": ["3"]}, "overwrite", "two")
    assert (done.shown.new, done.shown.replaced) == (1, 1)
    assert written.rows() == {"a": ["new"], "b": ["2"], "c": ["3"]}
    assert written.world.source_files.status(old or "") is None
    written.follow()
    written.assert_twin()


def test_an_overwrite_leaves_alone_what_does_not_lie_below_the_table(written: Written) -> None:
    written.write({"a": ["1"]})
    written.world.source_files.put("hdfs://east/elsewhere/mine", b"mine")
    written.users.set_partition_location("days", ("a",), "hdfs://east/elsewhere")
    written.write({"a": ["new"]}, "overwrite", "two")
    assert written.rows() == {"a": ["new"]}
    assert written.world.source_files.read("hdfs://east/elsewhere/mine") == b"mine"


def test_an_append_keeps_the_rows_before_and_the_replica_gets_both(written: Written) -> None:
    written.write({"a": ["1"]})
    written.follow()
    done = written.write({"a": ["2"], "b": ["3"]}, "append", "two")
    assert (done.shown.new, done.shown.appended) == (1, 1)
    assert written.rows() == {"a": ["1", "2"], "b": ["3"]}
    written.follow()
    written.assert_twin()


def test_a_partition_of_another_format_is_not_appended_to(written: Written) -> None:
    written.users.add_partitions("days", {("a",): [b"text"]})
    with pytest.raises(ActNow, match="cannot be appended to"):
        written.write({"a": ["2"]}, "append")
    assert written.rows() == {"a": ["text"]}
    written.write({"a": ["2"]}, "overwrite", "two")
    (found,) = written.world.source.partitions(NAME, ["p=a"])
    assert PARQUET in found.thrift


def test_the_same_job_again_does_nothing_and_another_writes_anew(written: Written) -> None:
    written.write({"a": ["1"]}, "append")
    events = written.events()
    again = written.write({"a": ["other rows"]}, "append")
    assert (again.already, written.rows(), written.events()) == (True, {"a": ["1"]}, events)
    written.write({"a": ["2"]}, "append", "two")
    assert written.rows() == {"a": ["1", "2"]}


MODES = {
    "add": {"b": ["3"], "c": ["4", "5", "6"]},
    "append": {"a": ["2", "3", "4"], "b": ["3"]},
    "overwrite": {"a": ["2", "3", "4"], "b": ["3"]},
}


@pytest.mark.thorough
@pytest.mark.parametrize("merging", [None, SmallFiles(at_least=2)], ids=["as written", "merged"])
@pytest.mark.parametrize("mode", MODES)
def test_killed_at_any_change_and_repeated_it_comes_to_the_same_end(mode: str, merging: SmallFiles | None) -> None:
    def begin() -> Written:
        begun = Written()
        begun.write({"a": ["1"]}, job="before")
        begun.follow()
        return begun

    def write(begun: Written, switch: Any = None) -> None:
        begun.write(MODES[mode], mode, switch=switch, tasks=3, small_files=merging)

    undisturbed = begin()
    write(undisturbed)
    readable = {"a": (["1"], ["1", "2", "3", "4"], ["2", "3", "4"])}
    for left in left_by_kills(begin, write, least=10):
        # Files of one append become visible one after the other, as in Hive; what is replaced switches at once.
        if mode != "append":
            assert left.rows()["a"] in readable["a"]
        left.follow()
        write(left)
        assert left.rows() == undisturbed.rows()
        left.follow()
        left.assert_twin()


class Readers:
    """Read all rows before and after each change of a write."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.seen: list[dict[str, list[str]]] = []

    def change(self, effect: Callable[[], Any]) -> Any:
        self.seen.append(self.written.rows())
        result = effect()
        self.seen.append(self.written.rows())
        return result


@pytest.mark.parametrize("merging", [None, SmallFiles(at_least=2)], ids=["as written", "merged"])
def test_readers_amid_an_overwrite_have_old_or_new_rows_and_the_replica_has_the_new_by_the_inserts_events(
    written: Written, merging: SmallFiles | None
) -> None:
    old, new = {"a": ["1", "2"], "b": ["3"]}, {"a": ["7", "8", "9"], "b": ["6"]}
    written.write(old)
    written.follow()
    before = written.world.source.current_event_id()
    readers = Readers(written)
    written.write(new, "overwrite", "two", switch=readers, tasks=3, small_files=merging)
    for value in old:
        assert {tuple(one[value]) for one in readers.seen} == {tuple(old[value]), tuple(new[value])}
    inserts = [row.event_id for row in written.world.source.events_after(before, 100) if row.event_type == "INSERT"]
    written.follow()
    written.assert_twin()
    there = written.world.replica.partitions(NAME, ["p=a", "p=b"])
    assert sorted(int(one.parameters[LAST_ID]) for one in there) == inserts


def test_two_who_do_the_same_job_at_once_come_to_the_same_end(written: Written) -> None:
    class Meeting(RowsFrame):
        def write(self, *arguments: Any) -> None:
            super().write(*arguments)
            if self.rows_given:
                rows, self.rows_given = self.rows_given, ()
                written.write({value: [line] for (value,), line in rows}, "append")

    written.write({"a": ["1"]}, job="before")
    frame = Meeting(written.world.source_files, [(("a",), "2"), (("b",), "3")])
    written.write({}, "append", frame=frame)
    assert written.rows() == {"a": ["1", "2"], "b": ["3"]}
    written.follow()
    written.assert_twin()


@pytest.mark.parametrize(
    ("mode", "rows", "count"), [("append", ["1", "2", "3"], 2), ("overwrite", ["2"], 2), ("add", ["3"], 1)]
)
def test_two_jobs_that_write_and_mark_one_set_at_once(written: Written, mode: str, rows: list[str], count: int) -> None:
    """While the first writes, the second does all of its work; each marks what it shows."""

    class Meeting(RowsFrame):
        def write(self, *arguments: Any) -> None:
            super().write(*arguments)
            written.write({"a": ["3"]}, mode, job="second", set_done="p=a")

    if mode != "add":
        written.write({"a": ["1"]}, job="before")
    frame = Meeting(written.world.source_files, [(("a",), "2")])
    with pytest.raises(ActNow, match="there already") if mode == "add" else nullcontext():
        written.write({}, mode, job="first", frame=frame, set_done="p=a")
    assert written.rows() == {"a": rows}
    assert written.marks() == [("p=a", count, 1)]
    written.follow()
    written.assert_twin()


def test_small_files_are_merged_before_anybody_sees_them(written: Written) -> None:
    done = written.write({"a": list("123456"), "b": ["7"]}, tasks=3, small_files=SmallFiles(at_least=3))
    assert (done.merged, done.files, done.partitions) == (3, 2, 2)
    assert written.rows() == {"a": list("123456"), "b": ["7"]}
    (place,) = {one.location for one in written.world.source.partitions(NAME, ["p=a"])}
    data = (place or "").replace("/merged/", "/data/")
    assert written.world.source_files.status(data) is None
    written.follow()
    written.assert_twin()


def test_too_few_small_files_are_left_as_they_are(written: Written) -> None:
    frame = RowsFrame(written.world.source_files, [(("a",), str(number)) for number in range(15)], tasks=15)
    written.write({}, frame=frame, small_files=SmallFiles(at_least=16))
    assert frame.passes == 1
    written.follow()
    written.assert_twin()


def test_large_files_stay_beside_what_was_made_of_the_small_ones(written: Written) -> None:
    rows = [(("a",), "a long row " * 20), (("a",), "s"), (("a",), "t")]
    frame = RowsFrame(written.world.source_files, rows, tasks=3)
    done = written.write({}, frame=frame, small_files=SmallFiles(at_least=2, below=100))
    assert (done.merged, done.files) == (2, 2)
    assert written.rows() == {"a": sorted(row for _, row in rows)}


def test_a_second_pass_that_loses_a_row_stops_and_keeps_what_was_written(written: Written) -> None:
    frame = RowsFrame(written.world.source_files, [(("a",), line) for line in "1234"], tasks=4)
    frame.loses = True
    with pytest.raises(TryAgain, match="the rows differ") as stopped:
        written.write({}, frame=frame, small_files=SmallFiles(at_least=2))
    assert stopped.value.words.found == "p=a: 3 rows"
    assert written.rows() == {}
    frame.loses = False
    written.write({}, frame=frame, small_files=SmallFiles(at_least=2))
    assert written.rows() == {"a": list("1234")}


def test_a_directory_of_somebody_else_is_not_written_into(written: Written) -> None:
    table = written.world.source.table(NAME)
    written.write({"a": ["1"]})
    (place,) = {one.location for one in written.world.source.partitions(NAME, ["p=a"])}
    job = (place or "").partition("/data/")[0]
    other = Written()
    other.world.source_files.put(f"{job}/mine", b"mine")
    with pytest.raises(Foreign):
        other.write({"a": ["1"]})
    assert other.rows() == {}
    assert table is not None


def test_a_thousand_partitions_are_one_call_and_one_more_is_two(written: Written) -> None:
    before = len(written.events())
    written.write({f"{number:04d}": ["x"] for number in range(1_001)})
    assert written.events()[before:] == ["ADD_PARTITION"] * 2


@pytest.mark.parametrize(
    ("keys", "changes", "said"),
    [
        ((), {}, "it has no partitions"),
        (("p",), {"parameters": {"transactional": "true"}}, "it is a transactional table"),
        (("p",), {"table_type": "VIRTUAL_VIEW"}, "it is a view table"),
    ],
)
def test_tables_that_cannot_be_written_to_are_refused(
    written: Written, keys: tuple[str, ...], changes: dict[str, Any], said: str
) -> None:
    table = replace(a_table("sales", "odd", keys=keys), **changes)
    written.world.source.create_table(table)
    request = PartitionWrite.of("sales.odd", "add", "job", None)
    writer = PartitionWriter(request, written.world.source, written.world.source_files, written.log.append)
    with pytest.raises(ActNow) as refused:
        writer.write(RowsFrame(written.world.source_files, []))
    assert said in str(refused.value)


class OddFrame(RowsFrame):
    """Rows whose columns are others than the table's."""

    def columns(self) -> list[tuple[str, str]]:
        return [("a", "array<int>"), ("more", "string")]


def test_a_frame_that_does_not_fit_is_one_error_and_nothing_is_written(written: Written) -> None:
    before, position = written.world.source_files.paths(), written.world.source.current_event_id()
    with pytest.raises(ActNow) as refused:
        written.write({}, set_done="p=a", frame=OddFrame(written.world.source_files, [(("a",), "1")]))
    assert "more is no column of the table" in refused.value.words.found
    assert "p (string) is missing" in refused.value.words.found
    assert (written.world.source_files.paths(), written.rows(), written.marks()) == (before, {}, [])
    assert written.world.source.current_event_id() == position


def test_a_table_that_is_not_there_is_said(written: Written) -> None:
    request = PartitionWrite.of("sales.nowhere", "add", "job", None)
    writer = PartitionWriter(request, written.world.source, written.world.source_files, written.log.append)
    with pytest.raises(ActNow, match=r"partitions of sales\.nowhere cannot be written"):
        writer.write(RowsFrame(written.world.source_files, []))


def test_the_set_is_marked_behind_its_data(written: Written) -> None:
    done = written.write({"a": ["1"], "b": ["2"]}, set_done="P=a")
    assert done.set_done == "p=a"
    assert written.marks() == [("p=a", 1, 1)]
    log = [(row.event_type, row.table) for row in written.world.source.events_after(0, 10**6)]
    assert log.index(("ADD_PARTITION", "days")) < log.index(("ADD_PARTITION", "twinhive_sets"))
    written.follow()
    written.assert_twin()


def test_a_day_without_rows_is_done_too(written: Written) -> None:
    written.write({}, set_done="p=a")
    assert (written.rows(), written.marks()) == ({}, [("p=a", 1, 0)])


def test_a_job_marks_once_and_one_that_was_done_before_marks_a_set_that_it_has_not_marked(written: Written) -> None:
    written.write({"a": ["1"]}, set_done="p=a")
    UnmarkSet(NAME, "p=a").run(written.world.source)
    written.write({"a": ["1"]}, set_done="p=a")
    assert written.marks() == []  # it was unmarked by somebody who meant it
    written.write({"a": ["1"]}, set_done="*")
    assert written.marks() == [("*", 1, 1)]
    written.write({"a": ["2"]}, "append", "two", set_done="*")
    assert written.marks() == [("*", 2, 1)]


def test_what_cannot_be_shown_is_not_marked(written: Written) -> None:
    written.write({"a": ["1"]})
    with pytest.raises(ActNow, match="are there already"):
        written.write({"a": ["2"]}, job="two", set_done="p=a")
    assert written.marks() == []


def a_replica(written: Written) -> None:
    database = written.world.source.database("sales")
    assert database is not None
    written.world.source.set_database_parameters("sales", {**database.parameters, "twinhive.policy": "up"})


def a_foreign_table(written: Written) -> None:
    written.world.source.create_table(a_table("sales", "twinhive_sets", keys=("p",)))


@pytest.mark.parametrize(
    ("set_done", "job", "before", "said"),
    [
        ("day=1", "one", None, "'day' is no partition key of the table"),
        ("p", "one", None, "'p' is no set"),
        ("p=" + "x" * 300, "one", None, "is too long"),
        ("p=a", "j" * 1_001, None, "the token of a set is too long"),
        ("p=a", "one", a_replica, "its sets come from the source"),
        ("p=a", "one", a_foreign_table, "is not a table of sets"),
    ],
)
def test_a_set_that_cannot_be_marked_is_said_before_anything_is_written(
    written: Written, set_done: str, job: str, before: Any, said: str
) -> None:
    if before:
        before(written)
    files = written.world.source_files.paths()
    with pytest.raises(TwinhiveError, match=said):
        written.write({"a": ["1"]}, job=job, set_done=set_done)
    assert written.rows() == {}
    assert written.world.source_files.paths() == files


def test_killed_at_any_change_no_set_is_marked_before_its_data_and_in_the_end_it_is_once() -> None:
    rows = {"a": ["2"], "b": ["3"], "ü/=": ["4"]}

    def begin() -> Written:
        begun = Written()
        begun.write({"a": ["1"]}, job="before")
        return begun

    def write(begun: Written, switch: Any = None) -> None:
        begun.write(rows, "overwrite", switch=switch, tasks=2, set_done="*")

    for left in left_by_kills(begin, write, least=10):
        if left.marks():
            assert left.rows() == rows
        write(left)
        assert (left.rows(), left.marks()) == (rows, [("*", 1, 3)])
        left.follow()
        left.assert_twin()
