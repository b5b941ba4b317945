"""No message, however broken, may end in anything but a change or an error for people."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.hive.events.messages import (
    GZIPPED,
    MESSAGES,
    PARTITION,
    TABLE,
    a_partition_struct,
    a_row,
    a_table_struct,
    tjson,
    zipped,
)
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.errors import ActNow
from twinhive.hive.events.decoder import decode_event

NAMELESS = tjson(a_table_struct(tableName=""))
TWO_VALUES = tjson(a_partition_struct("1", "2"))
OTHER_CONSTRAINT = '{"1": {"str": "sales"}, "2": {"str": "items"}}'

WRONG_FIELDS: list[tuple[str, str, Any]] = [
    ("CREATE_DATABASE", "dbJson", "{}"),
    ("CREATE_DATABASE", "dbJson", '{"1": {"str": "sales"}, "4": {"map": ["str", "i32", 1, {"a": 1}]}}'),
    ("ALTER_DATABASE", "dbObjBeforeJson", None),
    ("DROP_DATABASE", "db", ""),
    ("DROP_DATABASE", "db", 7),
    ("CREATE_FUNCTION", "functionObjJson", '{"1": {"str": "f"}, "2": {"str": "sales"}}'),
    ("DROP_FUNCTION", "functionName", None),
    ("CREATE_TABLE", "tableObjJson", None),
    ("CREATE_TABLE", "tableObjJson", ""),
    ("CREATE_TABLE", "tableObjJson", "{"),
    ("CREATE_TABLE", "tableObjJson", TABLE[:-1]),
    ("CREATE_TABLE", "tableObjJson", {"1": {"str": "orders"}}),
    ("CREATE_TABLE", "tableObjJson", NAMELESS),
    (
        "CREATE_TABLE",
        "tableObjJson",
        TABLE.replace('"rec",1,{"1":{"str":"day"},"2":{"str":"string"}}', '"str",1,"day"'),
    ),
    ("CREATE_TABLE", "tableObjJson", TABLE.replace('{"k":"v"}', '{"k":null}')),
    ("CREATE_TABLE", "files", "hdfs://east/f###"),
    ("CREATE_TABLE", "files", [7]),
    ("CREATE_TABLE", "files", ["#c#cm#"]),
    ("ALTER_TABLE", "tableObjAfterJson", None),
    ("ALTER_TABLE", "isTruncateOp", "perhaps"),
    ("ALTER_TABLE", "isTruncateOp", []),
    ("INSERT", "files", None),
    ("INSERT", "replace", 1),
    ("INSERT", "ptnObjJson", "{}"),
    ("INSERT", "ptnObjJson", ""),
    ("INSERT", "ptnObjJson", TWO_VALUES),
    ("ADD_PARTITION", "partitionListJson", None),
    ("ADD_PARTITION", "partitionListJson", PARTITION),
    ("ADD_PARTITION", "partitionListJson", [TWO_VALUES]),
    ("ADD_PARTITION", "partitionFiles", ["day=1"]),
    ("ADD_PARTITION", "partitionFiles", [{"partitionName": "day=3", "files": []}]),
    ("ALTER_PARTITION", "partitionObjBeforeJson", None),
    ("ALTER_PARTITION", "partitionObjAfterJson", '{"1": {"lst": ["i32", 1, 7]}}'),
    ("ALTER_PARTITIONS", "partitionListJson", [{"day": "1"}]),
    ("DROP_PARTITION", "partitions", None),
    ("DROP_PARTITION", "partitions", [{}]),
    ("DROP_PARTITION", "partitions", [{"day": None}]),
    ("DROP_PARTITION", "partitions", [{"day": "1", "hour": "2"}]),
    ("ADD_PRIMARYKEY", "primaryKeyListJson", []),
    ("ADD_PRIMARYKEY", "primaryKeyListJson", ["{}"]),
    ("ADD_PRIMARYKEY", "primaryKeyListJson", [OTHER_CONSTRAINT, OTHER_CONSTRAINT.replace("items", "orders")]),
    ("ADD_FOREIGNKEY", "foreignKeyListJson", [OTHER_CONSTRAINT]),
    ("DROP_CONSTRAINT", "constraintName", None),
    ("UPDATE_TBL_COL_STAT_EVENT", "colStatsJson", "{}"),
    ("UPDATE_PART_COL_STAT_EVENT", "partVals", None),
    ("DELETE_PART_COL_STAT_EVENT", "partValues", "day=1"),
    ("DELETE_TBL_COL_STAT_EVENT", "colName", 7),
]


@pytest.mark.parametrize(("event_type", "key", "value"), WRONG_FIELDS)
def test_a_wrong_field_names_event_and_field(event_type: str, key: str, value: Any) -> None:
    row = a_row({**MESSAGES[event_type], key: value}, event_type)
    with pytest.raises(ActNow, match=rf"event 7 \({event_type}\)") as caught:
        decode_event(row)
    assert key.removesuffix("Json") in str(caught.value.found)
    assert "twinhive skip-event <policy> 7 --reason" in str(caught.value.next_step)


def test_files_of_a_partition_without_a_name_are_refused() -> None:
    message = {**MESSAGES["ADD_PARTITION"], "partitionFiles": [{"files": []}]}
    with pytest.raises(ActNow, match="partitionName"):
        decode_event(a_row(message, "ADD_PARTITION"))


@pytest.mark.parametrize("event_type", ["DELETE_TBL_COL_STAT_EVENT", "DELETE_PART_COL_STAT_EVENT"])
def test_deleted_statistics_of_no_table_are_refused(event_type: str) -> None:
    with pytest.raises(ActNow, match="event 7"):
        decode_event(a_row(MESSAGES[event_type], event_type, table=None))


@pytest.mark.parametrize("event_type", sorted(MESSAGES))
def test_cut_messages_are_refused(event_type: str) -> None:
    text = a_row(MESSAGES[event_type]).message
    with pytest.raises(ActNow):
        decode_event(a_row(text[:-1], event_type))
    with pytest.raises(ActNow):
        decode_event(a_row(zipped(text)[:-8], event_type, GZIPPED))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["{}", "[]", "{", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def mutated(data: st.DataObject, value: Any) -> Any:
    """Replace, remove or double one part of a JSON value, also inside JSON that is a text."""
    if isinstance(value, str) and value.startswith("{") and data.draw(st.booleans()):
        return json.dumps(mutated(data, json.loads(value, strict=False)))
    if isinstance(value, dict | list) and value and data.draw(st.integers(0, 3)):
        parts: list[Any] = sorted(value) if isinstance(value, dict) else list(range(len(value)))
        place = data.draw(st.sampled_from(parts))
        changed = value.copy()
        if data.draw(st.integers(0, 9)) == 0:
            del changed[place]
        else:
            changed[place] = mutated(data, value[place])
        return changed
    return data.draw(JSON)


@pytest.mark.thorough
@settings(max_examples=400, database=None)
@given(data=st.data(), event_type=st.sampled_from(sorted(MESSAGES)))
def test_mutated_messages_are_decoded_or_refused(data: st.DataObject, event_type: str) -> None:
    message = json.dumps(mutated(data, MESSAGES[event_type]))
    try:
        assert isinstance(decode_event(a_row(message, event_type)), Event)
    except ActNow as error:
        assert "event 7" in error.what


@settings(max_examples=200, database=None)
@given(
    message=st.text(st.characters(exclude_categories=["Cs"])),
    event_type=st.sampled_from(sorted(MESSAGES)),
    message_format=st.sampled_from(["json-0.2", GZIPPED, "other"]),
)
def test_any_text_is_decoded_or_refused(message: str, event_type: str, message_format: str) -> None:
    with pytest.raises(ActNow):
        decode_event(a_row(message, event_type, message_format))
