"""Names are found and replaced where the table says that they stand."""

import pytest
from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import (
    FieldSchema,
    GetTableRequest,
    GetTableResult,
    GetTablesRequest,
    GetValidWriteIdsRequest,
    Partition,
    SQLForeignKey,
    StorageDescriptor,
    Table,
)

from tests.support.wire.wire_messages import answer, decoded, request
from twinhive.hive.wire.message_renaming import Name, names_of, renamed, rewritten
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import WireError


def test_a_table_is_asked_by_another_name() -> None:
    asked = request("get_table_req", req=GetTableRequest(dbName="@hive#Sales", tblName="Orders", catName="hive"))
    assert names_of(asked) == (
        Name(Role.DATABASE, "@hive#Sales", None, "hive"),
        Name(Role.TABLE, "Orders", "@hive#Sales", "hive"),
        Name(Role.CATALOG, "hive", None, "hive"),
    )
    sent = renamed(asked, Renames(tables={("sales", "orders"): ("shop", "bestellungen")}))
    read = decoded(ThriftHiveMetastore.get_table_req_args, sent.body)
    assert (read.req.dbName, read.req.tblName, read.req.catName) == ("@hive#shop", "bestellungen", "hive")


def test_only_names_are_renamed_in_an_answer() -> None:
    columns = [FieldSchema(name="shop", type="string", comment="shop")]
    table = Table(tableName="orders", dbName="shop", sd=StorageDescriptor(cols=columns), parameters={"shop": "shop"})
    sent = renamed(answer("get_table_req", GetTableResult(table=table)), Renames({"shop": "flights_west"}))
    read = decoded(ThriftHiveMetastore.get_table_req_result, sent.body).success.table
    assert read.dbName == "flights_west"
    assert read.tableName == "orders"
    assert (read.sd.cols, read.parameters) == (columns, {"shop": "shop"})


def test_values_of_partitions_stay() -> None:
    parts = [Partition(values=["shop"], dbName="shop", tableName="shop") for _ in range(3)]
    sent = renamed(answer("get_partitions", parts), Renames({"shop": "w"}))
    read = decoded(ThriftHiveMetastore.get_partitions_result, sent.body).success
    assert [(one.values, one.dbName, one.tableName) for one in read] == [(["shop"], "w", "shop")] * 3


def test_a_name_keeps_its_form_and_any_case_is_meant() -> None:
    forms = {"SHOP": "w", " shop ": "w", "@spark#Shop": "@spark#w", "@hive#": "@hive#", "@hive#!": "@hive#!", "!": "!"}
    for form, new in forms.items():
        sent = renamed(request("get_all_tables", db_name=form), Renames({"shop": "w"}))
        assert decoded(ThriftHiveMetastore.get_all_tables_args, sent.body).db_name == new


def test_a_pattern_that_is_a_name_is_renamed() -> None:
    for pattern, new in {"@hive#Shop": "@hive#w", "shop": "w", "sh*": "sh*", "shop|a": "shop|a"}.items():
        sent = renamed(request("get_table_meta", db_patterns=pattern, tbl_patterns="shop"), Renames({"shop": "w"}))
        read = decoded(ThriftHiveMetastore.get_table_meta_args, sent.body)
        assert (read.db_patterns, read.tbl_patterns) == (new, "shop")


def test_a_table_takes_its_database_with_it() -> None:
    asked = request("get_table_objects_by_name_req", req=GetTablesRequest(dbName="a", tblNames=["x", "Y"]))
    sent = renamed(asked, Renames({"a": "other"}, {("a", "x"): ("b", "x1"), ("a", "y"): ("b", "y1")}))
    read = decoded(ThriftHiveMetastore.get_table_objects_by_name_req_args, sent.body).req
    assert (read.dbName, read.tblNames) == ("b", ["x1", "y1"])


def test_tables_of_several_databases_under_one_name_are_refused() -> None:
    asked = request("get_table_objects_by_name_req", req=GetTablesRequest(dbName="a", tblNames=["x", "y"]))
    with pytest.raises(WireError, match="tables of several databases"):
        renamed(asked, Renames({}, {("a", "x"): ("b", "x1")}))


@pytest.mark.parametrize("tables", [["x", "y"], ["y", "x"]])
def test_a_renamed_table_and_another_one_of_the_same_database_are_asked_by_one_call(tables: list[str]) -> None:
    asked = request("get_table_objects_by_name_req", req=GetTablesRequest(dbName="A", tblNames=tables))
    sent = renamed(asked, Renames({}, {("a", "x"): ("a", "x1")}))
    read = decoded(ThriftHiveMetastore.get_table_objects_by_name_req_args, sent.body).req
    assert (read.dbName, sorted(read.tblNames)) == ("A", ["x1", "y"])


def test_both_ends_of_a_foreign_key_are_renamed_each_by_its_own_database() -> None:
    key = SQLForeignKey(
        pktable_db="a", pktable_name="t", fktable_db="b", fktable_name="t", pkcolumn_name="t", fk_name="a"
    )
    renames = Renames({}, {("a", "t"): ("a1", "t1")})
    sent = renamed(request("add_foreign_key", req=ThriftHiveMetastore.AddForeignKeyRequest([key])), renames)
    (read,) = decoded(ThriftHiveMetastore.add_foreign_key_args, sent.body).req.foreignKeyCols
    assert (read.pktable_db, read.pktable_name, read.fktable_db, read.fktable_name) == ("a1", "t1", "b", "t")
    assert (read.pkcolumn_name, read.fk_name) == ("t", "a")


def test_full_names_and_snapshots_name_tables_too() -> None:
    asked = request(
        "get_valid_write_ids", rqst=GetValidWriteIdsRequest(fullTableNames=["a.t", "a.u"], validTxnList="9:9::")
    )
    sent = renamed(asked, Renames({"a": "b"}))
    assert decoded(ThriftHiveMetastore.get_valid_write_ids_args, sent.body).rqst.fullTableNames == ["b.t", "b.u"]
    asked = request("get_table_req", req=GetTableRequest(dbName="a", tblName="t", validWriteIdList="a.t:5:9:7,8:7"))
    sent = renamed(asked, Renames({}, {("a", "t"): ("b", "t1")}))
    assert decoded(ThriftHiveMetastore.get_table_req_args, sent.body).req.validWriteIdList == "b.t1:5:9:7,8:7"


def test_many_partitions_with_the_name_in_other_places_are_walked() -> None:
    """The comment holds what a field with the name looks like in the bytes."""
    trap = "\x0b\x00\x02\x00\x00\x00\x04shop"
    columns = [FieldSchema(name="shop", type="shop", comment=trap)]
    parts = [
        Partition(
            [str(day), "shop"],
            "shop",
            "shop",
            sd=StorageDescriptor(columns, "hdfs://shop/shop"),
            parameters={"shop": trap},
        )
        for day in range(300)
    ]
    sent = renamed(answer("get_partitions", parts), Renames({}, {("shop", "shop"): ("w", "v")}))
    read = decoded(ThriftHiveMetastore.get_partitions_result, sent.body).success
    for one in parts:
        one.dbName, one.tableName = "w", "v"
    assert read == parts


def test_the_way_back_is_the_same_names() -> None:
    renames = Renames({"local": "Remote"}, {("local", "t"): ("remote", "T1")})
    assert renames.back == Renames({"remote": "local"}, {("remote", "t1"): ("local", "t")})
    with pytest.raises(WireError, match="two local names"):
        _ = Renames({"a": "x", "b": "X"}).back


def test_equal_names_touch_nothing() -> None:
    asked = request("get_all_tables", db_name="Shop")
    assert renamed(asked, Renames({"shop": "shop"})) is asked


def test_an_answer_that_holds_no_names_is_passed_over_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinhive.hive.wire.walking.end_of_value", None)
    message = answer("get_partition_names", ["day=1", "shop=shop"])
    assert renamed(message, Renames({"shop": "w"})).raw == message.raw


def test_other_texts_can_be_rewritten_one_by_one() -> None:
    parts = [Partition([str(day)], "a", "t", sd=StorageDescriptor([], f"hdfs://east/t/{day}")) for day in range(3)]
    sent = rewritten(
        answer("get_partitions", parts), lambda one: one.text.replace(b"east", b"w"), frozenset({Role.LOCATION})
    )
    read = decoded(ThriftHiveMetastore.get_partitions_result, sent.body).success
    assert [one.sd.location for one in read] == [f"hdfs://w/t/{day}" for day in range(3)]
