"""Glue as moto plays it on loopback, read as a catalog and through the responder."""

import boto3
import pytest
from moto.server import ThreadedMotoServer

from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.connectors.catalog_reading import name_of, types_of
from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.filters import parse_filter
from twinhive.federation.connectors.glue import GlueCatalog, GlueConnector
from twinhive.federation.connectors.partition_pruning import glue_expression, lets_through
from twinhive.federation.connectors.responder import Responder
from twinhive.hive.wire.thrift_message import STOP, call, text_field

STORAGE = {
    "Columns": [{"Name": "id", "Type": "int"}, {"Name": "Note", "Type": "string", "Comment": "a note"}],
    "Location": "s3://b/t",
    "InputFormat": "i",
    "OutputFormat": "o",
    "SerdeInfo": {"SerializationLibrary": "l", "Parameters": {"x": "y"}},
}
DAYS, HOURS = 6, 12


@pytest.fixture(scope="module")
def properties():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_CONFIG_FILE", "/dev/null")
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        yield {"aws.glue.endpoint": f"http://{host}:{port}", "aws.region": "us-east-1"}
    server.stop()


@pytest.fixture(scope="module")
def catalog(properties) -> GlueCatalog:
    glue = boto3.client("glue", endpoint_url=properties["aws.glue.endpoint"], region_name="us-east-1")
    glue.create_database(DatabaseInput={"Name": "sales", "Description": "sold", "Parameters": {"a": "b"}})
    table = {
        "Name": "orders",
        "StorageDescriptor": STORAGE,
        "PartitionKeys": [{"Name": "day", "Type": "string"}, {"Name": "hour", "Type": "int"}],
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"EXTERNAL": "TRUE"},
        "Owner": "ann",
    }
    view = {"Name": "v", "StorageDescriptor": STORAGE, "TableType": "VIRTUAL_VIEW", "ViewOriginalText": "select 1"}
    iceberg = {
        "Name": "ice",
        "StorageDescriptor": {"Columns": STORAGE["Columns"], "Location": "s3://b/ice"},
        "Parameters": {"table_type": "iceberg", "metadata_location": "s3://b/ice/metadata/1.json"},
    }
    for one in (table, view, iceberg):
        glue.create_table(DatabaseName="sales", TableInput=one)
    values = [[f"d{day}", str(hour)] for day in range(DAYS) for hour in range(HOURS)]
    partitions = [
        {"Values": one, "StorageDescriptor": {**STORAGE, "Location": f"s3://b/t/{'/'.join(one)}"}} for one in values
    ]
    glue.batch_create_partition(DatabaseName="sales", TableName="orders", PartitionInputList=partitions)
    return GlueConnector().catalog(properties)


def test_a_database(catalog: GlueCatalog) -> None:
    found = catalog.database("sales")

    assert found is not None
    assert (found.name, found.comment, found.parameters) == ("sales", "sold", {"a": "b"})
    assert catalog.database("none") is None


def test_tables(catalog: GlueCatalog) -> None:
    found = catalog.table("sales", "orders")

    assert found is not None
    assert sorted(catalog.table_names("sales")) == ["ice", "orders", "v"]
    assert [(one.name, one.type, one.comment) for one in found.columns] == [
        ("id", "int", None),
        ("note", "string", "a note"),
        ("day", "string", None),
        ("hour", "int", None),
    ]
    assert (found.owner, found.storage.location, found.storage.serde_parameters) == ("ann", "s3://b/t", {"x": "y"})
    assert catalog.table("sales", "v").view_original_text == "select 1"
    assert catalog.table("sales", "none") is None
    assert catalog.table_names("none") == []


def test_an_iceberg_table_gets_the_classes_that_read_it(catalog: GlueCatalog) -> None:
    found = catalog.table("sales", "ice")

    assert found.table_type == "EXTERNAL_TABLE"
    assert found.parameters["table_type"] == "ICEBERG"
    assert found.parameters["metadata_location"] == "s3://b/ice/metadata/1.json"
    assert found.storage.serde == "org.apache.iceberg.mr.hive.HiveIcebergSerDe"


def test_partitions(catalog: GlueCatalog) -> None:
    table = catalog.table("sales", "orders")

    assert len(catalog.partition_names(table)) == DAYS * HOURS
    assert len(catalog.partitions(table)) == DAYS * HOURS
    (found,) = catalog.partitions(table, names=["day=d1/hour=3", "day=none/hour=3", "odd"])
    assert (found.values, found.storage.location) == (("d1", "3"), "s3://b/t/d1/3")


FILTERS = (
    "day = 'd1'",
    "day >= 'd4' and hour in (1, 2)",
    "(day = 'd1' or hour = 3) and hour < 5",
    "day like 'd_' and hour between 2 and 4",
    "hour <> 3 and '2' < hour",
    "day = 'it''s' or day = 'd2'",
    "day not in ('d1') and hour = 1",
    'day like "d1.*" and hour < 3',
    "day like '%5' or hour not between 1 and 11",
)


@pytest.mark.parametrize("text", FILTERS)
def test_glue_lets_through_what_the_filter_does(catalog: GlueCatalog, text: str) -> None:
    table = catalog.table("sales", "orders")
    if "''" in text:
        text = text.replace("''", "\\'")
    filter_, types = parse_filter(text), types_of(table)
    every = catalog.partitions(table)
    right = {
        name_of(table, one) for one in every if lets_through(filter_, dict(zip(types, one.values, strict=True)), types)
    }

    assert right <= {name_of(table, one) for one in catalog.partitions(table, filter_=text)}
    body = text_field(1, "sales") + text_field(2, "orders") + text_field(3, text) + b"\x06\0\4\xff\xff" + STOP
    answer = Responder(catalog).answer(call("get_partitions_by_filter", 1, body))
    assert answer.body.count(b"s3://b/t/") == len(right)


def test_what_glue_cannot_judge_is_left_out_of_the_expression() -> None:
    types = {"day": "string", "at": "timestamp"}

    def expression(text: str) -> str | None:
        return glue_expression(parse_filter(text), types)

    assert expression("day = 'a' and at > '2026'") == "(day = 'a')"
    assert expression("day = 'a' or at > '2026'") is None
    assert expression("day not like 'a'") is None
    assert expression("day in ('a', 'b')") == "day IN ('a', 'b')"


def test_a_glue_that_is_not_there_is_no_answer(properties) -> None:
    catalog = GlueConnector(0.2, 0.2).catalog({**properties, "aws.glue.endpoint": "http://127.0.0.1:1"})

    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1"):
        catalog.database("sales")
    with pytest.raises(ConnectionError):
        catalog.table_names("sales")


def test_a_refusal_of_glue_is_said(catalog: GlueCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RefusedCall, match="Glue"):
        catalog.table("sales", "n" * 1000 + "\0") or catalog.database("")


def test_places() -> None:
    place = GlueConnector().place(
        {"aws.region": "eu-west-1", "hive.metastore.glue.catalogid": "123", "aws.profile": "p"}
    )

    assert place.addresses == ("glue://eu-west-1", "aws-profile:p")
    assert place.name == "glue://eu-west-1/123/p"


def test_a_region_is_no_host_of_somebody(properties) -> None:
    with pytest.raises(InvalidSettings):
        GlueConnector().catalog({"aws.region": "x.evil.example/#"})
