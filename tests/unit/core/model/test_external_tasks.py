"""Large directories have a task of their own, small ones share; who waits longest comes first."""

import random
from dataclasses import replace

from twinhive.core.model.files import Usage
from twinhive.core.model.names import TableName
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.sync_tasks import SizedEntry, cut_tasks, sizes_of_tables


def sized(table: str, files: int = 0, length: int = 0, synced_at: float = 0.0, partition: str = "") -> SizedEntry:
    place = f"hdfs://east/{table}/{partition}"
    return SizedEntry(Entry(TableName("sales", table), partition, place), files, length, synced_at)


def tables(tasks) -> list[list[str]]:
    return [[entry.table.table for entry in task.entries] for task in tasks]


def test_what_is_above_the_weight_is_alone_and_the_rest_shares() -> None:
    tasks = cut_tasks([sized("a", length=60), sized("b", length=500), sized("c", length=40), sized("d", length=1)], 100)
    assert tables(tasks) == [["a"], ["b"], ["c", "d"]]


def test_a_file_weighs_a_megabyte() -> None:
    assert tables(cut_tasks([sized("a", files=60), sized("b", files=60)], 100_000_000)) == [["a"], ["b"]]
    assert tables(cut_tasks([sized("a", files=60), sized("b", files=40)], 100_000_000)) == [["a", "b"]]


def test_what_was_never_synced_comes_first_then_what_was_longest_ago() -> None:
    tasks = cut_tasks([sized("a", synced_at=30.0), sized("b", synced_at=10.0), sized("c"), sized("d")], 100)
    assert tables(tasks) == [["c", "d", "b", "a"]]


def test_what_is_synced_already_weighs_little() -> None:
    known = [sized(f"t{number}", length=100, synced_at=1.0) for number in range(50)]
    assert len(cut_tasks(known, 100)) == 1


def test_no_more_than_500_tasks_whatever_the_sizes() -> None:
    chance = random.Random(5)
    sizes = [sized(f"t{number}", length=chance.randrange(10_000)) for number in range(5_000)]
    tasks = cut_tasks(sizes, 10)
    assert len(tasks) <= 500
    assert sum(len(task.entries) for task in tasks) == 5_000
    assert len({task.name for task in tasks}) == len(tasks)


def test_labels_are_for_people() -> None:
    def label(*entries: SizedEntry) -> str:
        (task,) = cut_tasks(entries, 100)
        return task.batch.label

    assert label(sized("events")) == "sales.events"
    assert label(sized("events", partition="day=1")) == "sales.events/day=1"
    assert label(sized("events"), sized("events", partition="day=1")) == "sales.events (2 locations)"
    assert label(sized("a"), sized("b")) == "sales.a +1 table"
    assert label(*(sized(f"t{number:02d}") for number in range(38))) == "sales.t00 +37 tables"
    assert cut_tasks([], 100) == ()


def test_directories_that_have_only_to_be_listed_count_too() -> None:
    for directories, together in ((600_000, [1, 1, 1, 1]), (100, [4])):
        known = [replace(sized(name, synced_at=1.0), directories=directories) for name in "abcd"]
        assert [len(task.entries) for task in cut_tasks(known, 16 * 2**30)] == together


def test_a_table_holds_what_is_in_all_of_its_directories() -> None:
    clicks = [sized("clicks", 3, 30), sized("clicks", 4, 400, partition="day=1")]
    left = sized("late", 1, 1, partition="day=2")
    listed = [sized("late", 1, 1), *clicks]
    copies = [each.entry for each in (*listed, left)]
    assert sizes_of_tables(listed, copies) == {"clicks": Usage(430, 7, 0)}
    assert sizes_of_tables([*listed, left], copies)["late"] == Usage(2, 2, 0)
