import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinhive.core.model.names import TableName, default_directory, escape_path_name, partition_name, unescape_path_name


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        ("2013-01-01", "2013-01-01"),
        ("a b", "a b"),
        ("50%", "50%25"),
        ("a=b", "a%3Db"),
        ("a#b", "a%23b"),
        ("10:30", "10%3A30"),
        ("a/b", "a%2Fb"),
        ("{x}", "%7Bx}"),
        ("Zürich", "Zürich"),
        ("\t", "%09"),
        ("", "__HIVE_DEFAULT_PARTITION__"),
    ],
)
def test_partition_values_are_escaped_as_hive_does(value: str, escaped: str) -> None:
    assert escape_path_name(value) == escaped


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",)), min_size=1))
def test_unescaping_undoes_escaping(value: str) -> None:
    assert unescape_path_name(escape_path_name(value)) == value


def test_a_partition_name_has_lower_case_keys() -> None:
    assert partition_name(("Month", "Day"), ("1", "a/b")) == "month=1/day=a%2Fb"


def test_a_table_name_parses_and_prints_itself() -> None:
    assert str(TableName.parse("Sales.Orders")) == "sales.orders"


def test_the_default_directory_of_a_table_is_hives() -> None:
    assert default_directory("orders_1") == "orders_1"
    assert default_directory("A/b.c ü²\U0001f600") == "a-47-b-46-c-32-ü-178--55357--56832-"


def test_what_comes_after_the_first_dot_is_the_table() -> None:
    assert TableName.parse("sales.v1.2") == TableName("sales", "v1.2")
    assert TableName.parse("sales...") == TableName("sales", "..")


@pytest.mark.parametrize("text", ["orders", ".b", "a.", ""])
def test_what_is_not_a_table_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected database\.table"):
        TableName.parse(text)
