"""The files of Hive's layout, byte for byte as Hive 4.1 writes them."""

import json

import pytest

from tests.support.builders import a_policy
from tests.support.hive import metastore_objects as objects
from tests.unit.hive.events.messages import MESSAGES, a_row
from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.changes.kinds import EventFile, Insert
from twinhive.core.model.errors import ActNow
from twinhive.core.model.objects import Table
from twinhive.core.model.tjson import from_text, to_text
from twinhive.hive.events.decoder import decode_event
from twinhive.hive.events.structs import parse_struct
from twinhive.statements.interop.hive_dump.dump_metadata import Description, EventsCount
from twinhive.statements.interop.hive_dump.event_reading import EventReading
from twinhive.statements.interop.hive_dump.event_writing import EventWriting
from twinhive.statements.interop.hive_dump.file_lines import decode_entries, decode_entry, encode_files
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_layout import hive_directory
from twinhive.statements.interop.hive_dump.hive_structs import table_text
from twinhive.statements.interop.hive_dump.object_descriptions import Spec, encode_table

CMROOT = "hdfs://east/warehouse/.cmroot"
CHECKSUM = "000002000000000000000000b2dff596e964e6a62953b794c29f95c3"


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (
            b"BOOTSTRAP\t8\t8\thdfs://east/warehouse/.cmroot\t0\tNULL\tfalse\nx_0\n",
            Description("BOOTSTRAP", 8, 8, CMROOT, database="x_0"),
        ),
        (
            b"INCREMENTAL\t71\t86\thdfs://east/warehouse/.cmroot\t0\tNULL\ttrue\nx_63\to.*\toutside\n",
            Description("INCREMENTAL", 71, 86, CMROOT, None, True, "x_63", "o.*", "outside"),
        ),
        (
            b'EVENT_DROP_CONSTRAINT\t36\t36\thdfs://east/warehouse/.cmroot\t0\t{"dbName":"x_0"}\tfalse\n',
            Description("EVENT_DROP_CONSTRAINT", 36, 36, CMROOT, '{"dbName":"x_0"}'),
        ),
    ],
)
def test_descriptions_of_dumps_and_events(content: bytes, description: Description) -> None:
    assert description.encode() == content
    assert Description.decode(content, "_dumpmetadata") == description


def test_the_count_of_events() -> None:
    content = b'{"lastReplId":40,"eventsDumpedCount":31,"eventsBatched":true}'
    assert EventsCount(40, 31, in_batches=True).encode() == content
    assert EventsCount.decode(content, "_events_dump") == EventsCount(40, 31, in_batches=True)


def test_lists_of_files() -> None:
    path = "hdfs://east/warehouse/managed/x.db/t/below/f"
    file = SourceFile(path, relative="below/f", checksum=CHECKSUM)
    bare = SourceFile(path, relative="below/f")
    content = encode_files([file, bare], CMROOT)
    assert content.decode() == f"{path}#{CHECKSUM}#{CMROOT}#below\n{path}###below\n"
    assert [decode_entry(entry) for entry in decode_entries(content, "_files")] == [
        EventFile(path, CHECKSUM, CMROOT, "below"),
        EventFile(path, None, None, "below"),
    ]


def test_a_dump_lies_where_hive_looks_for_it() -> None:
    assert hive_directory("hdfs://west/repl", "X_0", "token") == "hdfs://west/repl/eF8w/twinhive-token"


@pytest.mark.parametrize(
    ("include", "exclude", "patterns"),
    [
        ((".*",), (), (None, None)),
        (("o.*",), (), ("o.*", None)),
        ((".*",), ("tmp.*",), (".*", "tmp.*")),
        (("a|b", "c"), ("x", "y"), ("(?:a|b)|(?:c)", "(?:x)|(?:y)")),
        ((), (), ("(?!)", None)),
    ],
)
def test_many_patterns_are_one_to_hive(include: tuple, exclude: tuple, patterns: tuple) -> None:
    assert Terms(a_policy(include=include, exclude=exclude), CMROOT, lambda function: {}).patterns == patterns


def test_texts_of_any_alphabet_are_written_in_ascii_and_come_back() -> None:
    table = objects.a_table("sales", "orders", parameters={"comment": "Zoë 日本 \x01"})
    described = encode_table(Spec("all", "replv2", 7), table_text(table, 7))
    assert described.isascii()
    tree, _ = parse_struct(json.loads(described)["table"])
    assert tree["9"]["map"][3] == {"comment": "Zoë 日本 \x01", "repl.last.id": "7"}


def test_keys_of_maps_that_are_lists_are_written_as_thrift_writes_them() -> None:
    table = objects.a_table("sales", "orders")
    tree = from_text(table.thrift)
    tree["7"]["rec"]["11"] = {"rec": {"3": {"map": ["lst", "str", 1, {'["str", 1, "ü"]': "hdfs://east/skewed"}]}}}
    skewed = Table(**{**vars(table), "thrift": to_text(tree)})
    text = table_text(skewed, 7)
    assert '{"map":["lst","str",1,{["str", 1, "ü"]:"hdfs://east/skewed"}]}' in text
    read, _ = parse_struct(text)
    assert read["7"]["rec"]["11"] == tree["7"]["rec"]["11"]


def as_hive_writes_it(text: str) -> bytes:
    """Keep the low byte of each character, as Java's `DataOutputStream.writeBytes` does."""
    return bytes(ord(char) & 0xFF for char in text)


def event(kind: str, message: dict, **files: bytes) -> EventRow:
    payload = json.dumps(message, ensure_ascii=False)
    described = as_hive_writes_it(f"{kind}\t7\t7\t{CMROOT}\t0\t{payload}\tfalse\n")
    content = {"hdfs://west/e/7/_dumpmetadata": described}
    row = EventReading(7, "hdfs://west/e/7", content.__getitem__).row()
    assert isinstance(row, EventRow)
    return row


TABLE = objects.a_table("sales", "orders", ("p",))  # with a comment that Hive does not keep


def test_the_drop_of_a_table_whose_comment_hive_has_broken_is_followed() -> None:
    message = {"db": "sales", "table": "orders", "tableType": "MANAGED_TABLE", "tableObjJson": TABLE.thrift}
    change = decode_event(event("EVENT_DROP_TABLE", message)).change
    assert change.table.name == TABLE.name


def test_the_drop_of_partitions_of_such_a_table_is_followed_and_of_a_broken_partition_is_not() -> None:
    message = {"db": "sales", "table": "orders", "tableObjJson": TABLE.thrift, "partitions": [{"p": "1"}]}
    assert decode_event(event("EVENT_DROP_PARTITION", message)).change.values == (("1",),)
    with pytest.raises(ActNow, match="EVENT_DROP_PARTITION"):
        event("EVENT_DROP_PARTITION", {**message, "partitions": [{"p": "ü"}]})


def test_the_truncation_of_one_such_partition_takes_its_rows_away() -> None:
    partition = objects.a_partition(TABLE, "1", location="hdfs://east/warehouse/orders/p=1")
    tree = from_text(partition.thrift) | {"1": {"lst": ["str", 1, "1"]}, "2": {"str": "sales"}, "3": {"str": "orders"}}
    message = {
        "db": "sales",
        "table": "orders",
        "tableObjJson": TABLE.thrift,
        "isTruncateOp": "true",
        "partitionListJson": [to_text(tree)],
    }
    change = decode_event(event("EVENT_TRUNCATE_PARTITION", message)).change
    assert isinstance(change, Insert)
    assert (change.partition.values, change.files, change.replaces) == (("1",), (), True)
    with pytest.raises(ActNow, match="EVENT_TRUNCATE_PARTITION"):
        event("EVENT_TRUNCATE_PARTITION", {**message, "partitionListJson": [to_text(tree)] * 2})


@pytest.mark.parametrize("letter", ["ü", "日", "上", "\u0122"], ids=["latin", "a low byte", "a line's end", "a quote"])
def test_a_message_that_shows_that_hive_has_broken_it_is_refused(letter: str) -> None:
    after = {"db": "sales", "dbObjBeforeJson": "{}", "dbObjAfterJson": to_text({"1": {"str": f"a{letter}\x80b"}})}
    with pytest.raises(ActNow):
        event("EVENT_ALTER_DATABASE", after)


def test_an_event_without_effect_on_the_replica_leaves_no_directory() -> None:
    writing = EventWriting(CMROOT, lambda table: True, lambda function: ())
    assert writing.content(a_row({}, "OPEN_TXN", table=None, database=None)) == {}


@pytest.mark.parametrize("event_type", sorted(MESSAGES))
def test_an_event_is_written_or_refused_as_what_it_is(event_type: str) -> None:
    writing = EventWriting(CMROOT, lambda table: True, lambda function: ())
    try:
        writing.content(a_row(MESSAGES[event_type], event_type))
    except ActNow as error:
        assert ("the end of the database" in str(error)) == (event_type == "DROP_DATABASE")


def test_a_type_that_is_not_written_for_hive_is_named() -> None:
    writing, name = EventWriting(CMROOT, lambda table: True, lambda function: ()), "UPDATE_PART_COL_STAT_EVENT_BATCH"
    with pytest.raises(ActNow, match=f"the type {name}, which is not written into a dump for Hive"):
        writing.content(a_row(MESSAGES[name], name))
