"""What later events of a window cancel is left out; what they do not is kept, in order."""

from itertools import count

from tests.support.builders import a_partition, a_table
from twinhive.core.model.changes.events import Position
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddedPartition,
    AddPartitions,
    AlterPartitions,
    AlterTable,
    Change,
    CreateTable,
    DeleteStatistics,
    DropConstraint,
    DropDatabase,
    DropPartitions,
    DropTable,
    Event,
    Insert,
    UpdateStatistics,
)
from twinhive.replication.apply.event_coalescing import compacted, segments

T = a_table("sales.t", partition_keys=("p",))
PLAIN = a_table("sales.plain")
ONE, TWO = a_partition(T, "1"), a_partition(T, "2")


def events(*changes: Change) -> list[Event]:
    return [Event(Position(number), "ANY", change) for number, change in zip(count(1), changes)]


def ids(left: list[Event]) -> list[int]:
    return [event.event_id for event in left]


def test_a_dropped_table_needs_nothing_but_its_drop() -> None:
    history = events(CreateTable(PLAIN), Insert(PLAIN, None, ()), AlterTable(PLAIN, PLAIN), DropTable(PLAIN))
    assert ids(compacted(history)) == [4]


def test_a_table_made_anew_begins_with_the_drop_of_the_old_one() -> None:
    history = events(Insert(PLAIN, None, ()), DropTable(PLAIN), CreateTable(PLAIN), Insert(PLAIN, None, ()))
    assert ids(compacted(history)) == [2, 3, 4]


def test_a_dropped_partition_leaves_the_events_of_others_alone() -> None:
    history = events(
        AddPartitions(T, (AddedPartition(ONE), AddedPartition(TWO))),
        Insert(T, ONE, ()),
        AlterPartitions(T, (ONE, TWO)),
        DropPartitions(T, (("1",),)),
        AddPartitions(T, (AddedPartition(ONE),)),
    )
    left = compacted(history)
    assert ids(left) == [1, 3, 4, 5]
    assert [added.partition for added in left[0].change.added] == [TWO]
    assert left[1].change.after == (TWO,)


def test_rows_that_are_replaced_later_are_never_written() -> None:
    history = events(
        Insert(PLAIN, None, ()),
        AlterTable(PLAIN, PLAIN),
        Insert(PLAIN, None, (), replaces=True),
        Insert(PLAIN, None, ()),
    )
    assert ids(compacted(history)) == [2, 3, 4]


def test_truncated_rows_are_never_written() -> None:
    history = events(Insert(T, ONE, ()), Insert(T, TWO, ()), AlterPartitions(T, (ONE,), truncates=True))
    assert ids(compacted(history)) == [2, 3]


def test_each_tables_events_come_together_in_their_order() -> None:
    other = a_table("sales.other")
    history = events(Insert(PLAIN, None, ()), Insert(other, None, ()), AlterTable(PLAIN, PLAIN))
    assert ids(compacted(history)) == [1, 3, 2]


def test_a_foreign_key_stands_alone_because_it_speaks_of_two_tables() -> None:
    parent = a_table("sales.parent")
    key, drop = AddConstraints(PLAIN.name, "foreign_key", ("{}",)), DropConstraint(PLAIN.name, "fk")
    history = events(Insert(PLAIN, None, ()), CreateTable(parent), Insert(PLAIN, None, ()), key, drop)
    assert [ids(left) for left, _ in segments(history)] == [[1, 3, 2], [4], [5]]


def test_statistics_go_with_what_they_are_of() -> None:
    history = events(
        UpdateStatistics(PLAIN.name, None, "{}"),
        Insert(PLAIN, None, (), replaces=True),
        UpdateStatistics(PLAIN.name, None, "{}"),
        UpdateStatistics(T.name, ("1",), "{}"),
        DeleteStatistics(T.name, ("1",), None),
        UpdateStatistics(T.name, ("2",), "{}"),
        DropPartitions(T, (("1",),)),
        AddPartitions(T, (AddedPartition(ONE),)),
        UpdateStatistics(T.name, ("1",), "{}"),
    )
    assert ids(compacted(history)) == [2, 3, 6, 7, 8, 9]


def test_a_rename_stands_alone_between_what_is_compacted_on_its_own() -> None:
    renamed = a_table("sales.renamed")
    history = events(Insert(PLAIN, None, ()), AlterTable(PLAIN, renamed), Insert(renamed, None, ()), DropTable(renamed))
    parts = list(segments(history))
    assert [ids(left) for left, _ in parts] == [[1], [2], [4]]
    assert [end.event_id for _, end in parts] == [1, 2, 4]


def test_nothing_that_comes_after_a_dropped_database_comes_before_it() -> None:
    history = events(Insert(PLAIN, None, ()), DropDatabase("sales"), CreateTable(T), Insert(PLAIN, None, ()))
    parts = list(segments(history))
    assert [ids(left) for left, _ in parts] == [[1], [2], [3, 4]]
    assert [end.event_id for _, end in parts] == [1, 2, 4]
