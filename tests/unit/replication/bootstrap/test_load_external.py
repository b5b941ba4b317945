"""A load holds what waits of one external table at a time, whatever pieces a dump has cut it into."""

from dataclasses import replace

from tests.support.builders import a_partition, a_table
from twinhive.core.model.names import TableName
from twinhive.replication.bootstrap.load_external import pending_tables
from twinhive.replication.dump.shards import TableRecord


def records(names: list[str], read: list[str]):
    for number, name in enumerate(names):
        table = replace(a_table(f"sales.{name}", partition_keys=("day",)), table_type="EXTERNAL_TABLE")
        read.append(name)
        yield TableRecord(table, (a_partition(table, str(number)),), carries_table=True, lo=6, hi=7)


def test_each_table_comes_as_soon_as_its_last_piece_is_read() -> None:
    read: list[str] = []
    pieces = {TableName("sales", "a"): 2, TableName("sales", "b"): 1, TableName("sales", "c"): 1}
    came = [
        (pending.name.table, len(pending.partitions), len(read))
        for pending in pending_tables(records(["a", "b", "a", "c"], read), 9, pieces)
    ]
    assert came == [("b", 1, 2), ("a", 2, 3), ("c", 1, 4)]


def test_no_table_is_lost_of_which_a_piece_is_missing() -> None:
    pieces = {TableName("sales", "a"): 3}
    assert [one.name.table for one in pending_tables(records(["a", "a"], []), 9, pieces)] == ["a"]
