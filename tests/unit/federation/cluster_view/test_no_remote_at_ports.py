"""A cluster's port serves no remote, however it is asked for: not by name, and not among several owners' answers."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support.hive.thrift_memory_metastore import SpokenMetastore
from tests.support.hive.thrift_server import serving
from tests.support.wire.wire_messages import request
from tests.unit.federation.cluster_view.test_ports import _refused, a_settled_world, clients, the_port
from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces
from twinhive.federation.gateway.cluster_ports.client_calls import seen_at
from twinhive.federation.gateway.gateway_metrics import Ending
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.streamed_answers import PieceSink
from twinhive.hive.adapters.hive.thrift_json import struct_of
from twinhive.hive.wire.thrift_message import Head, MessageKind

_LONG = 200
"""Tables of a list that is longer than what the gateway holds in these tests."""


class Metastore(SpokenMetastore):
    """Answers what concerns several owners."""

    def get_table_objects_by_name_req(self, req: Any) -> Any:
        self.asked.append("get_table_objects_by_name_req")
        found = (self._of.table(TableName(req.dbName, name)) for name in req.tblNames or ["plain"])
        structs = [struct_of(ttypes.Table, objects.fresh_table(one)) for one in found if one is not None]
        return ttypes.GetTablesResult(structs * (_LONG if len(req.tblNames or ()) > 1 else 1))

    def get_tables_by_type(self, db_name: str, pattern: str, tableType: str) -> list[str]:
        self.asked.append("get_tables_by_type")
        return self._of.table_names(db_name)

    def get_table_meta(self, db_patterns: str, tbl_patterns: str, tbl_types: Any) -> list[Any]:
        self.asked.append("get_table_meta")
        return [ttypes.TableMeta("sales", name, "EXTERNAL_TABLE") for name in self._of.table_names("sales")]

    def get_valid_write_ids(self, rqst: Any) -> Any:
        self.asked.append("get_valid_write_ids")
        ids = [ttypes.TableValidWriteIds(name, 7, [], abortedBits=b"") for name in rqst.fullTableNames]
        return ttypes.GetValidWriteIdsResponse(ids)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, list[str]]]:
    """Yield a client at north's port, and what the remote is asked; `far` and `sales.rem` are there."""
    monkeypatch.setattr("tests.unit.federation.cluster_view.test_ports.SpokenMetastore", Metastore)
    world, other = a_settled_world(), a_settled_world()
    there = Metastore(other.metastore)
    with ExitStack() as stack:
        properties = {"port": str(stack.enter_context(serving(there)).address[1])}
        rem = TableName("sales", "rem")
        world.users.create_view("rem")
        world.users.set_parameters("rem", {"twinhive_remote": "sales.plain"})
        defined = Definitions(
            {rem: RemoteTable(rem, TableName("sales", "plain"), properties=properties)},
            {"far": RemoteDatabase("far", "sales", properties=properties)},
        )
        limits = RemoteLimits(connect=0.5, call=2, buffered=1 << 12)
        client, _ = stack.enter_context(clients(world, the_port(world), definitions=defined, limits=limits))
        yield client, there.asked


def test_what_is_asked_of_several_owners_is_refused_for_a_remote_that_it_names(asked: tuple[Any, list[str]]) -> None:
    client, of_remote = asked
    tried = {
        "get_table_objects_by_name_req": [
            lambda: client.get_table_objects_by_name_req(ttypes.GetTablesRequest("far", ["plain"])),
            lambda: client.get_table_objects_by_name_req(ttypes.GetTablesRequest("far", ["plain", "orders"])),
            lambda: client.get_table_objects_by_name_req(ttypes.GetTablesRequest("FAR", [], tablesPattern="*")),
            lambda: client.get_table_objects_by_name_req(ttypes.GetTablesRequest("sales", ["Rem"])),
        ],
        "get_tables_by_type": [lambda: client.get_tables_by_type("far", "*", "MANAGED_TABLE")],
        "get_valid_write_ids": [
            lambda: client.get_valid_write_ids(ttypes.GetValidWriteIdsRequest(["sales.plain", "far.plain"])),
            lambda: client.get_valid_write_ids(ttypes.GetValidWriteIdsRequest(["sales.rem"])),
        ],
        "get_table_meta": [],  # it names patterns alone
    }
    assert tried.keys() == {name for name, kind in KIND_OF.items() if kind is MethodKind.SEVERAL}
    for calls in tried.values():
        for call in calls:
            _refused(call, "is a remote, which no cluster's port serves: ask for it at the gateway's own port")
    assert of_remote == []


def test_lists_hold_what_the_local_metastore_has(asked: tuple[Any, list[str]]) -> None:
    client, of_remote = asked
    listed = {(one.dbName, one.tableName) for one in client.get_table_meta("*", "*", [])}
    assert {database for database, _ in listed} == {"sales"}
    assert "plain" in client.get_tables_by_type("sales", "*", "MANAGED_TABLE")
    long = client.get_table_objects_by_name_req(ttypes.GetTablesRequest("sales", ["plain", "plain"])).tables
    assert len(long) == 2 * _LONG
    assert not [one.sd.location for one in long if one.sd.location.startswith("hdfs://east")]
    assert client.get_valid_write_ids(ttypes.GetValidWriteIdsRequest(["sales.plain"])).tblValidWriteIds
    assert of_remote == []


def test_many_tables_are_given_without_those_that_are_remotes(asked: tuple[Any, list[str]]) -> None:
    """As without those that are not there: who asks for all that a list holds gets what the port serves."""
    client, of_remote = asked
    listed = [one.tableName for one in client.get_table_meta("sales", "*", [])]
    assert "rem" in listed
    for names in (listed, ["plain", "orders", "Rem"], ["rem", "plain"]):
        found = client.get_table_objects_by_name_req(ttypes.GetTablesRequest("sales", names)).tables
        assert {one.tableName for one in found} == {*names} - {"rem", "Rem"}
    assert of_remote == []


def test_what_a_remote_has_answered_all_the_same_is_never_shown() -> None:
    world, released = a_settled_world(), []

    async def some(sink: PieceSink) -> bool:
        raise AssertionError("is never handed on")

    async def release() -> None:
        released.append(True)

    asking = request("get_all_tables", db_name="far")
    pieces = Pieces(Head(MessageKind.REPLY, "get_all_tables", 0), some, 1.0, release)
    for answer in (pieces, asking):
        shown = asyncio.run(seen_at(the_port(world), asking, CallOutcome(answer, "thrift://far:9083")))
        assert shown.ending is Ending.FAILED
        assert not isinstance(shown.answer, Pieces)
    assert released == [True]
