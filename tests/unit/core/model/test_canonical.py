"""What may differ between two sides is named here once more, field by field of Hive's own bindings."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes
from hypothesis import given
from hypothesis import strategies as st
from thrift.Thrift import TType

from tests.support.builders import a_policy, a_table
from tests.support.hive.metastore_objects import CONSTRAINT_KINDS, a_storage_descriptor
from twinhive.core.model.constraints import FIELDS, constraints_of
from twinhive.core.model.marks import Stamp
from twinhive.core.model.thrift_objects import read_database, read_function, read_partition, read_table
from twinhive.core.model.tjson import to_text
from twinhive.hive.adapters.hive.thrift_json import struct_of, tree_of
from twinhive.replication.comparison import canonical_form
from twinhive.replication.replica.replica_locations import TablePlacement, replica_parameters

SCALARS = (TType.STRING, TType.I32, TType.I64, TType.BOOL)
STAMP = Stamp("log", 7)
STRUCTS = {
    "primary_key": ttypes.SQLPrimaryKey,
    "foreign_key": ttypes.SQLForeignKey,
    "unique": ttypes.SQLUniqueConstraint,
    "not_null": ttypes.SQLNotNullConstraint,
    "default": ttypes.SQLDefaultConstraint,
    "check": ttypes.SQLCheckConstraint,
}


def a_struct(struct: Any, **fields: Any) -> Any:
    """Return a struct of which every text, number and truth is set."""
    return struct(**{name: _anything(spec) for spec in filter(None, struct.thrift_spec) if (name := spec[2])} | fields)


def _anything(spec: Any) -> Any:
    return {TType.STRING: "one", TType.I32: 5, TType.I64: 5, TType.BOOL: True}.get(spec[1])


def another(value: Any) -> Any:
    return {"one": "two", 5: 6, True: False}[value]


def storage(**fields: Any) -> Any:
    descriptor = struct_of(ttypes.StorageDescriptor, a_storage_descriptor())
    descriptor.location = "hdfs://east/t"
    for name, value in fields.items():
        setattr(descriptor, name, value)
    return descriptor


CASES = [
    (
        ttypes.Database,
        lambda struct: canonical_form.canonical_database(read_database(tree_of(struct))),
        {"parameters": {"a": "b"}},
        "name locationUri managedLocationUri createTime catalogName",
    ),
    (
        ttypes.Table,
        lambda struct: canonical_form.canonical_table(read_table(tree_of(struct))),
        {"parameters": {"a": "b"}, "sd": storage(), "partitionKeys": [ttypes.FieldSchema("p", "string")]},
        "dbName createTime lastAccessTime temporary catName writeId isStatsCompliant id txnId",
    ),
    (
        ttypes.Partition,
        lambda struct: canonical_form.canonical_partition(read_partition(tree_of(struct))),
        {"parameters": {"a": "b"}, "sd": storage(), "values": ["1"]},
        "dbName tableName createTime lastAccessTime catName writeId isStatsCompliant",
    ),
    (
        ttypes.Function,
        lambda struct: canonical_form.canonical_function(read_function(tree_of(struct))),
        {"resourceUris": [ttypes.ResourceUri(1, "hdfs://east/jars/a.jar")]},
        "dbName createTime catName",
    ),
]


@pytest.mark.parametrize(("struct", "form", "fields", "left_out"), CASES)
def test_each_field_counts_but_those_that_each_side_has_of_its_own(
    struct: Any, form: Any, fields: Any, left_out: str
) -> None:
    whole = a_struct(struct, **fields)
    names = [spec[2] for spec in filter(None, struct.thrift_spec) if spec[1] in SCALARS]
    same = {name for name in names if form(whole) == form(_changed(whole, name))}
    assert same == set(left_out.split())


def _changed(struct: Any, name: str) -> Any:
    changed = struct_of(type(struct), tree_of(struct))
    setattr(changed, name, another(getattr(struct, name)))
    return changed


@pytest.mark.parametrize("kind", sorted(STRUCTS))
def test_each_field_of_a_constraint_counts_but_databases_and_catalogs(kind: str) -> None:
    whole = a_struct(STRUCTS[kind])

    def form(struct: Any) -> Any:
        return canonical_form.canonical_constraints(constraints_of(kind, [to_text(tree_of(struct))]))

    names = [spec[2] for spec in filter(None, STRUCTS[kind].thrift_spec)]
    same = {name for name in names if form(whole) == form(_changed(whole, name))}
    assert same == {name for name in names if name.endswith("_db") or name == "catName"}


@pytest.mark.parametrize("kind", CONSTRAINT_KINDS)
def test_names_of_fields_are_those_of_the_bindings(kind: str) -> None:
    struct = a_struct(STRUCTS[kind])
    ((_, columns),) = canonical_form.canonical_constraints(constraints_of(kind, [to_text(tree_of(struct))]))[
        kind
    ].items()
    assert {name: getattr(struct, name) for name in columns[0]} == columns[0]
    assert columns[0][struct.thrift_spec[int(FIELDS[kind].name)][2]] == "one"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_names_are_those_of_the_bindings(case: Any) -> None:
    struct, form, fields, _ = case
    whole = a_struct(struct, **fields)
    for name, value in form(whole).items():
        if isinstance(value, str | int):
            assert getattr(whole, name) == value


def test_fields_that_nobody_knows_count() -> None:
    tree = tree_of(a_struct(ttypes.Table, sd=storage()))
    known, other = (canonical_form.canonical_table(read_table({**tree, "99": {"str": text}})) for text in ("a", "b"))
    assert known["field 99"] == "a"
    assert known != other


def test_what_is_not_set_equals_what_is_empty() -> None:
    bare = read_table(tree_of(ttypes.Table(tableName="t", dbName="d", sd=storage())))
    full = ttypes.Table(tableName="t", dbName="d", sd=storage(bucketCols=[], skewedInfo=ttypes.SkewedInfo([], [], {})))
    full.retention, full.partitionKeys, full.ownerType = 0, [], ttypes.PrincipalType.USER
    assert canonical_form.canonical_table(bare) == canonical_form.canonical_table(read_table(tree_of(full)))


@pytest.mark.parametrize(
    ("path", "is_told"), [("hdfs://east/t", False), ("hdfs://east/t/", False), ("hdfs://east/tx", True)]
)
def test_the_path_of_spark_is_a_place(path: str, is_told: bool) -> None:
    descriptor = storage()
    descriptor.serdeInfo.parameters = {"path": path, "field.delim": ","}
    form = canonical_form.canonical_table(read_table(tree_of(ttypes.Table(tableName="t", dbName="d", sd=descriptor))))
    assert ("path" in form["sd"]["serdeInfo"]["parameters"]) is is_told
    assert form["sd"]["serdeInfo"]["parameters"]["field.delim"] == ","


def of_skewed(places: dict[tuple[str, ...], str], location: str = "hdfs://east/t") -> Any:
    descriptor = storage(location=location, skewedInfo=ttypes.SkewedInfo(["a"], [list(one) for one in places], places))
    return canonical_form.canonical_table(read_table(tree_of(ttypes.Table(tableName="t", dbName="d", sd=descriptor))))


def test_of_directories_of_skewed_values_the_place_below_the_location_counts() -> None:
    form = of_skewed({("1",): "hdfs://east/t/a=1"})
    assert form == of_skewed({("1",): "hdfs://west/s/a=1"}, "hdfs://west/s")
    assert form == of_skewed({("1",): "hdfs://east/before a rename/a=1"})
    assert form != of_skewed({("1",): "hdfs://east/t/b=1"})
    assert form != of_skewed({("2",): "hdfs://east/t/a=1"})
    assert form != of_skewed({})


def test_marks_times_and_statistics_do_not_count_and_all_other_parameters_do() -> None:
    said = {"a": "b", "last_modified_by": "ann", "comment": ""}
    own = {"twinhive.stamp": "x", "repl.last.id": "4", "transient_lastDdlTime": "9", "TRANSLATED_TO_EXTERNAL": "TRUE"}
    counted = {"numFiles": "3", "numRows": "4", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    assert canonical_form.spoken({**said, **own, **counted}) == said
    assert canonical_form.statistics({**said, **own, **counted}) == counted


def test_statistics_leave_out_the_claim_for_columns() -> None:
    claims = json.dumps({"BASIC_STATS": "true", "COLUMN_STATS": {"id": "true"}})
    assert canonical_form.statistics({"COLUMN_STATS_ACCURATE": claims}) == canonical_form.statistics(
        {"COLUMN_STATS_ACCURATE": json.dumps({"BASIC_STATS": "true"})}
    )
    assert canonical_form.statistics({"COLUMN_STATS_ACCURATE": json.dumps({"COLUMN_STATS": {"id": "true"}})}) == {}


texts = st.text(max_size=6)


@given(parameters=st.dictionaries(texts, texts, max_size=4), comment=texts)
def test_a_table_that_was_placed_on_a_replica_has_the_form_of_its_source(
    parameters: dict[str, str], comment: str
) -> None:
    places = {("1",): "hdfs://east/t/a=1", (comment,): f"hdfs://east/t/{comment}", ("3",): "hdfs://east/before/a=3"}
    descriptor = storage(skewedInfo=ttypes.SkewedInfo(["a"], [list(values) for values in places], places))
    descriptor.serdeInfo.parameters = {"path": "hdfs://east/t"}
    descriptor.cols[0].comment = comment
    source = read_table(tree_of(ttypes.Table(tableName="t", dbName="sales", sd=descriptor, parameters=parameters)))
    placed = TablePlacement.plan(source, a_policy(), "hdfs://west/m", "hdfs://west/b", STAMP)
    assert canonical_form.canonical_table(placed.replica) == canonical_form.canonical_table(source)
    assert replica_parameters(parameters, STAMP) != parameters


def test_columns_and_their_comments_count() -> None:
    table = a_table()
    assert canonical_form.canonical_table(table) != canonical_form.canonical_table(
        replace(table, columns=(("id", "bigint"),))
    )


@given(st.recursive(texts, lambda some: st.dictionaries(texts, some, max_size=3), max_leaves=5))
def test_text_is_the_same_in_any_order(form: Any) -> None:
    turned = dict(reversed(list(form.items()))) if isinstance(form, dict) else form
    assert canonical_form.canonical_text(form) == canonical_form.canonical_text(turned)
