"""Clients of before call what Hive 4.1 has removed, and get the answer that they know."""

import pytest
from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import GetTableResult, GetTablesResult, Table
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TMemoryBuffer

from tests.support.wire.wire_messages import answer, decoded, request
from twinhive.hive.wire.old_clients import old_call
from twinhive.hive.wire.thrift_message import application_error, call, declared_error, reply


def test_a_table_is_asked_and_answered_in_the_old_way() -> None:
    old = old_call(request("get_table", dbname="shop", tbl_name="orders"))
    asked = decoded(ThriftHiveMetastore.get_table_req_args, old.instead.body).req
    assert (old.instead.head.method, asked.dbName, asked.tblName) == ("get_table_req", "shop", "orders")
    table = Table(tableName="orders", dbName="shop", parameters={"a": "b"})
    got = old.answer(answer("get_table_req", GetTableResult(table=table)))
    assert got.head.method == "get_table"
    assert decoded(ThriftHiveMetastore.get_table_result, got.body).success == table


def test_a_catalog_before_the_database_gets_its_own_field() -> None:
    """`get_table_req` of Hive 4.1 knows no database `@hive#shop`; `get_table` did."""
    old = old_call(request("get_table", dbname="@hive#shop", tbl_name="orders"))
    asked = decoded(ThriftHiveMetastore.get_table_req_args, old.instead.body).req
    assert (asked.dbName, asked.tblName, asked.catName) == ("shop", "orders", "hive")


def test_tables_are_asked_and_answered_in_the_old_way() -> None:
    old = old_call(request("get_table_objects_by_name", dbname="shop", tbl_names=["a", "b"]))
    asked = decoded(ThriftHiveMetastore.get_table_objects_by_name_req_args, old.instead.body).req
    assert (asked.dbName, asked.tblNames) == ("shop", ["a", "b"])
    tables = [Table(tableName="a"), Table(tableName="b")]
    got = old.answer(answer("get_table_objects_by_name_req", GetTablesResult(tables=tables)))
    assert decoded(ThriftHiveMetastore.get_table_objects_by_name_result, got.body).success == tables


@pytest.mark.parametrize("kind", ["MetaException", "NoSuchObjectException"])
def test_errors_pass(kind: str) -> None:
    old = old_call(request("get_table", dbname="shop", tbl_name="orders"))
    got = old.answer(declared_error("get_table_req", 1, "gone", kind))
    assert decoded(ThriftHiveMetastore.get_table_result, got.body).success is None
    errors = [one for one in vars(decoded(ThriftHiveMetastore.get_table_result, got.body)).values() if one]
    assert [type(one).__name__ for one in errors] == [kind]


@pytest.mark.parametrize(("method", "element"), [("get_indexes", 12), ("get_index_names", 11)])
def test_a_table_has_no_indexes(method: str, element: int) -> None:
    asked = call(method, 9, request("get_table", dbname="shop", tbl_name="orders").body[:-1] + b"\6\0\3\x7f\xff\0")
    old = old_call(asked)
    assert old.instead.head.method == "get_table_req"
    got = old.answer(answer("get_table_req", GetTableResult(table=Table(tableName="orders"))))
    assert got.raw == reply(method, 9, bytes((15, 0, 0, element, 0, 0, 0, 0, 0))).raw


@pytest.mark.parametrize(
    ("method", "kind", "number"),
    [
        ("get_indexes", "MetaException", 2),
        ("get_indexes", "NoSuchObjectException", 1),
        ("get_index_names", "NoSuchObjectException", 1),
    ],
)
def test_their_errors_have_the_old_numbers(method: str, kind: str, number: int) -> None:
    old = old_call(call(method, 1, request("get_table", dbname="shop", tbl_name="orders").body))
    received = declared_error("get_table_req", 1, "gone", kind)
    assert old.answer(received).body == bytes((12, 0, number)) + received.body[3:]


@pytest.mark.parametrize("kind", ["MetaException", "InvalidOperationException", "UnknownDBException"])
def test_an_error_of_a_call_that_declared_none_is_thrifts_own(kind: str) -> None:
    """Hive 2.3, 3, pyiceberg and hmsclient each declare other ones, or none: they said 'unknown result'."""
    old = old_call(request("get_table_objects_by_name", dbname="shop", tbl_names=["a"]))
    got = old.answer(declared_error("get_table_objects_by_name_req", 1, "table a is insert only", kind))
    text = f"{kind}: table a is insert only"
    assert got.raw == application_error("get_table_objects_by_name", old.asked.head.sequence, text, 6).raw
    with pytest.raises(TApplicationException, match="is insert only"):
        client = ThriftHiveMetastore.Client(TBinaryProtocol(TMemoryBuffer(got.raw)))
        client.recv_get_table_objects_by_name()


def test_thrifts_own_errors_pass() -> None:
    old = old_call(request("get_table", dbname="shop", tbl_name="orders"))
    got = old.answer(application_error("get_table_req", 1, "no"))
    assert got.raw == application_error("get_table", 1, "no").raw


def test_other_methods_are_left_alone() -> None:
    assert old_call(request("get_all_tables", db_name="shop")) is None
