import pytest

from tests.support.builders import a_partition, a_policy, a_table
from twinhive.core.model.marks import Stamp
from twinhive.replication.replica.replica_locations import TablePlacement

STAMP = Stamp("log", 7)
ROOT = "hdfs://west/warehouse/managed/sales.db"


def plan(table):
    return TablePlacement.plan(table, a_policy(), ROOT, "hdfs://west/staging/tables/d", STAMP)


def test_a_managed_table_lies_below_the_managed_directory_of_its_database() -> None:
    placement = plan(a_table("sales.orders", location="hdfs://east/elsewhere/x"))
    assert placement.directory == f"{ROOT}/orders.7"
    assert placement.building == "hdfs://west/staging/tables/d/orders"
    assert placement.replica.location == placement.directory
    assert placement.replica.parameters["twinhive.stamp"] == "log:7"


@pytest.mark.parametrize("place", ["/odd place/M=1", "/m=1", "/../x", "", "hdfs://east/elsewhere/x"])
def test_a_partition_has_a_directory_of_its_own_wherever_it_lies_at_the_source(place: str) -> None:
    table = a_table(partition_keys=("m",))
    location = place if "://" in place else f"{table.location}{place}"
    partition = a_partition(table, "a b", location=location)
    assert plan(table).partition(partition, STAMP).location == f"{ROOT}/orders.7/_tw/7/m=a b"


def test_a_view_has_no_place() -> None:
    view = TablePlacement.of_view(a_table("sales.v", table_type="VIRTUAL_VIEW"), a_policy(), STAMP).replica
    assert view.location is None
    assert view.parameters["twinhive.stamp"] == "log:7"


@pytest.mark.parametrize(
    ("claim", "kept"),
    [
        ('{"BASIC_STATS": "true", "COLUMN_STATS": {"id": "true"}}', '{"BASIC_STATS": "true"}'),
        ('{"BASIC_STATS": "true"}', '{"BASIC_STATS": "true"}'),
        ("not json", "not json"),
    ],
)
def test_the_claim_of_column_statistics_does_not_reach_the_replica(claim: str, kept: str) -> None:
    table = a_table(parameters={"COLUMN_STATS_ACCURATE": claim})
    assert plan(table).replica.parameters["COLUMN_STATS_ACCURATE"] == kept
