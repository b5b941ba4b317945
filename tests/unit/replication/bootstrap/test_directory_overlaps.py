import pytest

from tests.support.builders import a_partition, a_table
from twinhive.core.model.errors import ActNow
from twinhive.core.model.objects import Partition
from twinhive.replication.bootstrap.directory_overlaps import DistinctPlaces

TABLE = a_table("sales.orders", partition_keys=("p",))


def check(*partitions: Partition) -> None:
    places = DistinctPlaces()
    for partition in partitions:
        places.check_partitions(TABLE, [partition])
    places.check_nesting()


def at(value: str, location: str) -> Partition:
    return a_partition(TABLE, value, location=location)


def test_partitions_with_directories_of_their_own_are_fine() -> None:
    check(a_partition(TABLE, "1"), a_partition(TABLE, "11"), at("2", "hdfs://east/elsewhere/x"))


@pytest.mark.parametrize(
    "partitions",
    [
        (at("1", "hdfs://east/x"), at("2", "hdfs://east/x")),
        (at("1", "hdfs://east/outside"), at("2", f"{TABLE.location}/p=1")),
        (at("1", "hdfs://east/x"), at("3", "hdfs://east/x y"), at("2", "hdfs://east/x/y")),
    ],
    ids=["one directory at the source", "one directory on the replica", "one inside another"],
)
def test_partitions_that_overlap_are_refused(partitions: tuple[Partition, ...]) -> None:
    with pytest.raises(ActNow, match="overlap"):
        check(*partitions)


@pytest.mark.parametrize(
    ("outer", "inner", "refused"),
    [
        ({}, "hdfs://east/t/inner", True),
        ({}, "hdfs://east/t", True),
        ({"partition_keys": ("p",)}, "hdfs://east/t", True),
        ({"partition_keys": ("p",)}, "hdfs://east/t/inner", False),
        ({}, "hdfs://east/t2", False),
    ],
    ids=["inside a plain table", "the same, plain", "the same", "inside a partitioned table", "beside"],
)
def test_tables_that_overlap_are_refused(outer: dict, inner: str, refused: bool) -> None:
    tables = [a_table("sales.a", location="hdfs://east/t", **outer), a_table("sales.b", location=inner)]
    if refused:
        with pytest.raises(ActNow, match="overlap"):
            DistinctPlaces().check_tables(tables)
    else:
        DistinctPlaces().check_tables(tables)
