"""Write partitions of a source, kill it at any change, repeat it; and see on a replica what the log was told."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.hive.metastore_objects import a_table
from tests.support.rows_frame import RowsFrame, lines_of
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import Killable
from tests.unit.incremental.test_incremental import Followed
from twinhive.model.errors import ActNow, Foreign, TryAgain
from twinhive.model.names import TableName
from twinhive.model.objects import Table
from twinhive.model.tjson import from_text, to_text
from twinhive.partition_writes.request import PartitionWrite, SmallFiles
from twinhive.partition_writes.write import PartitionsWritten, PartitionWriter

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
    ) -> PartitionsWritten:
        metastore, files = self.world.source, self.world.source_files
        if switch is not None:
            metastore, files = Killable(metastore, switch), Killable(files, switch)
        given = [((value,), line) for value, lines in rows.items() for line in lines]
        request = PartitionWrite.of(str(NAME), mode, job, small_files)
        writer = PartitionWriter(request, metastore, files, self.log.append)
        return writer.write(frame or RowsFrame(files, given, tasks=tasks))

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


def test_a_table_that_is_not_there_is_said(written: Written) -> None:
    request = PartitionWrite.of("sales.nowhere", "add", "job", None)
    writer = PartitionWriter(request, written.world.source, written.world.source_files, written.log.append)
    with pytest.raises(ActNow, match=r"partitions of sales\.nowhere cannot be written"):
        writer.write(RowsFrame(written.world.source_files, []))
