import json
from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support.builders import a_partition, a_table
from tests.support.hive.metastore_objects import a_storage_descriptor, skewed
from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database, Function, Partition, TableKind
from twinhive.core.model.tjson import from_text, to_text
from twinhive.hive.adapters.hive.thrift_json import struct_of, tree_of


def a_table_struct(**changes: Any) -> ttypes.Table:
    fields = {
        "tableName": "Orders",
        "dbName": "Sales",
        "sd": ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("id", "int", "the id"), ttypes.FieldSchema("note", "string")],
            location="hdfs://east/warehouse/orders/",
            serdeInfo=ttypes.SerDeInfo(parameters={"unknown": "kept"}),
        ),
        "partitionKeys": [ttypes.FieldSchema("day", "date", "the day")],
        "parameters": {"a": "b"},
        "tableType": "MANAGED_TABLE",
    }
    return ttypes.Table(**{**fields, **changes})


@pytest.mark.parametrize(
    ("struct", "names"),
    [
        (
            ttypes.Database,
            "name description locationUri parameters privileges ownerName ownerType catalogName createTime "
            "managedLocationUri type connector_name remote_dbname",
        ),
        (
            ttypes.Table,
            "tableName dbName owner createTime lastAccessTime retention sd partitionKeys parameters "
            "viewOriginalText viewExpandedText tableType privileges temporary rewriteEnabled creationMetadata "
            "catName ownerType writeId isStatsCompliant colStats accessType requiredReadCapabilities "
            "requiredWriteCapabilities id fileMetadata dictionary txnId",
        ),
        (
            ttypes.Partition,
            "values dbName tableName createTime lastAccessTime sd parameters privileges catName writeId "
            "isStatsCompliant colStats fileMetadata",
        ),
        (
            ttypes.Function,
            "functionName dbName className ownerName ownerType createTime functionType resourceUris catName",
        ),
        (ttypes.ResourceUri, "resourceType uri"),
    ],
)
def test_field_ids_are_those_of_the_bindings(struct: Any, names: str) -> None:
    assert [(spec[0], spec[2]) for spec in struct.thrift_spec if spec] == list(enumerate(names.split(), start=1))


def test_table_is_read_from_its_tree() -> None:
    tree = tree_of(a_table_struct())
    table = objects.read_table(tree)
    assert table.name == TableName("sales", "orders")
    assert table.kind is TableKind.MANAGED
    assert table.location == "hdfs://east/warehouse/orders"
    assert table.partition_keys == ("day",)
    assert table.columns == (("id", "int"), ("note", "string"))
    assert table.parameters == {"a": "b"}
    assert from_text(table.thrift) == tree


def test_the_text_of_a_message_is_kept_as_it_is() -> None:
    text = ' {"1": {"str": "t"}, "2": {"str": "d"}, "999": {"i32": 1}} '
    assert objects.read_table(from_text(text), text).thrift == text


def test_view_has_no_location() -> None:
    assert objects.read_table(tree_of(a_table_struct(tableType="VIRTUAL_VIEW"))).location is None


def test_fields_are_put_back_and_everything_else_stays() -> None:
    before = objects.read_table(tree_of(a_table_struct()))
    moved = before.at(TableName("twin", "purchases"), "hdfs://west/p").with_parameters({"c": "d"})
    tree = objects.fresh_table(moved)
    assert objects.read_table(tree) == replace(moved, thrift=to_text(tree))
    expected = tree_of(
        a_table_struct(tableName="purchases", dbName="twin", parameters={"c": "d"}),
    )
    expected["7"]["rec"]["2"] = {"str": "hdfs://west/p"}
    kept = {key: value for key, value in expected.items() if key in tree}
    assert tree == kept


def test_what_belongs_to_the_source_metastore_is_dropped() -> None:
    struct = a_table_struct(
        id=77,
        writeId=9,
        txnId=5,
        catName="other",
        privileges=ttypes.PrincipalPrivilegeSet(userPrivileges={}),
        creationMetadata=ttypes.CreationMetadata(catName="hive"),
        accessType=1,
        viewOriginalText="select 1",
        owner="anna",
    )
    tree = objects.fresh_table(objects.read_table(tree_of(struct)))
    assert set(tree) == {"1", "2", "3", "7", "8", "9", "10", "12", "18"}


def test_changed_columns_keep_comments_and_key_types() -> None:
    table = objects.read_table(tree_of(a_table_struct()))
    changed = replace(table, columns=(("id", "bigint"), ("new", "string")))
    tree = objects.fresh_table(changed)
    assert tree["7"]["rec"]["1"]["lst"][2:] == [
        {"1": {"str": "id"}, "2": {"str": "bigint"}, "3": {"str": "the id"}},
        {"1": {"str": "new"}, "2": {"str": "string"}},
    ]
    assert tree["8"]["lst"][2:] == [{"1": {"str": "day"}, "2": {"str": "date"}, "3": {"str": "the day"}}]


def test_table_without_thrift_is_made_of_its_fields() -> None:
    table = a_table(partition_keys=("p",), parameters={"x": "y"})
    assert replace(objects.read_table(objects.fresh_table(table)), thrift="{}") == table


def test_partition_without_thrift_is_made_of_its_fields() -> None:
    partition = a_partition(a_table(partition_keys=("p", "q")), "é", "a=b", parameters={"x": "y"})
    assert replace(objects.read_partition(objects.fresh_partition(partition)), thrift="{}") == partition


def test_partition_is_put_into_another_table() -> None:
    struct = ttypes.Partition(
        values=["1"],
        dbName="Sales",
        tableName="Orders",
        sd=ttypes.StorageDescriptor(location="hdfs://east/p=1", serdeInfo=ttypes.SerDeInfo(parameters={"u": "k"})),
        catName="other",
        writeId=4,
        isStatsCompliant=True,
    )
    before = objects.read_partition(tree_of(struct))
    tree = objects.fresh_partition(before.at(TableName("twin", "t"), "hdfs://west/p=1"))
    assert set(tree) == {"1", "2", "3", "6", "7"}
    after = objects.read_partition(tree)
    assert (after.table, after.values, after.location) == (TableName("twin", "t"), ("1",), "hdfs://west/p=1")
    assert tree["6"]["rec"]["7"] == {"rec": {"3": {"map": ["str", "str", 1, {"u": "k"}]}}}


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({}, {}),
        ({"numFiles": "1"}, {"numFiles": "1"}),
        ({"numFiles": "1", "totalSize": "2"}, {"numFiles": "1", "totalSize": "2", "numFilesErasureCoded": "0"}),
        (
            {"numFiles": "1", "totalSize": "2", "numFilesErasureCoded": "1"},
            {"numFiles": "1", "totalSize": "2", "numFilesErasureCoded": "1"},
        ),
    ],
)
def test_statistics_of_a_partition_are_completed(given: dict[str, str], written: dict[str, str]) -> None:
    partition = a_partition(a_table(partition_keys=("p",)), "1", parameters=given)
    assert objects.read_partition(objects.fresh_partition(partition)).parameters == written


def test_database_goes_there_and_back() -> None:
    struct = ttypes.Database(
        name="sales",
        description="Verkäufe",
        locationUri="hdfs://east/sales.db/",
        managedLocationUri="hdfs://east/m/sales.db",
        parameters={"a": "b"},
        ownerName="anna",
        ownerType=1,
        catalogName="other",
        createTime=5,
    )
    database = objects.read_database(tree_of(struct))
    assert (database.comment, database.owner) == ("Verkäufe", "anna")
    assert (database.location, database.managed_location) == ("hdfs://east/sales.db", "hdfs://east/m/sales.db")
    assert set(objects.fresh_database(database)) == {"1", "2", "3", "4", "6", "7", "10"}


def test_database_without_locations_leaves_them_to_the_metastore() -> None:
    tree = objects.fresh_database(Database("sales", None, None, {}, json.dumps({"3": {"str": "hdfs://east/x"}})))
    assert tree == {"1": {"str": "sales"}, "4": {"map": ["str", "str", 0, {}]}}


def a_function_struct() -> ttypes.Function:
    jar, file = ttypes.ResourceUri(1, "hdfs://east/j.jar"), ttypes.ResourceUri(2, "hdfs://east/é.txt")
    return ttypes.Function("Sum2", "Sales", "org.Sum2", "anna", 1, 5, 1, [jar, file], "other")


def test_function_is_read_from_its_tree() -> None:
    function = objects.read_function(tree_of(a_function_struct()), "text")
    resources = ("hdfs://east/j.jar", "hdfs://east/é.txt")
    assert function == Function("sales", "sum2", "org.Sum2", resources, "text")


def test_function_goes_to_another_database_with_its_resources() -> None:
    function = objects.read_function(tree_of(a_function_struct()))
    tree = objects.fresh_function(
        function.at("twin", ("hdfs://west/j.jar", "hdfs://west/é.txt", "hdfs://west/new.jar"))
    )
    assert set(tree) == {"1", "2", "3", "4", "5", "7", "8"}
    struct = struct_of(ttypes.Function, tree)
    assert (struct.dbName, struct.functionName, struct.ownerName) == ("twin", "sum2", "anna")
    assert [(resource.resourceType, resource.uri) for resource in struct.resourceUris] == [
        (1, "hdfs://west/j.jar"),
        (2, "hdfs://west/é.txt"),
        (1, "hdfs://west/new.jar"),
    ]


def test_function_without_thrift_is_made_of_its_fields() -> None:
    tree = objects.fresh_function(Function("sales", "f", "org.F", ("hdfs://east/j.jar",), "{}"))
    jar = ttypes.ResourceUri(1, "hdfs://east/j.jar")
    assert struct_of(ttypes.Function, tree) == ttypes.Function(
        "f", "sales", "org.F", functionType=1, resourceUris=[jar]
    )


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        ("hdfs://east/w/t/p=1", "hdfs://west/w/t/p=1"),
        ("hdfs://east/w/t", "hdfs://west/w/t"),
        ("hdfs://east/w/t/", "hdfs://west/w/t"),
        ("hdfs://east/elsewhere", "hdfs://east/elsewhere"),
    ],
)
def test_the_path_that_spark_believes_before_the_location_moves_with_it(path: str, moved: str) -> None:
    serde = {"3": {"map": ["str", "str", 2, {"path": path, "compression": "snappy"}]}}
    tree = {"6": {"rec": {"2": {"str": "hdfs://east/w/t/p=1"}, "7": {"rec": serde}}}}
    partition = objects.read_partition({**tree, "1": {"lst": ["str", 1, "1"]}})

    fresh = objects.fresh_partition(partition.at(TableName("s", "t"), "hdfs://west/w/t/p=1"))

    options = fresh["6"]["rec"]["7"]["rec"]["3"]["map"][3]
    assert options == {"path": moved, "compression": "snappy"}


EAST = "hdfs://east/w/t/p=1"
WEST = "hdfs://west/twin/p=1"


def _skewed(places: dict[tuple[str, ...], str], location: str | None = EAST) -> Partition:
    descriptor = skewed(a_storage_descriptor(), ("a", "B"), places)
    tree = {"6": {"rec": descriptor | ({"2": {"str": location}} if location else {})}}
    return objects.read_partition({**tree, "1": {"lst": ["str", 1, "1"]}})


def _said_places(partition: Partition) -> dict[str, str]:
    return objects.fresh_partition(partition)["6"]["rec"]["11"]["rec"]["3"]["map"][3]


@pytest.mark.parametrize(
    ("place", "moved"),
    [
        (f"{EAST}/a=1/b=x y", f"{WEST}/a=1/b=x y"),
        (f"{EAST}/by hand/", f"{WEST}/by hand"),
        ("hdfs://east/w/old/p=1/a=1", f"{WEST}/a=1/b=x%2Fy"),
        (f"{EAST}0/a=1", f"{WEST}/a=1/b=x%2Fy"),
        (f"{EAST}/../p=2", f"{WEST}/a=1/b=x%2Fy"),
        (EAST, f"{WEST}/a=1/b=x%2Fy"),
        ("", f"{WEST}/a=1/b=x%2Fy"),
    ],
)
def test_directories_of_skewed_values_move_with_the_location_and_never_lead_to_the_source(
    place: str, moved: str
) -> None:
    partition = _skewed({("1", "x/y"): place})
    assert list(_said_places(partition.at(TableName("s", "t"), WEST)).values()) == [moved]
    assert list(_said_places(partition).values()) == [place], "what does not move is left as people have made it"


def test_directories_of_skewed_values_go_where_nobody_says_the_location() -> None:
    assert _said_places(_skewed({("1",): f"{EAST}/a=1"}).at(TableName("s", "t"), None)) == {}
    of_none = _skewed({("1",): f"{EAST}/a=1", ("1", "2", "3"): "/"}, None).at(TableName("s", "t"), WEST)
    assert list(_said_places(of_none).values()) == [f"{WEST}/a=1", f"{WEST}/a=1/b=2"]
