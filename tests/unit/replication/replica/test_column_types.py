"""A metastore's rule of which types a column may get; `test_metastore_changes_contract` holds it to the server."""

from dataclasses import replace

import pytest

from tests.support.builders import a_table
from twinhive.replication.replica.column_types import may_become, with_columns_that_stay

TABLE = a_table("sales.t")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int", "int"),
        ("int", "BIGINT"),
        ("decimal(10,2)", "decimal(3,1)"),
        ("int", "decimal (10, 2)"),
        ("double", "varchar(3)"),
        ("date", "string"),
        ("void", "binary"),
        ("struct<a:int>", "struct<b:map<string,int>>"),
        ("variant", "variant"),
    ],
)
def test_types_that_a_column_may_get(old: str, new: str) -> None:
    assert may_become(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("string", "int"),
        ("bigint", "int"),
        ("float", "decimal(10,2)"),
        ("date", "timestamp"),
        ("boolean", "string"),
        ("binary", "string"),
        ("void", "array<int>"),
        ("struct<a:int>", "string"),
        ("array<int>", "map<int,int>"),
        ("string", "variant"),
    ],
)
def test_types_that_it_may_not_get(old: str, new: str) -> None:
    assert not may_become(old, new)


def test_columns_stay_up_to_the_first_that_may_not() -> None:
    there = replace(TABLE, columns=(("a", "int"), ("b", "string"), ("c", "int")))
    begun = with_columns_that_stay(there, replace(there, columns=(("x", "bigint"), ("b", "int"), ("c", "int"))))
    assert begun == replace(there, columns=(("a", "int"),))
    assert with_columns_that_stay(there, replace(there, columns=(("a", "int"),))) is None
    assert with_columns_that_stay(there, replace(there, columns=(*there.columns, ("d", "date")))) is None
