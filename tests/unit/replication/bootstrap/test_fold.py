from copy import deepcopy
from typing import Any

import pytest

from tests.support.builders import a_partition, a_table
from twinhive.core.model.changes.contents import Content, PartitionState, Shard, SourceFile, TableState
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddedPartition,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DropPartitions,
    DropTable,
    Event,
    EventFile,
    Insert,
    NotReplicated,
    RenamePartition,
)
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.bootstrap.fold import fold

ORDERS = a_table()
DAYS = a_table("sales.days", partition_keys=("p",))
CHANGED = {"comment": "changed"}


def at(event_id: int, change: Change) -> Event:
    return Event(Position(event_id), type(change).__name__, change)


def listed(lo: int, *names: str, unsure: bool = False, below: Table | Partition = ORDERS) -> Content:
    """Return the list of a directory, read when `lo` was the newest event."""
    files = {name: SourceFile(f"{below.location}/{name}", 1, file_id=1, relative=name) for name in names}
    return Content(lo, files, unsure)


def partition_state(value: str, lo: int, content: Content, **flags: Any) -> PartitionState:
    return PartitionState(a_partition(DAYS, value), lo, content, **flags)


def orders(lo: int, content: Content) -> Shard:
    """Return a shard of one unpartitioned table."""
    return Shard({ORDERS.name: TableState(ORDERS, lo, content, partitions_lo=lo, constraints_lo=lo)}, names_lo=lo)


def days(lo: int, **partitions: PartitionState) -> Shard:
    """Return a shard of one partitioned table; `a=` is its partition `p=a`."""
    named = {f"p={value}": state for value, state in partitions.items()}
    return Shard({DAYS.name: TableState(DAYS, lo, Content(lo), named, lo, constraints_lo=lo)}, names_lo=lo)


def in_event(owner: Table | Partition, name: str, checksum: str | None = "c1") -> EventFile:
    return EventFile(f"{owner.location}/{name}", checksum, "hdfs://east/cmroot" if checksum else None)


def added(value: str, *files: str, checksum: str | None = "c1") -> AddPartitions:
    partition = a_partition(DAYS, value)
    entries = tuple(in_event(partition, name, checksum) for name in files)
    return AddPartitions(DAYS, (AddedPartition(partition, entries),))


def test_the_worked_example_of_seed_002() -> None:
    """T1 is read at about 200 by a dump that began at 170; consolidated to 230 it is what it was then."""
    table = a_table("sales.t1", partition_keys=("p",))
    px, py, pa, pb = (a_partition(table, value) for value in ("x", "y", "a", "b"))
    dumped = {
        f"p={partition.values[0]}": PartitionState(
            partition, 200, Content(200, listed(200, "0", below=partition).files)
        )
        for partition in (pa, py)
    }
    dump = Shard({table.name: TableState(table, 200, Content(200), dumped, 200)}, names_lo=170)
    events = [
        at(184, DropPartitions(table, (px.values,))),
        at(196, AddPartitions(table, (AddedPartition(pa, (in_event(pa, "0"),)),))),
        at(204, AddPartitions(table, (AddedPartition(pb, (in_event(pb, "0"),)),))),
        at(216, DropPartitions(table, (py.values,))),
    ]
    told = fold(dump, events).tables[table.name]
    assert {name: state.partition for name, state in told.partitions.items()} == {"p=a": pa, "p=b": pb}
    assert told.partitions["p=a"] == dumped["p=a"]
    assert told.partitions["p=b"].content.files["0"].checksum == "c1"
    assert told.needs_reading  # no event names what lies deeper


# Bounds.


@pytest.mark.parametrize("event_id", [5, 10])
@pytest.mark.parametrize(
    "change",
    [
        CreateTable(ORDERS.with_parameters(CHANGED), (in_event(ORDERS, "9"),)),
        DropTable(ORDERS),
        AlterTable(ORDERS, ORDERS.with_parameters(CHANGED)),
        AlterTable(ORDERS, ORDERS, truncates=True),
        AlterTable(ORDERS, a_table("sales.gone")),
        AlterTable(a_table("sales.gone"), ORDERS),
        Insert(ORDERS, None, (in_event(ORDERS, "9"),), replaces=True),
        CreateTable(a_table("sales.other")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_happened_before_a_table_was_read_is_in_it(change: Change, event_id: int) -> None:
    shard = orders(10, listed(10, "0"))
    assert fold(shard, [at(event_id, change)]) == shard


@pytest.mark.parametrize("event_id", [5, 10])
@pytest.mark.parametrize(
    "change",
    [
        added("a", "9"),
        added("new", "9"),
        DropPartitions(DAYS, (("a",),)),
        AlterPartitions(DAYS, (a_partition(DAYS, "a", parameters=CHANGED),)),
        AlterPartitions(DAYS, (a_partition(DAYS, "a"),), truncates=True),
        RenamePartition(DAYS, a_partition(DAYS, "a"), a_partition(DAYS, "b")),
        RenamePartition(DAYS, a_partition(DAYS, "b"), a_partition(DAYS, "a")),
        Insert(DAYS, a_partition(DAYS, "a"), (in_event(DAYS, "9"),)),
        AlterTable(DAYS, a_table("sales.days", partition_keys=("p",), columns=(("id", "bigint"),))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_happened_before_a_partition_was_read_is_in_it(change: Change, event_id: int) -> None:
    shard = days(10, a=partition_state("a", 10, listed(10, "0")))
    assert fold(shard, [at(event_id, change)]) == shard


def test_files_have_a_bound_of_their_own() -> None:
    changed = ORDERS.with_parameters(CHANGED)
    events = [at(15, Insert(ORDERS, None, (in_event(ORDERS, "1"),))), at(16, AlterTable(ORDERS, changed))]
    told = fold(orders(10, listed(20, "0")), events).tables[ORDERS.name]
    assert (told.table, told.lo) == (changed, 16)
    assert told.content == listed(20, "0")


def test_a_truncation_before_the_listing_leaves_the_list() -> None:
    table = fold(orders(10, listed(20, "0")), [at(15, AlterTable(ORDERS, ORDERS, truncates=True))])
    assert table.tables[ORDERS.name].content == listed(20, "0")
    truncated = AlterPartitions(DAYS, (a_partition(DAYS, "a"),), truncates=True)
    parted = fold(days(10, a=partition_state("a", 10, listed(20, "0"))), [at(15, truncated)])
    assert parted.tables[DAYS.name].partitions["p=a"].content == listed(20, "0")


# Tables.


def test_a_created_table_is_put_with_its_files() -> None:
    told = fold(Shard(names_lo=10), [at(11, CreateTable(ORDERS, (in_event(ORDERS, "0"),)))]).tables[ORDERS.name]
    assert (told.table, told.lo, told.needs_reading) == (ORDERS.with_constraints(()), 11, True)
    assert told.content.files["0"] == SourceFile(
        f"{ORDERS.location}/0", relative="0", checksum="c1", cmroot="hdfs://east/cmroot", event_id=11
    )


def test_a_creation_takes_the_place_of_what_was_read_before_it() -> None:
    changed = ORDERS.with_parameters(CHANGED)
    told = fold(orders(10, listed(10, "0")), [at(11, CreateTable(changed, (in_event(ORDERS, "1"),)))])
    assert told.tables[ORDERS.name].table == changed.with_constraints(())
    assert set(told.tables[ORDERS.name].content.files) == {"1"}


@pytest.mark.parametrize("files", [(), (in_event(ORDERS, "0", None),)], ids=["no files", "no checksums"])
def test_a_created_table_without_files_or_checksums_is_to_be_listed(files: tuple[EventFile, ...]) -> None:
    told = fold(Shard(), [at(11, CreateTable(ORDERS, files))]).tables[ORDERS.name]
    assert told.content.unsure
    assert told.needs_reading


def test_a_view_has_nothing_to_list_and_a_partitioned_table_nothing_of_its_own() -> None:
    view = a_table("sales.view", table_type="VIRTUAL_VIEW", location=None)
    told = fold(Shard(), [at(11, CreateTable(view)), at(12, CreateTable(DAYS))])
    assert not any(state.needs_reading for state in told.tables.values())


def test_a_dropped_table_is_gone() -> None:
    assert fold(orders(10, listed(10)), [at(11, DropTable(ORDERS))]).tables == {}


def test_an_altered_table_is_what_the_event_says_and_keeps_its_files() -> None:
    changed = ORDERS.with_parameters(CHANGED)
    told = fold(orders(10, listed(10, "0")), [at(11, AlterTable(ORDERS, changed))]).tables[ORDERS.name]
    assert told == TableState(changed, 11, listed(10, "0"), partitions_lo=10, constraints_lo=10)


def test_a_truncated_table_is_empty_for_sure() -> None:
    truncated = at(11, AlterTable(ORDERS, ORDERS, truncates=True))
    told = fold(orders(10, listed(10, "0", unsure=True)), [truncated]).tables[ORDERS.name]
    assert told.content == Content(11)


def test_a_table_that_moved_is_to_be_read_again() -> None:
    moved = at(11, AlterTable(ORDERS, ORDERS.at(ORDERS.name, "hdfs://east/elsewhere")))
    told = fold(orders(10, listed(10, "0")), [moved, at(12, Insert(ORDERS, None, ()))]).tables[ORDERS.name]
    assert told.unsure
    assert told.table.location == "hdfs://east/elsewhere"
    altered = at(13, AlterTable(told.table, told.table.with_parameters(CHANGED)))
    assert fold(Shard({ORDERS.name: told}), [altered]).tables[ORDERS.name].unsure


def test_a_renamed_table_is_to_be_read_again_under_its_new_name() -> None:
    renamed = a_table("sales.nights", partition_keys=("p",))
    told = fold(days(10, a=partition_state("a", 10, listed(10))), [at(11, AlterTable(DAYS, renamed))]).tables
    assert set(told) == {renamed.name}
    assert told[renamed.name].table == renamed
    assert told[renamed.name].unsure


def test_the_old_name_can_be_created_again() -> None:
    renamed = a_table("sales.old")
    events = [at(11, AlterTable(ORDERS, renamed)), at(12, CreateTable(ORDERS, (in_event(ORDERS, "1"),)))]
    told = fold(orders(10, listed(10, "0")), events).tables
    assert set(told) == {ORDERS.name, renamed.name}
    assert set(told[ORDERS.name].content.files) == {"1"}
    assert (told[ORDERS.name].unsure, told[renamed.name].unsure) == (False, True)


def test_a_table_read_under_the_old_name_after_the_rename_stays() -> None:
    """The dump read the second table of that name; the first was renamed away before."""
    events = [at(11, AlterTable(ORDERS, a_table("sales.old"))), at(12, CreateTable(ORDERS))]
    told = fold(Shard({ORDERS.name: TableState(ORDERS, 12, listed(12, "1"), partitions_lo=12)}, 10), events).tables
    assert told[ORDERS.name].content == listed(12, "1")
    assert told[TableName("sales", "old")].unsure


def test_a_table_dropped_and_created_with_another_scheme_has_only_the_new_partitions() -> None:
    other = a_table("sales.days", partition_keys=("q",))
    new = a_partition(other, "1")
    events = [
        at(11, DropTable(DAYS)),
        at(12, CreateTable(other)),
        at(13, AddPartitions(other, (AddedPartition(new, (in_event(new, "0"),)),))),
    ]
    told = fold(days(10, a=partition_state("a", 10, listed(10))), events).tables[DAYS.name]
    assert told.table == other.with_constraints(())
    assert set(told.partitions) == {"q=1"}
    assert told.needs_reading  # no event names what lies deeper


def test_a_table_read_after_it_was_created_again_has_no_partition_of_the_first_one() -> None:
    events = [at(11, added("a", "0")), at(12, DropTable(DAYS)), at(13, CreateTable(DAYS))]
    shard = days(13, b=partition_state("b", 14, listed(14)))
    assert fold(shard, events) == shard


# Partitions.


def test_an_added_partition_is_put_with_its_files() -> None:
    told = fold(days(10), [at(11, added("a", "0", "1"))]).tables[DAYS.name]
    assert told.partitions["p=a"].partition == a_partition(DAYS, "a")
    assert set(told.partitions["p=a"].content.files) == {"0", "1"}
    assert told.needs_reading  # no event names what lies deeper


@pytest.mark.parametrize("change", [added("a"), added("a", "0", checksum=None)], ids=["no files", "no checksums"])
def test_an_added_partition_without_files_or_checksums_is_to_be_listed(change: Change) -> None:
    told = fold(days(10), [at(11, change)]).tables[DAYS.name]
    assert told.partitions["p=a"].content.unsure
    assert told.needs_reading


def test_a_dropped_and_added_partition_is_the_new_one() -> None:
    shard = days(10, a=partition_state("a", 10, listed(10, "0")))
    told = fold(shard, [at(11, DropPartitions(DAYS, (("a",),))), at(12, added("a", "1"))]).tables[DAYS.name]
    assert set(told.partitions["p=a"].content.files) == {"1"}


def test_an_altered_partition_is_what_the_event_says_whatever_was_unsure_of_it() -> None:
    after = a_partition(DAYS, "a", parameters=CHANGED)
    shard = days(10, a=partition_state("a", 10, listed(10, "0"), unsure=True))
    told = fold(shard, [at(11, AlterPartitions(DAYS, (after,)))]).tables[DAYS.name]
    assert told.partitions["p=a"] == PartitionState(after, 11, listed(10, "0"))


def test_a_truncated_partition_is_empty_for_sure() -> None:
    shard = days(10, a=partition_state("a", 10, listed(10, "0", unsure=True)))
    truncated = AlterPartitions(DAYS, (a_partition(DAYS, "a"),), truncates=True)
    told = fold(shard, [at(11, truncated)]).tables[DAYS.name]
    assert told.partitions["p=a"].content == Content(11)


def test_a_partition_that_moved_is_to_be_listed() -> None:
    after = a_partition(DAYS, "a", location="hdfs://east/elsewhere")
    told = fold(days(10, a=partition_state("a", 10, listed(10))), [at(11, AlterPartitions(DAYS, (after,)))])
    assert told.tables[DAYS.name].partitions["p=a"] == PartitionState(after, 11, listed(11, unsure=True))


def test_a_renamed_partition_is_to_be_listed_under_its_new_name() -> None:
    shard = days(10, a=partition_state("a", 10, listed(10, "0")))
    after = a_partition(DAYS, "b")
    told = fold(shard, [at(11, RenamePartition(DAYS, a_partition(DAYS, "a"), after))]).tables[DAYS.name]
    assert told.partitions == {"p=b": PartitionState(after, 11, Content(11, unsure=True))}


def test_a_change_of_columns_marks_the_partitions_read_before_it() -> None:
    wider = a_table("sales.days", partition_keys=("p",), columns=(("id", "int"), ("more", "int")))
    shard = days(10, a=partition_state("a", 10, listed(10)), b=partition_state("b", 12, listed(12)))
    events = [at(12, AlterTable(DAYS, wider)), at(13, added("c", "0"))]
    told = fold(shard, events).tables[DAYS.name]
    assert {name: state.unsure for name, state in told.partitions.items()} == {"p=a": True, "p=b": False, "p=c": False}
    assert told.needs_reading


def test_a_change_of_parameters_marks_no_partition() -> None:
    shard = days(10, a=partition_state("a", 10, listed(10)))
    told = fold(shard, [at(12, AlterTable(DAYS, DAYS.with_parameters(CHANGED)))]).tables[DAYS.name]
    assert not told.needs_reading


@pytest.mark.parametrize(
    "change",
    [
        added("a", "0"),
        DropPartitions(DAYS, (("a",),)),
        AlterPartitions(DAYS, (a_partition(DAYS, "a"),), truncates=True),
        AlterPartitions(DAYS, (a_partition(DAYS, "a", location="hdfs://east/elsewhere"),)),
        RenamePartition(DAYS, a_partition(DAYS, "a"), a_partition(DAYS, "b")),
        RenamePartition(DAYS, a_partition(DAYS, "b"), a_partition(DAYS, "a")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_partition_read_again_alone_is_to_be_listed_after_what_came_between(change: Change) -> None:
    """It was listed at 10 and read again at 20, to learn its columns; at 15 its files changed as a whole."""
    shard = days(10, a=partition_state("a", 20, listed(10, "0")))
    told = fold(shard, [at(15, change)]).tables[DAYS.name].partitions["p=a"]
    assert (told.partition, told.lo) == (a_partition(DAYS, "a"), 20)
    assert told.content.unsure


def test_a_partition_read_again_alone_keeps_its_files_where_nothing_came_between() -> None:
    state = partition_state("a", 20, listed(10, "0"))
    events = [at(15, AlterPartitions(DAYS, (a_partition(DAYS, "a", parameters=CHANGED),))), at(16, added("b", "0"))]
    assert fold(days(10, a=state), events).tables[DAYS.name].partitions["p=a"] == state


# Files.


def test_an_insert_adds_files_and_replaces_those_of_the_same_name() -> None:
    told = fold(
        orders(10, listed(10, "0", "1")),
        [at(11, Insert(ORDERS, None, (in_event(ORDERS, "1", "new"), in_event(ORDERS, "2", "new"))))],
    ).tables[ORDERS.name]
    assert {name: file.checksum for name, file in told.content.files.items()} == {"0": None, "1": "new", "2": "new"}
    assert not told.needs_reading


def test_an_overwriting_insert_leaves_its_own_files_only_and_for_sure() -> None:
    partition = a_partition(DAYS, "a")
    shard = days(10, a=partition_state("a", 10, listed(10, "0", unsure=True)))
    told = fold(shard, [at(11, Insert(DAYS, partition, (in_event(partition, "1"),), replaces=True))])
    content = told.tables[DAYS.name].partitions["p=a"].content
    assert (set(content.files), content.unsure) == ({"1"}, False)


def test_an_insert_does_not_make_an_unsure_list_sure() -> None:
    inserted = at(11, Insert(ORDERS, None, (in_event(ORDERS, "1"),)))
    assert fold(orders(10, listed(10, unsure=True)), [inserted]).tables[ORDERS.name].content.unsure


def test_an_insert_without_checksums_is_to_be_listed() -> None:
    inserted = at(11, Insert(ORDERS, None, (in_event(ORDERS, "1", None),)))
    assert fold(orders(10, listed(10)), [inserted]).tables[ORDERS.name].needs_reading


@pytest.mark.parametrize("replaces", [False, True])
def test_an_insert_into_another_place_than_the_one_read_is_to_be_listed(replaces: bool) -> None:
    """The partition moved after the insert, and was read after the move with a bound from before both."""
    before, after = a_partition(DAYS, "a"), a_partition(DAYS, "a", location="hdfs://east/elsewhere")
    shard = days(10, a=PartitionState(after, 10, listed(10, "9", below=after)))
    inserted = Insert(DAYS, before, (in_event(before, "1"),), replaces)
    told = fold(shard, [at(11, inserted), at(12, AlterPartitions(DAYS, (after,)))]).tables[DAYS.name]
    assert told.partitions["p=a"].content.unsure


def test_an_insert_into_a_partition_dropped_before_it_was_read_is_passed_over() -> None:
    partition = a_partition(DAYS, "a")
    events = [
        at(11, Insert(DAYS, partition, (in_event(partition, "0"),))),
        at(12, AlterPartitions(DAYS, (partition,))),
        at(13, DropPartitions(DAYS, (partition.values,))),
    ]
    shard = days(10)
    assert fold(shard, events) == shard


def test_a_file_in_a_subdirectory_keeps_its_place() -> None:
    told = fold(orders(10, listed(10)), [at(11, Insert(ORDERS, None, (in_event(ORDERS, "sub/0"),)))])
    assert set(told.tables[ORDERS.name].content.files) == {"sub/0"}


# Folding as such.


@pytest.mark.parametrize(
    "change",
    [
        DropTable(a_table("sales.unknown")),
        AlterTable(a_table("sales.unknown"), a_table("sales.unknown")),
        AddPartitions(a_table("sales.unknown", partition_keys=("p",)), added("a").added),
        DropPartitions(a_table("sales.unknown", partition_keys=("p",)), (("a",),)),
        AlterPartitions(a_table("sales.unknown", partition_keys=("p",)), (a_partition(DAYS, "a"),)),
        Insert(a_table("sales.unknown"), None, ()),
        NotReplicated(ORDERS.name, "a reload"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_concerns_nothing_in_the_shard_is_passed_over(change: Change) -> None:
    shard = orders(10, listed(10, "0"))
    assert fold(shard, [at(11, change)]) == shard


def test_the_given_shard_stays_as_it_is() -> None:
    shard = Shard({**orders(10, listed(10, "0")).tables, **days(10, a=partition_state("a", 10, listed(10))).tables}, 10)
    before = deepcopy(shard)
    partition = a_partition(DAYS, "a")
    wider = a_table("sales.days", partition_keys=("p",), columns=(("more", "int"),))
    inserts = [
        at(11, Insert(ORDERS, None, (in_event(ORDERS, "1"),))),
        at(12, Insert(DAYS, partition, (in_event(partition, "1"),))),
    ]
    once = fold(shard, inserts)
    assert shard == before
    told = deepcopy(once)
    fold(once, [at(13, added("b", "0")), at(14, Insert(ORDERS, None, (in_event(ORDERS, "2"),)))])
    fold(once, [at(13, AlterTable(DAYS, wider)), at(14, DropPartitions(DAYS, (("a",),))), at(15, DropTable(ORDERS))])
    assert once == told
