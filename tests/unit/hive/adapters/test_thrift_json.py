from typing import Any

import pytest
from hive_metastore.ttypes import (
    BinaryColumnStatsData,
    Database,
    FieldSchema,
    Order,
    Partition,
    SerDeInfo,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from thrift.protocol.TJSONProtocol import TJSONProtocolFactory
from thrift.TSerialization import deserialize, serialize

from twinhive.core.model.tjson import from_text, to_text
from twinhive.hive.adapters.hive.thrift_json import struct_of, tree_of


def a_storage_descriptor(**changes: Any) -> StorageDescriptor:
    fields = {
        "cols": [FieldSchema("id", "int", 'Zähler "日本" 😀'), FieldSchema("path", "string", "a\\b")],
        "location": "hdfs://east/warehouse/t",
        "compressed": False,
        "numBuckets": -1,
        "serdeInfo": SerDeInfo(serializationLib="x", parameters={"field.delim": "\x01", "line": "\n"}),
        "bucketCols": [],
        "sortCols": [Order("id", 1)],
        "parameters": {},
        "skewedInfo": SkewedInfo([], [], {}),
        "storedAsSubDirectories": True,
    }
    return StorageDescriptor(**{**fields, **changes})


STRUCTS = [
    Database(name="d", parameters={"é": "ü"}, createTime=2**31 - 1),
    Table(
        tableName="t",
        dbName="d",
        sd=a_storage_descriptor(),
        partitionKeys=[FieldSchema("p", "string")],
        parameters={"k": "v"},
        writeId=2**62,
        requiredReadCapabilities=["A", "B"],
    ),
    Partition(values=["", "é", "a=b"], sd=a_storage_descriptor(skewedInfo=SkewedInfo(["a"], [["1"], ["2"]], {}))),
    BinaryColumnStatsData(maxColLen=1, avgColLen=1.5, numNulls=0, bitVectors=b"\x00\xff"),
]


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: type(struct).__name__)
def test_text_is_what_thrift_itself_writes(struct: Any) -> None:
    text = to_text(tree_of(struct))
    assert from_text(text) == from_text(serialize(struct, TJSONProtocolFactory()).decode())


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: type(struct).__name__)
def test_structs_come_back_from_text(struct: Any) -> None:
    text = to_text(tree_of(struct))
    assert struct_of(type(struct), from_text(text)) == struct


def test_text_is_what_thrift_itself_reads() -> None:
    table = STRUCTS[1]
    table.sd.serdeInfo.parameters = {"field.delim": "|"}
    assert deserialize(Table(), to_text(tree_of(table)).encode(), TJSONProtocolFactory()) == table


def test_locations_of_skewed_values_stay_readable_json() -> None:
    struct = SkewedInfo(["a"], [["1", "é"]], {("1", "é"): "hdfs://east/skewed"})
    text = to_text(tree_of(struct))
    assert struct_of(SkewedInfo, from_text(text)).skewedColValueLocationMaps == {("1", "é"): "hdfs://east/skewed"}


def test_fields_unknown_to_the_bindings_are_left_out_of_structs() -> None:
    assert struct_of(Table, {"1": {"str": "t"}, "999": {"i64": 5}}) == Table(tableName="t")


def test_fields_of_another_type_are_left_out_of_structs() -> None:
    assert struct_of(Table, {"1": {"i64": 5}}) == Table()


def test_unescaped_control_characters_are_read() -> None:
    assert from_text('{"1":{"str":"a\x01b"}}') == {"1": {"str": "a\x01b"}}


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"'])
def test_broken_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        from_text(text)
