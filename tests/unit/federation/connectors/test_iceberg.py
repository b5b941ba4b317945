"""Iceberg tables by path and by catalog, as Hive's metastore would hold them."""

import gzip
import json

import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import SortOrder
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DecimalType, ListType, LongType, NestedField, StringType, TimestamptzType

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.servers.iceberg_rest import iceberg_rest
from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.connectors.client_refusals import NothingFound, RefusedCall
from twinhive.federation.connectors.iceberg import IcebergCatalog, IcebergConnector
from twinhive.federation.connectors.responder import Responder
from twinhive.hive.wire.thrift_message import STOP, call, struct_field, text_field

PATH = "hdfs://east/lake/orders"


def _metadata(**properties: str) -> str:
    schema = Schema(
        NestedField(1, "ID", LongType(), required=True, doc="the key"),
        NestedField(2, "price", DecimalType(10, 2)),
        NestedField(3, "tags", ListType(4, StringType())),
        NestedField(5, "at", TimestamptzType()),
    )
    spec = PartitionSpec(PartitionField(5, 1000, DayTransform(), "at_day"))
    return new_table_metadata(
        schema, spec, SortOrder(order_id=0), PATH, {"owner": "ann", **properties}
    ).model_dump_json()


@pytest.fixture
def files() -> InMemoryFiles:
    return InMemoryFiles("hdfs://east")


@pytest.fixture
def catalog(files):
    return IcebergConnector(lambda _: files).catalog({"iceberg.table.path": PATH})


def test_a_table_by_its_path(files, catalog) -> None:
    files.write(f"{PATH}/metadata/00000-a.metadata.json", b"never read")
    files.write(f"{PATH}/metadata/00010-b.metadata.json", _metadata(a="b").encode())
    files.write(f"{PATH}/metadata/snap-1.avro", b"")
    found = catalog.table("local", "t")

    assert (found.database, found.name, found.owner, found.table_type) == ("local", "t", "ann", "EXTERNAL_TABLE")
    assert [(one.name, one.type, one.comment) for one in found.columns] == [
        ("id", "bigint", "the key"),
        ("price", "decimal(10,2)", None),
        ("tags", "array<string>", None),
        ("at", "timestamp with local time zone", None),
    ]
    assert found.partition_keys == ()
    assert found.storage.location == PATH
    assert found.storage.input_format == "org.apache.iceberg.mr.hive.HiveIcebergInputFormat"
    wanted = {"a": "b", "table_type": "ICEBERG", "EXTERNAL": "TRUE"}
    wanted["metadata_location"] = f"{PATH}/metadata/00010-b.metadata.json"
    wanted["storage_handler"] = "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
    assert wanted.items() <= found.parameters.items()


def test_a_newer_version_is_seen(files, catalog) -> None:
    files.write(f"{PATH}/metadata/v1.metadata.json", _metadata(version="1").encode())
    assert catalog.table("d", "t").parameters["version"] == "1"
    files.write(f"{PATH}/metadata/v2.gz.metadata.json", gzip.compress(_metadata(version="2").encode()))
    assert catalog.table("d", "t").parameters["version"] == "2"
    assert catalog.table("d", "u").name == "u"


def test_a_table_that_is_made_anew_is_seen_though_its_files_have_the_names_of_before(files, catalog) -> None:
    path = f"{PATH}/metadata/v2.metadata.json"
    files.write(path, _metadata(version="old").encode())
    before = catalog.table("d", "t").parameters
    files.delete_file(path)
    files.write(path, _metadata(version="new").encode())
    after = catalog.table("d", "t").parameters
    assert (before["version"], after["version"]) == ("old", "new")
    assert before["uuid"] != after["uuid"]


def test_a_metadata_file_may_be_named(files) -> None:
    one = f"{PATH}/metadata/00001-a.metadata.json"
    files.write(one, _metadata(version="1").encode())
    files.write(f"{PATH}/metadata/00002-a.metadata.json", _metadata(version="2").encode())
    catalog = IcebergConnector(lambda _: files).catalog({"iceberg.table.path": one})

    assert catalog.table("d", "t").parameters["version"] == "1"


def test_two_files_of_one_version_are_refused(files, catalog) -> None:
    for name in ("a", "b"):
        files.write(f"{PATH}/metadata/00002-{name}.metadata.json", _metadata().encode())
    with pytest.raises(RefusedCall, match=r"00002-a.*00002-b"):
        catalog.table("d", "t")


def test_a_path_without_a_table(files, catalog) -> None:
    with pytest.raises(NothingFound, match=r"no Iceberg table"):
        catalog.table("d", "t")
    with pytest.raises(NothingFound):
        IcebergConnector(lambda _: files).catalog({"iceberg.table.path": f"{PATH}/v1.metadata.json"}).table("d", "t")
    with pytest.raises(RefusedCall, match="one table"):
        catalog.table_names("d")


_TYPED = json.loads(_metadata())
_TYPED["format-version"] = 3
_TYPED["schemas"][0]["fields"][0]["type"] = "timestamp_ns"


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"{}",
            b"[]",
            b'{"format-version": 99}',
            b"\xff\xfe",
            b"\x1f\x8bnot gzip",
            b"[" * 100_000,
            b'{"a": NaN}',
        ),
        json.dumps({**json.loads(_metadata()), "current-schema-id": 7}).encode(),
        json.dumps(_TYPED).encode(),
    ],
)
def test_metadata_that_cannot_be_read_is_refused(files, catalog, content: bytes) -> None:
    files.write(f"{PATH}/metadata/v1.metadata.json", content)
    with pytest.raises(RefusedCall):
        catalog.table("d", "t")


def test_metadata_that_unpacks_endlessly_is_refused(files, catalog) -> None:
    files.write(f"{PATH}/metadata/v1.gz.metadata.json", gzip.compress(b" " * (70 << 20)))
    with pytest.raises(RefusedCall, match="too large"):
        catalog.table("d", "t")


def test_a_table_of_a_rest_catalog() -> None:
    location = f"{PATH}/metadata/00010-b.metadata.json"
    with iceberg_rest("sales", "orders", location, json.loads(_metadata(a="b"))) as uri:
        catalog = IcebergConnector(lambda _: None).catalog({"iceberg.catalog.uri": uri})
        assert catalog.database("sales").location == "s3://lake"
        assert catalog.database("sales").parameters == {"tier": "a"}
        assert catalog.database("none") is None
        assert catalog.table_names("sales") == ["orders"]
        assert catalog.table_names("none") == []
        assert catalog.table("sales", "none") is None
        assert catalog.table("sales", "orders").parameters["metadata_location"] == location
        body = struct_field(1, text_field(1, "sales") + text_field(2, "orders") + STOP) + STOP
        assert b"HiveIcebergSerDe" in Responder(catalog).answer(call("get_table_req", 1, body)).body
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        catalog.table("sales", "orders")
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        IcebergConnector(lambda _: None).catalog({"iceberg.catalog.uri": uri})


def test_a_catalog_of_the_configuration(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {
        "catalog": {"lake": {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}"}}
    }
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG.config", told)
    catalog = IcebergConnector(lambda _: None).catalog({"iceberg.catalog.name": "lake"})
    assert isinstance(catalog, IcebergCatalog)
    assert catalog.database("sales") is None
    catalog._catalog.create_namespace("sales")
    catalog._catalog.create_table("sales.orders", Schema(NestedField(1, "id", LongType())))

    assert catalog.database("sales").name == "sales"
    assert catalog.table_names("sales") == ["orders"]
    assert [one.type for one in catalog.table("sales", "orders").columns] == ["bigint"]
    assert catalog.partitions(catalog.table("sales", "orders")) == []


@pytest.mark.parametrize(
    "properties",
    [
        {"iceberg.catalog.name": "lake", "iceberg.catalog.uri": "http://evil"},
        {"iceberg.catalog.name": "lake", "iceberg.catalog.warehouse": "http://evil"},
        {"iceberg.catalog.uri": "file:///etc"},
        {"iceberg.catalog.uri": "https://allowed@evil/"},
        {"iceberg.catalog.uri": "https://evil\\@allowed/"},
        {"iceberg.catalog.uri": "http://a", "iceberg.catalog.py-io-impl": "os.system"},
        {"iceberg.table.path": "/no/scheme"},
        {"iceberg.table.path": "http://[a"},
    ],
)
def test_a_definition_says_no_more_than_it_may(properties: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings):
        IcebergConnector(lambda _: None).place(properties)


def test_the_path_of_seed_004_is_one() -> None:
    place = IcebergConnector(lambda _: None).place({"iceberg.table.path": "an-atomic-store:/tables/tbl_name"})

    assert place.addresses == ("an-atomic-store:/tables/tbl_name",)
