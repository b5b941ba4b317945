"""Which data frames fit which tables."""

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.publishing.partition_writes.frame_schema import fits, fitted
from twinhive.publishing.partition_writes.write_request import PartitionWrite, SmallFiles
from twinhive.publishing.partition_writes.write_target import WriteTarget

TABLE = Table(TableName("sales", "days"), "MANAGED_TABLE", "hdfs://east/t", ("day",), (), {}, "{}")
TARGET = WriteTarget(TABLE, "hdfs://east/t", "parquet", (("id", "bigint"), ("name", "varchar(3)")), (("day", "date"),))


def test_columns_are_found_by_name_in_any_case_and_order() -> None:
    found = fitted([("DAY", "date"), ("Name", "string"), ("id", "int")], TARGET)
    assert [(one.source, one.name, one.type) for one in found] == [
        ("id", "id", "bigint"),
        ("Name", "name", "varchar(3)"),
        ("DAY", "day", "date"),
    ]
    assert [one.longest for one in found] == [None, 3, None]


def test_all_that_does_not_fit_is_said_at_once() -> None:
    with pytest.raises(ActNow) as refused:
        fitted([("id", "double"), ("ID", "int"), ("more", "int"), ("day", "string")], TARGET)
    assert refused.value.words.found == (
        "id is there 2 times; name (varchar(3)) is missing; more is no column of the table; "
        "day is string, the table wants date"
    )


@pytest.mark.parametrize(
    ("have", "want", "answer"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("bigint", "double", False),
        ("int", "float", False),
        ("float", "double", True),
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("string", "varchar(5)", True),
        ("varchar(5)", "string", True),
        ("array<int>", "array<int>", True),
        ("array<int>", "array<bigint>", False),
        ("string", "int", False),
        ("date", "timestamp", False),
    ],
)
def test_a_type_fits_where_nothing_is_lost(have: str, want: str, answer: bool) -> None:
    assert fits(have, want) is answer


@pytest.mark.parametrize(
    ("table", "mode", "job"), [("orders", "add", "j"), ("s.t", "replace", "j"), ("s.t", "add", " ")]
)
def test_calls_that_mean_nothing_are_one_error(table: str, mode: str, job: str) -> None:
    with pytest.raises(ActNow):
        PartitionWrite.of(table, mode, job, None)


@pytest.mark.parametrize(("at_least", "below"), [(1, None), (2, 0)])
def test_rules_of_small_files_that_mean_nothing_are_one_error(at_least: int, below: int | None) -> None:
    with pytest.raises(ActNow):
        SmallFiles(at_least, below)
