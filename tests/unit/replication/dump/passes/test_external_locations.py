"""Seed 001's list of external locations as a file."""

from base64 import b64encode

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import TableName
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.external_locations import decode_locations, encode_locations

EVENTS = TableName("sales", "events")


def test_a_line_is_a_name_a_comma_and_the_uri_in_base64() -> None:
    content = encode_locations([Entry(EVENTS, "", "hdfs://east/data/events")])
    assert content == b"sales.events," + b64encode(b"hdfs://east/data/events") + b"\n"


def test_awkward_names_and_locations_come_back() -> None:
    entries = [
        Entry(EVENTS, "", "hdfs://east/a, b/Zürich\n"),
        Entry(EVENTS, "p=a, b/q=Zoë\u2028\x85", "hdfs://east/x"),
        Entry(TableName("sales", "other"), "", "hdfs://east/y"),
        Entry(TableName("sales", "a/b.c"), "", "hdfs://east/z"),
        Entry(TableName("sales", "a"), "b.c", "hdfs://east/z"),
        Entry(TableName("sales", ".."), "p=1/q=a%2Fb", "hdfs://east/z"),
    ]
    assert list(decode_locations(encode_locations(entries))) == entries
    assert encode_locations([]) == b""
    assert list(decode_locations(b"")) == []


@pytest.mark.parametrize("line", [b"sales.events", b"events,aGRmcw==", b"sales.events,%%%"])
def test_a_line_that_is_none_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidSettings, match="external locations"):
        list(decode_locations(line + b"\n"))
