"""Filters with LIKE as clients of before write it find what they mean on every version of the metastore."""

import time

import pytest

from twinhive.federation.connectors.struct_encoding import fields_of
from twinhive.hive.wire.old_filters import with_sql_wildcards
from twinhive.hive.wire.thrift_message import STOP, WireMessage, call, message_of, text_field


def _asked(text: str, method: str = "get_partitions_by_filter") -> WireMessage:
    return call(
        method, 7, text_field(1, "sales") + text_field(2, "t.*") + text_field(3, text) + b"\6\0\4\xff\xff" + STOP
    )


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ('day like "2026.*"', '(day like "2026.*" or day like "2026%")'),
        ("day LIKE '.*1.*' and hour = 1", "(day LIKE '.*1.*' or day like '%1%') and hour = 1"),
        ('(a like ".*x") or (b like ".*")', '((a like ".*x" or a like "%x")) or ((b like ".*" or b like "%"))'),
        ("day = 'a like \".*\"'", "day = 'a like \".*\"'"),
        ("day = 'it\\'s like ' and x like 'a.*'", "day = 'it\\'s like ' and (x like 'a.*' or x like 'a%')"),
        ("day like 'a%'", "day like 'a%'"),
        ("day like '.*", "day like '.*"),
        ("day like 'ä.*'", "(day like 'ä.*' or day like 'ä%')"),
    ],
)
def test_like_is_asked_both_ways(text: str, instead: str) -> None:
    sent = with_sql_wildcards(_asked(text))

    assert message_of(sent.raw) == sent
    assert sent.head == _asked(text).head
    assert fields_of(sent.raw, sent.at) == {1: b"sales", 2: b"t.*", 3: instead.encode(), 4: -1}


def test_other_calls_stay_as_they_are() -> None:
    asked = _asked('day like "2026.*"', "get_partition_names_ps")

    assert with_sql_wildcards(asked) is asked
    assert with_sql_wildcards(call("get_num_partitions_by_filter", 1)).body == STOP


@pytest.mark.parametrize("piece", ["'\\", "a", " ", "a like '\\", "a like ", "'", "\"'", "like\t"])
def test_time_grows_with_the_length_only(piece: str) -> None:
    began = time.process_time()
    with_sql_wildcards(_asked(".*" + piece * (400_000 // len(piece))))

    assert time.process_time() - began < 2
