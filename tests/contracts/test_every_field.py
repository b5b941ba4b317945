"""A table and a partition with every Thrift field filled: what the server keeps, drops and changes, and the fake alike.

All fields are named here. One that a later version of the bindings brings makes this fail: see what the server does
with it, then whether `thrift_objects` hands it on and `canonical_form` compares it.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TType

from tests.support.hive.filled_structs import filled
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import read_partition, read_table
from twinhive.core.model.tjson import from_text
from twinhive.core.ports import MetastoreWriter
from twinhive.hive.adapters.hive.thrift_json import struct_of, tree_of

_SD = """sd.cols sd.location sd.inputFormat sd.outputFormat sd.compressed sd.numBuckets sd.serdeInfo.name
    sd.serdeInfo.serializationLib sd.serdeInfo.parameters sd.bucketCols sd.sortCols sd.parameters
    sd.skewedInfo.skewedColNames sd.skewedInfo.skewedColValues sd.skewedInfo.skewedColValueLocationMaps
    sd.storedAsSubDirectories"""
_MORE_OF_SERDE = """sd.serdeInfo.description sd.serdeInfo.serializerClass sd.serdeInfo.deserializerClass
    sd.serdeInfo.serdeType"""
KEPT = {
    ttypes.Table: f"""tableName dbName owner lastAccessTime retention {_SD} {_MORE_OF_SERDE} partitionKeys parameters
        tableType rewriteEnabled catName ownerType""",
    ttypes.Partition: f"values dbName tableName lastAccessTime {_SD} parameters catName",
}
OF_THE_METASTORE = {
    ttypes.Table: "createTime temporary writeId id",
    ttypes.Partition: "createTime writeId",
}
"""What it says of its own, whatever it is given."""
DROPPED = {
    ttypes.Table: """viewOriginalText viewExpandedText privileges creationMetadata isStatsCompliant colStats accessType
        requiredReadCapabilities requiredWriteCapabilities fileMetadata dictionary txnId""",
    ttypes.Partition: f"privileges isStatsCompliant colStats fileMetadata {_MORE_OF_SERDE}",
}
_LOOKED_INTO = (ttypes.StorageDescriptor, ttypes.SerDeInfo, ttypes.SkewedInfo)
_SET_BY_THE_METASTORE = "transient_lastDdlTime"


def a_descriptor(place: str) -> Any:
    found = filled(ttypes.StorageDescriptor)
    found.location = place
    found.cols = [ttypes.FieldSchema("id", "int", "日本"), ttypes.FieldSchema("note", "string", "c")]
    found.bucketCols, found.sortCols = ["id"], [ttypes.Order("id", 1)]
    found.inputFormat = "org.apache.hadoop.mapred.TextInputFormat"
    found.outputFormat = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
    found.serdeInfo.serializationLib = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    places = {("1", "é"): f"{place}/id=1/note=é", ("2", "b"): f"{place}/by hand"}
    found.skewedInfo = ttypes.SkewedInfo(["id", "note"], [list(values) for values in places], places)
    return found


def a_table(database: str) -> Any:
    found = filled(ttypes.Table)
    found.dbName, found.tableName, found.tableType, found.catName = database, "t", "MANAGED_TABLE", "hive"
    found.sd = a_descriptor(f"hdfs://east/tmp/{database}/t")
    found.partitionKeys = [ttypes.FieldSchema("p", "string", "key")]
    return found


def a_partition(database: str) -> Any:
    found = filled(ttypes.Partition)
    found.dbName, found.tableName, found.values, found.catName = database, "t", ["1"], "hive"
    found.sd = a_descriptor(f"hdfs://east/tmp/{database}/t/p=1")
    return found


def fields_of(struct: Any, within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all fields by name; those of storage by theirs."""
    for _, kind, name, inner, _ in filter(None, struct.thrift_spec):
        value = getattr(struct, name)
        if kind == TType.STRUCT and inner[0] in _LOOKED_INTO:
            yield from fields_of(value, f"{within}{name}.")
        else:
            said = {key: one for key, one in value.items() if key != _SET_BY_THE_METASTORE} if kind == TType.MAP else 0
            yield f"{within}{name}", said or value


def assert_stored(given: Any, thrift: str) -> None:
    kind = type(given)
    kept, own, dropped = (some[kind].split() for some in (KEPT, OF_THE_METASTORE, DROPPED))
    sent, found = dict(fields_of(given)), dict(fields_of(struct_of(kind, from_text(thrift))))
    assert sorted(sent) == sorted([*kept, *own, *dropped]), "a field that nobody has looked at"
    assert [name for name, value in sent.items() if value is None] == [], "all are filled"
    assert {name: found[name] for name in kept} == {name: sent[name] for name in kept}
    assert {name: found[name] for name in dropped} == dict.fromkeys(dropped)
    assert [name for name in own if found[name] in (None, sent[name]) and name != "id"] == []


def test_a_table_and_a_partition_with_every_field(metastore: MetastoreWriter, database: str) -> None:
    table, partition = a_table(database), a_partition(database)
    metastore.create_table(read_table(tree_of(table)))
    name = TableName(database, "t")
    one, (another,) = metastore.table(name), metastore.tables(database, ["t"])
    assert one is not None
    for found in (one, another):
        assert_stored(table, found.thrift)
    metastore.add_partitions([read_partition(tree_of(partition))])
    (found,) = metastore.partitions(name, ["p=1"])
    assert_stored(partition, found.thrift)
    # Once more as it was read, as a twin is written.
    metastore.alter_table(name, one)
    metastore.alter_partitions([found])
    again = metastore.table(name)
    assert again is not None
    assert_stored(table, again.thrift)
    assert_stored(partition, metastore.partitions(name, ["p=1"])[0].thrift)


@pytest.mark.parametrize("struct", [ttypes.Table, ttypes.Partition, ttypes.ColumnStatistics])
def test_every_field_passes_through_text(struct: Any) -> None:
    given = filled(struct)
    assert struct_of(struct, tree_of(given)) == given
