"""Names of sets are one string for one set; what is kept of a mark is read as it was written."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import a_partition, a_table
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import DEFAULT_PARTITION, TableName
from twinhive.core.model.sets.set_mark import SetMark, is_expired, kept_seconds
from twinhive.core.model.sets.set_spec import SetSpec

TIME = "a time such as 2030-05-17 08:30:00, a fraction of a second without zeros at its end"
KEYS = {"Region": "string", "datestamp": "int", "property": "string"}
TEXTS = st.text(
    alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), min_size=1, max_size=9
)
MAPPINGS = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), TEXTS, max_size=4)
PLAIN = dict.fromkeys("dcab", "string")


def spec(**values: str) -> SetSpec:
    return SetSpec.of(values, KEYS)


def test_keys_are_sorted_and_in_lower_case() -> None:
    assert str(SetSpec.of({"REGION": "us", "dateStamp": "20110228"}, KEYS)) == "datestamp=20110228/region=us"
    assert str(SetSpec.of({}, KEYS)) == str(SetSpec.of({}, {})) == "*"


def test_values_are_escaped_as_hive_does() -> None:
    assert str(spec(region="a/b=c d:ü")) == "region=a%2Fb%3Dc d%3Aü"


@given(MAPPINGS, MAPPINGS)
def test_equal_sets_have_equal_names_and_no_others(one: dict[str, str], other: dict[str, str]) -> None:
    first, second = SetSpec.of(one, PLAIN), SetSpec.of(other, PLAIN)
    assert (str(first) == str(second)) == (one == other)
    assert SetSpec.parse(str(first), PLAIN) == first
    assert SetSpec.parse("/".join(reversed(str(first).split("/"))), PLAIN) == first


@given(MAPPINGS, st.lists(TEXTS, min_size=4, max_size=4))
def test_a_partition_of_a_set_is_of_every_broader_one(mapping: dict[str, str], values: list[str]) -> None:
    keys = list(PLAIN)
    one = SetSpec.of(mapping, PLAIN)
    there = [mapping.get(key, value) for key, value in zip(keys, values, strict=True)]
    assert one.matches(there, keys)
    assert all(broader.matches(there, keys) for broader in one.broader())
    assert one.broader()[0] == one and one.broader()[-1] == SetSpec()
    assert len(set(one.broader())) == 2 ** len(mapping)
    assert one.prefix_values(keys) == tuple(mapping.get(key, "") for key in keys)
    if mapping:
        key = min(mapping)
        other = [value if name != key else value + "x" for name, value in zip(keys, there, strict=True)]
        assert not one.matches(other, keys)


def test_of_many_keys_not_every_broader_set_is_named() -> None:
    keys = dict.fromkeys(string.ascii_lowercase[:8], "string")
    one = SetSpec.of(dict.fromkeys(keys, "1"), keys)
    assert [len(broader.pairs) for broader in one.broader()] == [8] + [7] * 8 + [1] * 8 + [0]


@pytest.mark.parametrize(
    ("keys", "text", "found", "expected"),
    [
        (KEYS, "datestamp=01", "01", "1"),
        (KEYS, "datestamp=today", "today", "a whole number"),
        (KEYS, "datestamp=3000000000", "3000000000", "a whole number from -2147483648 to 2147483647"),
        (KEYS, "day=1", "day", "datestamp, property, region"),
        (KEYS, "region=", "''", "a value; leave the key out where any will do"),
        (KEYS, "region", "'region'", "key=value/key=value, or *"),
        (KEYS, "", "''", "key=value/key=value, or *"),
        (KEYS, "region=a/REGION=b", "'REGION=b'", "one value"),
        ({}, "region=a", "region", "no keys: the table has no partitions, its only set is *"),
        ({"d": "date"}, "d=2030-5-17", "2030-5-17", "a date such as 2030-05-17"),
        ({"d": "date"}, "d=20300517", "20300517", "2030-05-17"),
        ({"b": "boolean"}, "b=TRUE", "TRUE", "true or false"),
        ({"c": "char(5)"}, "c=abcdefgh", "abcdefgh", "at most 5 characters"),
        ({"c": "VARCHAR(5)"}, "c=abcde ", "abcde ", "at most 5 characters"),
        ({"m": "decimal(10,2)"}, "m=1.50", "1.50", "1.5"),
        ({"m": "decimal(10, 2)"}, "m=1.0", "1.0", "1"),
        ({"m": "decimal(10,2)"}, "m=-0", "-0", "0"),
        ({"m": "decimal(10,2)"}, "m=+007.10", "+007.10", "7.1"),
        ({"m": "decimal(10,2)"}, "m=1e3", "1e3", "a decimal number"),
        ({"m": "decimal(10,2)"}, "m=.", ".", "a decimal number"),
        ({"m": "decimal(10,2)"}, "m=.5", ".5", "0.5"),
        ({"m": "decimal(10,2)"}, "m=much", "much", "a decimal number"),
        ({"m": "decimal(10,2)"}, "m=NaN", "NaN", "a decimal number"),
        ({"m": "decimal(10,2)"}, "m=1.505", "1.505", "at most 8 digits before the point, and 2 behind it"),
        ({"m": "decimal(4,2)"}, "m=123.5", "123.5", "at most 2 digits before the point, and 2 behind it"),
        ({"m": "decimal"}, "m=12345678901", "12345678901", "at most 10 digits before the point, and 0 behind it"),
        ({"d": "date"}, "d=2030-02-30", "2030-02-30", "a date such as 2030-05-17"),
        ({"t": "double"}, "t=fast", "fast", "a number"),
        ({"t": "timestamp"}, "t=2030-05-17T08:30:00", "2030-05-17T08:30:00", TIME),
        ({"t": "timestamp"}, "t=2030-05-17 08:30:00.50", "2030-05-17 08:30:00.50", TIME),
        ({"t": "timestamp"}, "t=2030-02-30 08:30:00", "2030-02-30 08:30:00", TIME),
        (KEYS, "region=" + "ü" * 130, "269 bytes, escaped", "at most 249 bytes, and 250 characters"),
    ],
)
def test_a_set_that_no_table_has_is_refused(keys: dict[str, str], text: str, found: str, expected: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        SetSpec.parse(text, keys)
    assert (refused.value.words.found, refused.value.words.expected) == (found, expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("char(5)", "abcde"),
        ("char(5)", "ab   "),
        ("char(5)", "abcde   "),
        ("varchar(2)", "日本"),
        ("decimal(10,2)", "-12345678.25"),
        ("decimal(10,2)", "0"),
        ("decimal(2,2)", "0.25"),
        ("decimal(12,0)", "100000000000"),
        ("decimal(38,18)", "12345678901234567890.123456789012345678"),
        ("timestamp", "2030-05-17 08:30:00"),
        ("timestamp", "2030-05-17 08:30:00.123456789"),
        ("double", "1.0E10"),
        ("double", "NaN"),
        ("string", " 01.50 "),
        ("array<int>", "anything"),
    ],
)
def test_a_value_that_hive_writes_so_is_taken(kind: str, value: str) -> None:
    assert SetSpec.of({"k": value}, {"k": kind}).pairs == (("k", value),)


def test_a_partition_without_a_value_has_any_type() -> None:
    assert SetSpec.of({"datestamp": DEFAULT_PARTITION}, KEYS).pairs == (("datestamp", DEFAULT_PARTITION),)


def a_mark(**more: object) -> SetMark:
    return SetMark(TableName("sales", "orders"), "p=1", 100, **more)  # type: ignore[arg-type]


def test_a_mark_is_read_as_it_was_written() -> None:
    marks = a_mark(by="ann", partitions=0, table_id=7, token="t1", note="é")
    for one in (marks, marks.again(a_mark(token="t2", table_id=7))):
        kept = a_partition(a_table("sales.twinhive_sets"), "orders", "p=1", location="x", parameters=one.parameters())
        assert SetMark.read(kept) == one


def test_tokens_that_were_counted_are_known_and_only_the_newest_are_kept() -> None:
    mark = a_mark(token="0")
    for number in range(1, 30):
        mark = mark.again(a_mark(token=str(number)))
    assert mark.count == 30 and all(mark.knows(str(number)) for number in range(9, 30))
    assert not mark.knows("new") and len(mark.earlier) == 20


def test_how_long_sets_are_kept() -> None:
    assert [kept_seconds(text) for text in ("2d", "3h", "4m", "5s", "forever")] == [172_800, 10_800, 240, 5, None]
    assert is_expired(a_mark(), "5s", 105) and not is_expired(a_mark(), "5s", 104.9)
    assert not is_expired(a_mark(), "forever", 1e12)
    with pytest.raises(InvalidSettings):
        kept_seconds("a week")
