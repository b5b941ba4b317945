"""Statistics arrive at a metastore as they were told, whatever table they were of."""

from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore.ttypes import (
    GetTableResult,
    InvalidObjectException,
    SetPartitionsStatsRequest,
    SetPartitionsStatsResponse,
    Table,
)

from tests.support.builders import a_table
from tests.support.hive.metastore_objects import statistics_of
from tests.support.hive.thrift_server import Server, serving
from twinhive.core.model.errors import Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import from_text, to_text
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore

NAME = TableName("twin", "t")


class Behaviour:
    """Keep what is written."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, SetPartitionsStatsRequest]] = []
        self.raises: Exception | None = None

    def update_table_column_statistics_req(self, req: Any) -> SetPartitionsStatsResponse:
        return self._keep("table", req)

    def update_partition_column_statistics_req(self, req: Any) -> SetPartitionsStatsResponse:
        return self._keep("partition", req)

    def get_table_req(self, req: Any) -> GetTableResult:
        return GetTableResult(table=Table(dbName=req.dbName, tableName=req.tblName))

    def _keep(self, kind: str, req: Any) -> SetPartitionsStatsResponse:
        self.requests.append((kind, req))
        if self.raises:
            raise self.raises
        return SetPartitionsStatsResponse(result=True)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Behaviour()) as server:
        yield server


def with_fields(statistics: str, fields: dict) -> str:
    tree = from_text(statistics)
    tree["2"]["lst"][2]["3"]["rec"]["2"]["rec"] |= fields
    return to_text(tree)


@pytest.mark.parametrize("partition", [None, "p=a b"])
def test_known_fields_arrive_beside_unknown_ones(server: Server, partition: str | None) -> None:
    metastore = ThriftMetastore([server.address], 5.0, None)
    given = statistics_of(a_table("elsewhere.other", columns=(("id", "int"),)), "id", partition)
    # Java writes Base64 without padding; the last field is a histogram.
    metastore.set_statistics(NAME, with_fields(given, {"5": {"str": "SExMAQ"}, "6": {"str": "S0xMAAEC"}}))
    metastore.set_statistics(NAME, given)
    (kind, request), (_, plain) = server.behaviour.requests
    assert kind == ("table" if partition is None else "partition")
    (statistics,) = request.colStats
    described = statistics.statsDesc
    assert (described.dbName, described.tableName, described.partName) == ("twin", "t", partition)
    assert (request.needMerge, request.engine, statistics.engine) == (False, "hive", "hive")
    numbers = statistics.statsObj[0].statsData.longStats
    assert (numbers.lowValue, numbers.highValue, numbers.numDVs, numbers.bitVectors) == (1, 9, 5, b"HLL\x01")
    assert plain.colStats[0].statsObj[0].statsData.longStats.bitVectors is None


def test_what_cannot_be_read_is_refused_and_the_connection_goes_on(server: Server) -> None:
    metastore = ThriftMetastore([server.address], 5.0, None)
    given = statistics_of(a_table("elsewhere.other", columns=(("id", "int"),)), "id")
    for wrong in (with_fields(given, {"5": {"str": "no base 64"}}), with_fields(given, {"1": {"what": 1}}), "{}", "1"):
        with pytest.raises(Refused, match="cannot be read"):
            metastore.set_statistics(NAME, wrong)
    assert server.behaviour.requests == []
    metastore.set_statistics(NAME, given)
    assert len(server.behaviour.requests) == 1


def test_a_refusal_of_the_server_is_one_of_ours(server: Server) -> None:
    metastore = ThriftMetastore([server.address], 5.0, None)
    server.behaviour.raises = InvalidObjectException("no such column")
    with pytest.raises(Refused, match="no such column"):
        metastore.set_statistics(NAME, statistics_of(a_table("elsewhere.other", columns=(("id", "int"),)), "id"))
