"""Where the rows of a table are, format by format; a table that moves is read at its new place by everybody."""

import json

import pytest

from tests.support.builders import a_table
from tests.support.hive.metastore_objects import a_spark_table
from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.objects import Table, TableKind
from twinhive.core.model.table_formats import PROVIDER, RowFiles, is_of_log, row_files
from twinhive.core.model.tjson import from_text, to_text

PLACEHOLDER = "hdfs://east/w/sales.db/t-__PLACEHOLDER__"
ROWS = "hdfs://east/data/t"


def named(table: Table, *, is_new: bool = False) -> tuple[str | None, str | None]:
    """Return the places that a table names when it is written."""
    return objects.named_locations(objects.read_table(objects.fresh_table(table, is_new=is_new)))


def with_input(reader: str) -> str:
    """Return a struct whose files are read by a class of Hive's."""
    return json.dumps({"3": {"str": "delta"}, "7": {"rec": {"3": {"str": reader}}}})


@pytest.mark.parametrize(
    ("parameters", "reader", "expected"),
    [
        ({}, "org.apache.hadoop.mapred.TextInputFormat", RowFiles.ALL),
        ({}, "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat", RowFiles.ALL),
        ({"note": "storage_handler"}, "", RowFiles.ALL),
        ({"table_type": "fact"}, "", RowFiles.ALL),
        ({PROVIDER: "CSV"}, "", RowFiles.ALL),
        ({PROVIDER: "hive"}, "", RowFiles.ALL),
        ({PROVIDER: "org.apache.spark.sql.execution.datasources.v2.json.JsonDataSourceV2"}, "", RowFiles.ALL),
        ({PROVIDER: "org.apache.spark.sql.parquet"}, "", RowFiles.ALL),
        ({PROVIDER: "com.databricks.spark.csv"}, "", RowFiles.ALL),
        ({PROVIDER: "delta"}, "", RowFiles.LOGGED),
        ({PROVIDER: "DELTA"}, "", RowFiles.LOGGED),
        ({PROVIDER: "org.apache.spark.sql.delta.sources.DeltaDataSource"}, "", RowFiles.LOGGED),
        ({PROVIDER: "hudi"}, "org.apache.hudi.hadoop.HoodieParquetInputFormat", RowFiles.LOGGED),
        ({}, "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat", RowFiles.LOGGED),
        ({}, "com.uber.hoodie.hadoop.HoodieInputFormat", RowFiles.LOGGED),
        ({}, "org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat", RowFiles.ELSEWHERE),
        ({}, "org.apache.paimon.hive.mapred.PaimonInputFormat", RowFiles.ELSEWHERE),
        ({}, "org.apache.kudu.mapreduce.KuduTableInputFormat", RowFiles.ELSEWHERE),
        ({"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"}, "", RowFiles.ELSEWHERE),
        ({"storage_handler": "x", PROVIDER: "delta"}, "", RowFiles.ELSEWHERE),
        ({"table_type": "iceberg", PROVIDER: "iceberg"}, "", RowFiles.ELSEWHERE),
        ({PROVIDER: "paimon"}, "", RowFiles.ELSEWHERE),
        ({PROVIDER: "org.apache.spark.sql.jdbc"}, "", RowFiles.ELSEWHERE),
        ({PROVIDER: "jdbc"}, "", RowFiles.ELSEWHERE),
        ({PROVIDER: "com.example.Source"}, "", RowFiles.ELSEWHERE),
        ({"flink.connector": "kafka"}, "", RowFiles.ELSEWHERE),
        ({"flink.connector": "hive"}, "", RowFiles.ALL),
    ],
)
def test_a_format_says_how_rows_follow_from_the_directory(
    parameters: dict[str, str], reader: str, expected: RowFiles
) -> None:
    assert row_files(parameters, with_input(reader)) is expected


@pytest.mark.parametrize(
    ("provider", "table_type", "kind"),
    [
        ("delta", "MANAGED_TABLE", TableKind.OPEN_FORMAT),
        ("hudi", "MANAGED_TABLE", TableKind.OPEN_FORMAT),
        ("delta", "EXTERNAL_TABLE", TableKind.EXTERNAL),
        ("paimon", "EXTERNAL_TABLE", TableKind.HANDLER),
        ("jdbc", "MANAGED_TABLE", TableKind.HANDLER),
        ("delta", "VIRTUAL_VIEW", TableKind.VIEW),
        ("csv", "MANAGED_TABLE", TableKind.MANAGED),
    ],
)
def test_a_managed_table_with_a_log_of_its_own_is_left_out_and_an_external_one_is_copied(
    provider: str, table_type: str, kind: TableKind
) -> None:
    table = a_table(parameters={PROVIDER: provider}, table_type=table_type)
    assert table.kind is kind
    assert table.has_plain_files == (kind is TableKind.MANAGED)


@pytest.mark.parametrize(
    ("location", "path", "provider", "place"),
    [
        (PLACEHOLDER, ROWS, "csv", ROWS),
        (PLACEHOLDER, f"{ROWS}/", "json", ROWS),
        (PLACEHOLDER, "/data/t", "csv", ROWS),
        (PLACEHOLDER, "file:/tmp/t", "csv", "file:/tmp/t"),
        (ROWS, ROWS, "parquet", ROWS),
        (ROWS, None, "parquet", ROWS),
        (ROWS, "hdfs://east/other", None, ROWS),
        (ROWS, "hdfs://east/other", "hive", ROWS),
    ],
)
def test_the_place_of_a_table_is_where_its_readers_look(
    location: str, path: str | None, provider: str | None, place: str
) -> None:
    assert a_spark_table("sales", "t", path, provider, location).location == place


@pytest.mark.parametrize("key", ["path", "PATH"])
def test_a_twin_names_one_place_whatever_its_source_names(key: str) -> None:
    table = a_spark_table("sales", "t", ROWS)
    tree = from_text(table.thrift)
    tree["7"]["rec"]["7"] = {"rec": {"3": {"map": ["str", "str", 1, {key: ROWS}]}}}
    table = objects.read_table(tree)
    there = "hdfs://west/ext/data/t"
    assert named(table.at(table.name, there)) == (there, there)
    assert "east" not in to_text(objects.fresh_table(table.at(table.name, there)))


def test_a_path_without_a_host_moves_too() -> None:
    table = a_spark_table("sales", "t", "/data/t")
    there = "hdfs://west/ext/data/t"
    assert named(table.at(table.name, there)) == (there, there)


def test_a_table_that_is_altered_where_it_is_keeps_the_placeholder_and_a_new_one_has_none() -> None:
    table = a_spark_table("sales", "t", ROWS)
    assert named(table.with_parameters({**table.parameters, "note": "x"})) == (PLACEHOLDER, ROWS)
    assert named(table, is_new=True) == (ROWS, ROWS)


def test_a_path_that_nobody_reads_stays_as_it_is() -> None:
    table = a_spark_table("sales", "t", "hdfs://east/other/", None, ROWS)
    assert named(table.at(table.name, "hdfs://west/t")) == ("hdfs://west/t", "hdfs://east/other/")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("_delta_log", True),
        ("t/_delta_log/00000000000000000001.json", True),
        (".hoodie/20240101.commit", True),
        ("t/.hoodie_partition_metadata", False),
        ("t/_delta_log2/f", False),
        ("t/part-0", False),
        ("", False),
    ],
)
def test_a_log_is_known_by_the_name_of_its_directory(path: str, expected: bool) -> None:
    assert is_of_log(path) is expected
