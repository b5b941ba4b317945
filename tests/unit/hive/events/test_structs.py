import json

import pytest
from hive_metastore import ttypes

from tests.unit.hive.events.messages import PARTITION, a_skewed_table_text
from twinhive.core.model.tjson import from_text
from twinhive.hive.adapters.hive.thrift_json import struct_of
from twinhive.hive.events.structs import parse_json, parse_struct


def test_text_that_is_json_stays_as_it_is() -> None:
    tree, text = parse_struct(PARTITION)
    assert text == PARTITION
    assert tree == from_text(PARTITION)


def test_lists_as_keys_become_strings_that_read_back_as_the_same_struct() -> None:
    with pytest.raises(ValueError):
        json.loads(a_skewed_table_text())
    tree, text = parse_struct(a_skewed_table_text())
    assert from_text(text) == tree
    skewed = struct_of(ttypes.Table, tree).sd.skewedInfo
    assert skewed.skewedColValueLocationMaps == {
        ("é", 'a"]:'): "hdfs://east/1",
        ("2", "b"): "hdfs://east/2",
    }
    assert skewed.skewedColValues == [["é", 'a"]:'], ["2", "b"]]


def test_a_string_that_looks_like_a_list_as_a_key_stays_a_string() -> None:
    key = '{["str",1,"x"]:{"str":"y"}}'
    text = '{"1":{"str":' + json.dumps(key) + '},"2":{"map":["lst","str",1,{["str",1,"a"]:"b"}]}}'
    tree, _ = parse_struct(text)
    assert tree["1"] == {"str": key}
    assert list(tree["2"]["map"][3]) == ['["str", 1, "a"]']


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"x"',
        "[" * 100_000,
        '{"1": "orders"}',
        '{"1": {}}',
        '{"1": {"str": "a", "i32": 1}}',
        '{"1": {"str": 7}}',
        '{"1": {"i64": "7"}}',
        '{"1": {"i32": true}}',
        '{"1": {"rec": []}}',
        '{"1": {"lst": {}}}',
        '{"1": {"lst": ["str"]}}',
        '{"1": {"lst": ["str", 1, 7]}}',
        '{"1": {"lst": [7, 0]}}',
        '{"1": {"map": ["str", "str", 1]}}',
        '{"1": {"map": ["str", "str", 1, ["a"]]}}',
        '{"1": {"map": ["str", "str", 1, {"a": 7}]}}',
        '{"1": {"rec": {"2": {"lst": ["rec", 1, {"3": {"str": null}}]}}}}',
        '{"1": {"str": "\\ud800"}}',
        '{"1": {"map": ["lst", "str", 1, {["str", 1, "a]: "b"}]}}',
    ],
)
def test_what_is_no_struct_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_struct(text)


def test_types_that_this_version_does_not_know_are_kept() -> None:
    text = '{"99": {"uid": [1]}, "5": {"dbl": "NaN"}, "6": {"tf": 1}, "7": {"dbl": 0.5}}'
    assert parse_struct(text) == (json.loads(text), text)


def test_a_whole_surrogate_pair_is_text() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "😀"
