from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from twinhive.core.model.batches import MAX_BATCHES, TableSize, cut_batches, label_for_airflow
from twinhive.core.model.names import TableName
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.sync_tasks import SizedEntry, cut_tasks

GIB = 2**30


def size(name: str, partitions: int = 0, length: int = 0, files: int = 0) -> TableSize:
    return TableSize(TableName("s", name), partitions, length, files)


def test_no_tables_give_no_batches() -> None:
    assert cut_batches([], most_objects=10, most_weight=GIB) == ()


def test_small_tables_share_a_batch_that_is_named_after_the_heaviest() -> None:
    (batch,) = cut_batches([size("a"), size("big", length=GIB // 2), size("c")], most_objects=10, most_weight=GIB)
    assert batch.label == "s.big +2 tables"
    assert {slice_.table.table for slice_ in batch.slices} == {"a", "big", "c"}


def test_a_table_with_many_partitions_is_cut_into_equal_ranges() -> None:
    batches = cut_batches([size("f", partitions=365)], most_objects=200, most_weight=GIB)
    assert [batch.label for batch in batches] == [
        "s.f (partitions 1 to 182 of 365)",
        "s.f (partitions 183 to 365 of 365)",
    ]
    assert [slice_.is_first for batch in batches for slice_ in batch.slices] == [True, False]


def test_a_heavy_table_without_partitions_is_one_batch() -> None:
    (batch,) = cut_batches([size("h", length=100 * GIB)], most_objects=10, most_weight=GIB)
    assert batch.label == "s.h"


def test_a_whole_partitioned_table_says_how_many_partitions() -> None:
    (batch,) = cut_batches([size("p", partitions=1)], most_objects=10, most_weight=GIB)
    assert batch.label == "s.p (1 partition)"


sizes = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 10 * GIB), st.integers(0, 10_000)), max_size=40).map(
    lambda rows: [size(f"t{n}", *row) for n, row in enumerate(rows)]
)


@given(sizes, st.integers(1, 50), st.integers(1, GIB))
def test_every_table_and_partition_is_in_exactly_one_batch(
    tables: list[TableSize], most_objects: int, most_weight: int
) -> None:
    batches = cut_batches(tables, most_objects=most_objects, most_weight=most_weight)
    slices = sorted(
        (slice_ for batch in batches for slice_ in batch.slices), key=lambda slice_: (slice_.table, slice_.first)
    )

    assert len(batches) <= MAX_BATCHES
    assert len({batch.name for batch in batches}) == len(batches)
    for table in tables:
        own = [slice_ for slice_ in slices if slice_.table == table.name]
        assert own[0].first == 0
        assert own[-1].last == table.partitions
        assert all(one.last == next_.first for one, next_ in pairwise(own))
        assert sum(slice_.is_first for slice_ in own) == 1


def test_a_label_has_room_in_airflows_table_and_stays_one_of_its_own() -> None:
    entry = Entry(TableName("sales", "clicks"), "/".join(f"part_{at}=" + "x" * 60 for at in range(5)), "hdfs://east/x")
    other = replace(entry, partition=entry.partition + "y")
    (first,), (second,) = (cut_tasks([SizedEntry(one, 1, 1)], 1 << 30) for one in (entry, other))
    labels = {label_for_airflow(task.batch.label) for task in (first, second)}
    assert len(labels) == 2
    assert all(len(label) == 250 and label.startswith("sales.clicks/part_0=xxx") for label in labels)


def test_a_label_that_fits_is_as_it_is() -> None:
    assert label_for_airflow("sales.orders +37 tables") == "sales.orders +37 tables"
    assert label_for_airflow("x" * 250) == "x" * 250
    assert label_for_airflow("a\x00b") == r"a\x00b"
