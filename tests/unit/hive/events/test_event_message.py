import base64
import gzip
import json
import tracemalloc

import pytest

from tests.unit.hive.events.messages import a_row, zipped
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.hive.events import event_message
from twinhive.hive.events.event_message import decode_message, names_touched


def a_table_object(database: str, table: str) -> str:
    return json.dumps({"1": {"str": table}, "2": {"str": database}, "9": {"map": ["str", "str", 0, {}]}})


def a_rename(old: tuple[str, str], new: tuple[str, str]) -> EventRow:
    message = {
        "db": old[0],
        "table": old[1],
        "tableObjBeforeJson": a_table_object(*old),
        "tableObjAfterJson": a_table_object(*new),
    }
    return a_row(message, "ALTER_TABLE", database=new[0], table=new[1])


@pytest.mark.parametrize("message_format", ["json-0.2", "JSON-0.2"])
def test_plain(message_format: str) -> None:
    assert decode_message(a_row('{"db": "Zoë 日本"}', message_format=message_format)) == {"db": "Zoë 日本"}


@pytest.mark.parametrize("message_format", ["gzip(json-2.0)", "GZIP(JSON-2.0)", "gzip"])
def test_gzipped(message_format: str) -> None:
    row = a_row(zipped('{"db": "Zoë 😀"}'), message_format=message_format)
    assert decode_message(row) == {"db": "Zoë 😀"}


def test_control_characters_that_hive_leaves_unescaped() -> None:
    assert decode_message(a_row('{"delimiter": "a\x01\tb"}')) == {"delimiter": "a\x01\tb"}


@pytest.mark.parametrize(
    ("message", "message_format"),
    [
        ("{", "json-0.2"),
        ("[1]", "json-0.2"),
        ("", "json-0.2"),
        ("{}", "gzip(json-2.0)"),
        (base64.b64encode(b"no gzip").decode(), "gzip(json-2.0)"),
        (base64.b64encode(gzip.compress(b'{"a": 1}')[:-9]).decode(), "gzip(json-2.0)"),
        (base64.b64encode(gzip.compress(b'{"a": 1}')[:10] + b"\xff" * 20).decode(), "gzip(json-2.0)"),
        (base64.b64encode(gzip.compress(b'"\xff"')).decode(), "gzip(json-2.0)"),
        ('{"a": "\\ud83d"}', "json-0.2"),
        ("[" * 100_000, "json-0.2"),
        ("é", "gzip(json-2.0)"),
        ("{}", "protobuf"),
    ],
)
def test_broken_messages_name_the_event(message: str, message_format: str) -> None:
    with pytest.raises(ActNow, match=r"event 7 \(CREATE_TABLE\)"):
        decode_message(a_row(message, message_format=message_format))


def test_names_come_from_the_row() -> None:
    assert names_touched(a_row("not even read", database="Sales", table="Orders")) == {TableName("sales", "orders")}
    assert names_touched(a_row({}, "CREATE_DATABASE", table=None)) == frozenset()
    assert names_touched(a_row({}, "OPEN_TXN", database=None, table=None)) == frozenset()


def test_rename_touches_both_names() -> None:
    row = a_rename(("sales", "orders"), ("sales", "purchases"))
    assert names_touched(row) == {TableName("sales", "orders"), TableName("sales", "purchases")}


def test_rename_to_another_database_touches_both_databases() -> None:
    row = a_rename(("sales", "orders"), ("archive", "orders"))
    assert names_touched(row) == {TableName("sales", "orders"), TableName("archive", "orders")}


def test_alter_without_rename_touches_one_name() -> None:
    assert names_touched(a_rename(("sales", "orders"), ("sales", "orders"))) == {TableName("sales", "orders")}


def test_the_names_of_an_alter_do_not_depend_on_its_objects() -> None:
    """Hive's own TJSON of a skewed table is not valid JSON; it must not stop other databases' policies."""
    message = {"db": "sales", "table": "orders", "tableObjBeforeJson": "{", "tableObjAfterJson": "{"}
    assert TableName("sales", "orders") in names_touched(a_row(message, "ALTER_TABLE"))


def test_foreign_key_touches_both_tables() -> None:
    key = json.dumps({"1": {"str": "sales"}, "2": {"str": "orders"}, "4": {"str": "sales"}, "5": {"str": "items"}})
    row = a_row({"foreignKeyListJson": [key]}, "ADD_FOREIGNKEY")
    assert names_touched(row) == {TableName("sales", "orders"), TableName("sales", "items")}


@pytest.mark.parametrize(
    ("event_type", "message"),
    [
        ("ALTER_TABLE", {"table": "orders"}),
        ("ALTER_TABLE", {"db": ["sales"], "table": "orders"}),
        ("ADD_FOREIGNKEY", {}),
        ("ADD_FOREIGNKEY", {"foreignKeyListJson": 7}),
        ("ADD_FOREIGNKEY", {"foreignKeyListJson": [{}]}),
        ("ADD_FOREIGNKEY", {"foreignKeyListJson": ['{"5": {"str": "items"}}']}),
        ("ADD_FOREIGNKEY", {"foreignKeyListJson": ['{"4": {"i32": 1}, "5": {"str": "items"}}']}),
    ],
)
def test_names_that_cannot_be_told_name_the_event(event_type: str, message: dict[str, object]) -> None:
    with pytest.raises(ActNow, match=rf"event 7 \({event_type}\)"):
        names_touched(a_row(message, event_type))


def test_a_message_beyond_all_bounds_is_not_opened_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_message, "MOST_BYTES", 1_000)
    fits, too_long = "{}" + " " * 998, '{"db": "' + "é" * 500 + '"}'
    for text, packed in ((fits, zipped(fits)), (too_long, zipped(too_long))):
        for row in (a_row(text, event_id=77), a_row(packed, event_id=77, message_format="gzip(json-2.0)")):
            if text == fits:
                assert decode_message(row) == {}
                continue
            with pytest.raises(ActNow, match=r"event 77 .*cannot be read") as refusal:
                decode_message(row)
            assert "more than 1,000 bytes" in str(refusal.value) and "skip-event" in str(refusal.value)


def test_no_more_is_unpacked_than_shows_that_a_message_is_too_long() -> None:
    tracemalloc.start()
    monstrous = base64.b64encode(gzip.compress(bytes(2**26), 1)).decode()
    before = tracemalloc.get_traced_memory()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_message, "MOST_BYTES", 2**16)
        with pytest.raises(ActNow):
            decode_message(a_row(monstrous, message_format="gzip(json-2.0)"))
    grown = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert grown < 2**22
