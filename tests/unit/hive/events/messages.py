"""Build rows of a notification log, with structs in the text that Thrift itself writes."""

import base64
import gzip
import json
from typing import Any

from hive_metastore import ttypes
from thrift.protocol.TJSONProtocol import TJSONProtocolFactory
from thrift.TSerialization import serialize

from twinhive.core.model.changes.events import EventRow

CHECKSUM = "0000020000000000000000005a636a80"
CMROOT = "hdfs://east/cmroot"
WAREHOUSE = "hdfs://east/warehouse/sales.db"

PLAIN, GZIPPED = "json-0.2", "gzip(json-2.0)"


def zipped(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode())).decode()


def a_row(message: Any, event_type: str = "CREATE_TABLE", message_format: str = PLAIN, **changes: Any) -> EventRow:
    """Return a row of sales.orders; a message that is not text yet is encoded as its format says."""
    text = message
    if not isinstance(message, str):
        text = json.dumps({"server": "", "servicePrincipal": "", "timestamp": 1, **message}, ensure_ascii=False)
        text = zipped(text) if message_format == GZIPPED else text
    fields: dict[str, Any] = {"event_id": 7, "time": 1, "catalog": "hive", "database": "sales", "table": "orders"}
    return EventRow(event_type=event_type, message=text, message_format=message_format, **{**fields, **changes})


def tjson(struct: Any) -> str:
    return serialize(struct, TJSONProtocolFactory()).decode()


def a_table_struct(name: str = "orders", **changes: Any) -> ttypes.Table:
    """Return a table of the database sales with the partition key `day`."""
    fields: dict[str, Any] = {
        "tableName": name,
        "dbName": "sales",
        "sd": ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("id", "int")],
            location=f"{WAREHOUSE}/{name}",
            numBuckets=-1,
            serdeInfo=ttypes.SerDeInfo(parameters={"field.delim": "\x01"}),
            skewedInfo=ttypes.SkewedInfo([], [], {}),
        ),
        "partitionKeys": [ttypes.FieldSchema("day", "string")],
        "parameters": {"k": "v"},
        "tableType": "MANAGED_TABLE",
        "writeId": 2**62,
    }
    return ttypes.Table(**{**fields, **changes})


def a_partition_struct(*values: str, **changes: Any) -> ttypes.Partition:
    fields: dict[str, Any] = {
        "values": list(values),
        "dbName": "sales",
        "tableName": "orders",
        "sd": ttypes.StorageDescriptor(location=f"{WAREHOUSE}/orders/day={'/'.join(values)}"),
        "parameters": {"k": "v"},
    }
    return ttypes.Partition(**{**fields, **changes})


def a_skewed_table_text() -> str:
    """Return a table as Thrift writes it: a map with lists as keys, which is no JSON."""
    locations = {("é", 'a"]:'): "hdfs://east/1", ("2", "b"): "hdfs://east/2"}
    skewed = ttypes.SkewedInfo(["id", "note"], [["é", 'a"]:'], ["2", "b"]], locations)
    return tjson(a_table_struct(sd=ttypes.StorageDescriptor(location=f"{WAREHOUSE}/orders", skewedInfo=skewed)))


def an_entry(path: str, checksum: str = CHECKSUM, cmroot: str = CMROOT, subdirectory: str = "") -> str:
    return f"{path}#{checksum}#{cmroot}#{subdirectory}"


def _statistics(description: ttypes.ColumnStatisticsDesc) -> str:
    data = ttypes.ColumnStatisticsData(longStats=ttypes.LongColumnStatsData(1, 9, 0, 9))
    return tjson(ttypes.ColumnStatistics(description, [ttypes.ColumnStatisticsObj("id", "int", data)], engine="hive"))


TABLE = tjson(a_table_struct())
PARTITION = tjson(a_partition_struct("1"))
FUNCTION = tjson(
    ttypes.Function("Sum2", "Sales", "org.Sum2", resourceUris=[ttypes.ResourceUri(1, "hdfs://east/j.jar")])
)
TABLE_STATISTICS = _statistics(ttypes.ColumnStatisticsDesc(True, "sales", "orders"))
PARTITION_STATISTICS = _statistics(ttypes.ColumnStatisticsDesc(False, "sales", "orders", "day=1"))
_OF_TABLE = {"db": "sales", "table": "orders", "tableType": "MANAGED_TABLE", "tableObjJson": TABLE}

MESSAGES: dict[str, dict[str, Any]] = {
    "CREATE_DATABASE": {"db": "sales", "dbJson": tjson(ttypes.Database("Sales", parameters={"a": "b"}))},
    "ALTER_DATABASE": {
        "db": "sales",
        "dbObjBeforeJson": tjson(ttypes.Database("sales", "old")),
        "dbObjAfterJson": tjson(ttypes.Database("sales", "new")),
    },
    "DROP_DATABASE": {"db": "Sales", "dbJson": tjson(ttypes.Database("sales"))},
    "CREATE_FUNCTION": {"db": "sales", "functionObjJson": FUNCTION},
    "DROP_FUNCTION": {"db": "Sales", "functionName": "Sum2"},
    "CREATE_TABLE": {**_OF_TABLE, "files": [an_entry(f"{WAREHOUSE}/orders/f")]},
    "DROP_TABLE": _OF_TABLE,
    "ALTER_TABLE": {
        "db": "sales",
        "table": "orders",
        "tableObjBeforeJson": TABLE,
        "tableObjAfterJson": tjson(a_table_struct("purchases")),
        "isTruncateOp": "false",
        "writeId": 0,
    },
    "INSERT": {**_OF_TABLE, "ptnObjJson": PARTITION, "files": [an_entry(f"{WAREHOUSE}/orders/f")], "replace": "true"},
    "ADD_PARTITION": {
        **_OF_TABLE,
        "partitions": [{"day": "1"}, {"day": "a=b é"}],
        "partitionListJson": [PARTITION, tjson(a_partition_struct("a=b é"))],
        "partitionFiles": [{"partitionName": "day=1", "files": [an_entry("hdfs://east/f")]}],
    },
    "ALTER_PARTITION": {
        **_OF_TABLE,
        "isTruncateOp": "true",
        "keyValues": {"day": "1"},
        "partitionObjBeforeJson": PARTITION,
        "partitionObjAfterJson": PARTITION,
    },
    "ALTER_PARTITIONS": {
        **_OF_TABLE,
        "isTruncateOp": "true",
        "partitions": [{"day": "1"}, {"day": "2"}],
        "partitionListJson": [PARTITION, tjson(a_partition_struct("2"))],
    },
    "DROP_PARTITION": {**_OF_TABLE, "partitions": [{"day": "1"}, {"DAY": "a=b é"}]},
    "ADD_PRIMARYKEY": {"primaryKeyListJson": [tjson(ttypes.SQLPrimaryKey("Sales", "Orders", "id", 1, "pk"))]},
    "ADD_FOREIGNKEY": {
        "foreignKeyListJson": [tjson(ttypes.SQLForeignKey("sales", "orders", "id", "Sales", "Items", "order_id", 1))]
    },
    "ADD_UNIQUECONSTRAINT": {
        "uniqueConstraintListJson": [tjson(ttypes.SQLUniqueConstraint("hive", "sales", "orders", "id", 1, "uk"))]
    },
    "ADD_NOTNULLCONSTRAINT": {
        "notNullConstraintListJson": [tjson(ttypes.SQLNotNullConstraint("hive", "sales", "orders", "id", "nn"))]
    },
    "ADD_DEFAULTCONSTRAINT": {
        "defaultConstraintListJson": [tjson(ttypes.SQLDefaultConstraint("hive", "sales", "orders", "id", "0", "dc"))]
    },
    "ADD_CHECKCONSTRAINT": {
        "checkConstraintListJson": [tjson(ttypes.SQLCheckConstraint("hive", "sales", "orders", "id", "id > 0", "cc"))]
    },
    "DROP_CONSTRAINT": {"dbName": "Sales", "tableName": "Orders", "constraintName": "Pk"},
    "UPDATE_TBL_COL_STAT_EVENT": {"database": "sales", "colStatsJson": TABLE_STATISTICS, "tableObjJson": TABLE},
    "UPDATE_PART_COL_STAT_EVENT": {
        "database": "sales",
        "colStatsJson": PARTITION_STATISTICS,
        "tableObjJson": TABLE,
        "partVals": ["1"],
    },
    "UPDATE_PART_COL_STAT_EVENT_BATCH": {
        "database": "sales",
        "colStatsJson": PARTITION_STATISTICS,
        "tableObjJson": TABLE,
        "partVals": ["1"],
    },
    "DELETE_TBL_COL_STAT_EVENT": {"database": "sales", "colName": "Id"},
    "DELETE_PART_COL_STAT_EVENT": {"database": "sales", "colName": None, "partName": "day=1", "partValues": ["1"]},
}
"""One message of every event type that replication carries over."""
