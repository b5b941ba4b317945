from dataclasses import replace
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.unit.hive.events.messages import (
    CHECKSUM,
    CMROOT,
    FUNCTION,
    GZIPPED,
    MESSAGES,
    PARTITION,
    PARTITION_STATISTICS,
    PLAIN,
    TABLE,
    TABLE_STATISTICS,
    WAREHOUSE,
    a_partition_struct,
    a_row,
    a_skewed_table_text,
    a_table_struct,
    tjson,
)
from twinhive.core.model.changes.kinds import (
    AddConstraints,
    AddPartitions,
    AlterDatabase,
    AlterPartitions,
    AlterTable,
    Change,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    DeleteStatistics,
    DropConstraint,
    DropDatabase,
    DropFunction,
    DropPartitions,
    DropTable,
    EventFile,
    Insert,
    NotReplicated,
    RenamePartition,
    UpdateStatistics,
)
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import TableKind
from twinhive.core.model.thrift_objects import fresh_table, read_database, read_function, read_partition, read_table
from twinhive.core.model.tjson import from_text
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.event_objects import partition_of
from twinhive.hive.events.event_types import KNOWN_TYPES, REASONS

ORDERS = TableName("sales", "orders")
A_FILE = EventFile(f"{WAREHOUSE}/orders/f", CHECKSUM, CMROOT, "")


def change_of(event_type: str, **changes: Any) -> Change:
    """Decode the usual message of a type with other values in some of its fields; None takes one out."""
    message = {key: value for key, value in {**MESSAGES[event_type], **changes}.items() if value is not None}
    return decode_event(a_row(message, event_type)).change


def a_table_of(text: str) -> Any:
    return read_table(from_text(text), text)


def a_partition_of(text: str) -> Any:
    return read_partition(from_text(text), text)


EXPECTED: dict[str, Change] = {
    "DROP_DATABASE": DropDatabase("sales"),
    "CREATE_FUNCTION": CreateFunction(read_function(from_text(FUNCTION), FUNCTION)),
    "DROP_FUNCTION": DropFunction("sales", "sum2"),
    "CREATE_TABLE": CreateTable(a_table_of(TABLE), (A_FILE,)),
    "DROP_TABLE": DropTable(a_table_of(TABLE)),
    "ALTER_TABLE": AlterTable(a_table_of(TABLE), a_table_of(tjson(a_table_struct("purchases")))),
    "INSERT": Insert(a_table_of(TABLE), a_partition_of(PARTITION), (A_FILE,), replaces=True),
    "ALTER_PARTITION": AlterPartitions(
        a_table_of(TABLE), (a_partition_of(PARTITION),), truncates=True, before=(a_partition_of(PARTITION),)
    ),
    "ALTER_PARTITIONS": AlterPartitions(
        a_table_of(TABLE), (a_partition_of(PARTITION), a_partition_of(tjson(a_partition_struct("2")))), truncates=True
    ),
    "DROP_PARTITION": DropPartitions(a_table_of(TABLE), (("1",), ("a=b é",))),
    "ADD_PRIMARYKEY": AddConstraints(ORDERS, "primary_key", tuple(MESSAGES["ADD_PRIMARYKEY"]["primaryKeyListJson"])),
    "ADD_FOREIGNKEY": AddConstraints(
        TableName("sales", "items"), "foreign_key", tuple(MESSAGES["ADD_FOREIGNKEY"]["foreignKeyListJson"])
    ),
    "ADD_UNIQUECONSTRAINT": AddConstraints(
        ORDERS, "unique", tuple(MESSAGES["ADD_UNIQUECONSTRAINT"]["uniqueConstraintListJson"])
    ),
    "ADD_NOTNULLCONSTRAINT": AddConstraints(
        ORDERS, "not_null", tuple(MESSAGES["ADD_NOTNULLCONSTRAINT"]["notNullConstraintListJson"])
    ),
    "ADD_DEFAULTCONSTRAINT": AddConstraints(
        ORDERS, "default", tuple(MESSAGES["ADD_DEFAULTCONSTRAINT"]["defaultConstraintListJson"])
    ),
    "ADD_CHECKCONSTRAINT": AddConstraints(
        ORDERS, "check", tuple(MESSAGES["ADD_CHECKCONSTRAINT"]["checkConstraintListJson"])
    ),
    "DROP_CONSTRAINT": DropConstraint(ORDERS, "pk"),
    "UPDATE_TBL_COL_STAT_EVENT": UpdateStatistics(ORDERS, None, TABLE_STATISTICS),
    "UPDATE_PART_COL_STAT_EVENT": UpdateStatistics(ORDERS, ("1",), PARTITION_STATISTICS),
    "UPDATE_PART_COL_STAT_EVENT_BATCH": UpdateStatistics(ORDERS, ("1",), PARTITION_STATISTICS),
    "DELETE_TBL_COL_STAT_EVENT": DeleteStatistics(ORDERS, None, "id"),
    "DELETE_PART_COL_STAT_EVENT": DeleteStatistics(ORDERS, ("1",), None),
}


@pytest.mark.parametrize("message_format", [PLAIN, GZIPPED])
@pytest.mark.parametrize("event_type", sorted(EXPECTED))
def test_each_type_in_both_encodings(event_type: str, message_format: str) -> None:
    row = a_row(MESSAGES[event_type], event_type, message_format, event_id=2**53 + 1)
    event = decode_event(row)
    assert event.change == EXPECTED[event_type]
    assert (event.position, event.event_type, event.event_id) == (row.position, event_type, 2**53 + 1)


def test_every_event_type_of_hive_is_known() -> None:
    types = """
        CREATE_DATABASE DROP_DATABASE ALTER_DATABASE CREATE_TABLE DROP_TABLE ALTER_TABLE ADD_PARTITION DROP_PARTITION
        ALTER_PARTITION ALTER_PARTITIONS INSERT RELOAD CREATE_FUNCTION DROP_FUNCTION ADD_PRIMARYKEY ADD_FOREIGNKEY
        ADD_UNIQUECONSTRAINT ADD_NOTNULLCONSTRAINT ADD_DEFAULTCONSTRAINT ADD_CHECKCONSTRAINT DROP_CONSTRAINT
        CREATE_ISCHEMA ALTER_ISCHEMA DROP_ISCHEMA ADD_SCHEMA_VERSION ALTER_SCHEMA_VERSION DROP_SCHEMA_VERSION
        CREATE_CATALOG DROP_CATALOG ALTER_CATALOG CREATE_DATACONNECTOR DROP_DATACONNECTOR ALTER_DATACONNECTOR
        OPEN_TXN COMMIT_TXN ABORT_TXN ALLOC_WRITE_ID_EVENT ACID_WRITE_EVENT BATCH_ACID_WRITE_EVENT
        UPDATE_TBL_COL_STAT_EVENT DELETE_TBL_COL_STAT_EVENT UPDATE_PART_COL_STAT_EVENT
        UPDATE_PART_COL_STAT_EVENT_BATCH DELETE_PART_COL_STAT_EVENT COMMIT_COMPACTION_EVENT
    """
    assert set(types.split()) == KNOWN_TYPES.keys()


def test_databases() -> None:
    created = change_of("CREATE_DATABASE")
    assert isinstance(created, CreateDatabase)
    assert (created.database.name, created.database.parameters) == ("sales", {"a": "b"})
    altered = change_of("ALTER_DATABASE")
    assert isinstance(altered, AlterDatabase)
    assert (altered.before.comment, altered.after.comment) == ("old", "new")
    text = MESSAGES["ALTER_DATABASE"]["dbObjAfterJson"]
    assert altered.after == read_database(from_text(text), text)


def test_added_partitions_come_with_their_own_files() -> None:
    change = change_of("ADD_PARTITION")
    assert isinstance(change, AddPartitions)
    assert [(added.partition.values, added.files) for added in change.added] == [
        (("1",), (EventFile("hdfs://east/f", CHECKSUM, CMROOT, ""),)),
        (("a=b é",), ()),
    ]


def test_a_managed_partition_that_names_no_host_lies_where_its_table_does() -> None:
    owner = read_table(from_text(TABLE) | {"7": {"rec": {"2": {"str": "hdfs://east/t"}}}})
    for kind, expected in (("MANAGED_TABLE", "hdfs://east/x/p"), ("EXTERNAL_TABLE", "/x/p")):
        read = partition_of(replace(owner, table_type=kind, partition_keys=("p",)))
        tree = {"1": {"lst": ["str", 1, "1"]}, "6": {"rec": {"2": {"str": "/x/p"}}}}
        assert read(tree, "").location == expected


def test_files_of_added_partitions_are_found_by_name_and_not_by_place() -> None:
    files = [
        {"partitionName": "day=a%3Db é", "files": ["hdfs://east/second###"]},
        {"partitionName": "day=1", "files": ["hdfs://east/first###"]},
    ]
    change = change_of("ADD_PARTITION", partitionFiles=files)
    assert isinstance(change, AddPartitions)
    assert [added.files for added in change.added] == [
        (EventFile("hdfs://east/first"),),
        (EventFile("hdfs://east/second"),),
    ]


def test_partitions_of_external_tables_come_without_files() -> None:
    for change in (change_of("ADD_PARTITION", partitionFiles=None), change_of("ADD_PARTITION", partitionFiles=[])):
        assert isinstance(change, AddPartitions)
        assert [added.files for added in change.added] == [(), ()]


def test_other_values_after_than_before_are_a_rename() -> None:
    after = tjson(a_partition_struct("2"))
    change = change_of("ALTER_PARTITION", partitionObjAfterJson=after)
    assert change == RenamePartition(a_table_of(TABLE), a_partition_of(PARTITION), a_partition_of(after))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("true", True), ("TRUE", True), ("false", False), (True, True), (False, False), (None, False)],
)
def test_flags_are_texts(written: object, meant: bool) -> None:
    altered = change_of("ALTER_TABLE", isTruncateOp=written)
    assert isinstance(altered, AlterTable)
    assert altered.truncates is meant
    inserted = change_of("INSERT", replace=written)
    assert isinstance(inserted, Insert)
    assert inserted.replaces is meant


def test_insert_into_a_table_names_no_partition() -> None:
    row = a_row({**MESSAGES["INSERT"], "ptnObjJson": None}, "INSERT")
    change = decode_event(row).change
    assert isinstance(change, Insert)
    assert change.partition is None


def test_a_view_has_no_location_and_no_files() -> None:
    view = a_table_struct("late", tableType="VIRTUAL_VIEW", partitionKeys=[], viewOriginalText="select 1")
    change = change_of("CREATE_TABLE", tableObjJson=tjson(view), files=None)
    assert isinstance(change, CreateTable)
    assert (change.table.kind, change.table.location, change.files) == (TableKind.VIEW, None, ())


@pytest.mark.parametrize(
    ("entry", "file"),
    [
        ("hdfs://east/f#c#hdfs://east/cm#", EventFile("hdfs://east/f", "c", "hdfs://east/cm", "")),
        ("hdfs://east/f#c#hdfs://east/cm#delta_1/x", EventFile("hdfs://east/f", "c", "hdfs://east/cm", "delta_1/x")),
        ("hdfs://east/f##hdfs://east/cm#", EventFile("hdfs://east/f", None, "hdfs://east/cm", "")),
        ("hdfs://east/f###", EventFile("hdfs://east/f")),
        ("hdfs://east/f###sub", EventFile("hdfs://east/f", subdirectory="sub")),
        ("hdfs://east/f", EventFile("hdfs://east/f")),
        ("hdfs://east/a#b", EventFile("hdfs://east/a#b")),
        ("hdfs://east/a#b#c#cm#", EventFile("hdfs://east/a#b", "c", "cm", "")),
        ("hdfs://east/a]b %20 é#c#cm#", EventFile("hdfs://east/a]b %20 é", "c", "cm", "")),
    ],
)
def test_file_entries(entry: str, file: EventFile) -> None:
    change = change_of("INSERT", files=[entry])
    assert isinstance(change, Insert)
    assert change.files == (file,)


@pytest.mark.parametrize("message_format", [PLAIN, GZIPPED])
@pytest.mark.parametrize("value", ["日本 😀", "a#b", "x]y", 'q"\\', "a/b=c%", "\t\x01", " "])
def test_awkward_partition_values(value: str, message_format: str) -> None:
    partition = tjson(a_partition_struct(value))
    owner = {"db": "sales", "table": "orders", "tableObjJson": TABLE}
    message = {**owner, "partitions": [{"day": value}], "partitionListJson": [partition]}
    added = decode_event(a_row(message, "ADD_PARTITION", message_format)).change
    assert isinstance(added, AddPartitions)
    assert [entry.partition.values for entry in added.added] == [(value,)]
    dropped = decode_event(a_row(message, "DROP_PARTITION", message_format)).change
    assert isinstance(dropped, DropPartitions)
    assert dropped.values == ((value,),)


def test_names_are_in_lower_case() -> None:
    change = change_of("CREATE_TABLE", tableObjJson=tjson(a_table_struct("BestellungÄ", dbName="SALES")))
    assert isinstance(change, CreateTable)
    assert change.table.name == TableName("sales", "bestellungä")


def test_the_text_of_an_object_is_kept_with_fields_that_this_version_does_not_know() -> None:
    text = TABLE[:-1] + ',"999":{"str":"new"}}'
    change = change_of("DROP_TABLE", tableObjJson=text)
    assert isinstance(change, DropTable)
    assert change.table.thrift == text


def test_a_skewed_table_can_be_created_from_what_was_decoded() -> None:
    change = change_of("CREATE_TABLE", tableObjJson=a_skewed_table_text())
    assert isinstance(change, CreateTable)
    skewed = fresh_table(change.table)["7"]["rec"]["11"]["rec"]
    assert skewed["3"]["map"][3] == {
        '["str", 2, "é", "a\\"]:"]': "hdfs://east/1",
        '["str", 2, "2", "b"]': "hdfs://east/2",
    }


def test_statistics_of_one_column_or_of_all_are_deleted() -> None:
    assert change_of("DELETE_PART_COL_STAT_EVENT", colName="Id") == DeleteStatistics(ORDERS, ("1",), "id")
    assert change_of("DELETE_TBL_COL_STAT_EVENT", colName=None) == DeleteStatistics(ORDERS, None, None)


@pytest.mark.parametrize("event_type", sorted(REASONS))
def test_what_is_not_replicated_says_why(event_type: str) -> None:
    change = decode_event(a_row("not even read", event_type, database="Sales", table="Orders")).change
    assert isinstance(change, NotReplicated)
    assert change.table == ORDERS
    assert len(change.reason.split()) > 3


def test_transactions_concern_no_table() -> None:
    change = decode_event(a_row({"txnIds": []}, "OPEN_TXN", database=None, table=None)).change
    assert isinstance(change, NotReplicated)
    assert change.table is None


def test_an_unknown_type_is_refused_with_the_ways_on() -> None:
    with pytest.raises(ActNow) as caught:
        decode_event(a_row({}, "ALTER_UNIVERSE"))
    error = caught.value
    assert "event 7" in error.what and "ALTER_UNIVERSE" in error.what
    assert "sales.orders" in str(error.found)
    assert "twinhive skip-event <policy> 7 --reason" in str(error.next_step)
    assert "again=true" in str(error.next_step)


def test_constraint_fields_are_those_of_the_bindings() -> None:
    kinds = {
        ttypes.SQLPrimaryKey: (1, 2),
        ttypes.SQLUniqueConstraint: (2, 3),
        ttypes.SQLNotNullConstraint: (2, 3),
        ttypes.SQLDefaultConstraint: (2, 3),
        ttypes.SQLCheckConstraint: (2, 3),
    }
    for struct, ids in kinds.items():
        names = {spec[2]: spec[0] for spec in struct.thrift_spec if spec}
        assert (names["table_db"], names["table_name"]) == ids, struct.__name__
