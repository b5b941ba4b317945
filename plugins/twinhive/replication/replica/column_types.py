"""Which columns a metastore lets a table get in one call: Hive's `ColumnType.areColTypesCompatible`, one by one."""

import re
from dataclasses import replace

from twinhive.core.model.objects import Table

_STRINGS = frozenset({"string", "varchar", "char"})
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
_TIMES = frozenset({"date", "datetime", "timestamp"})
_PRIMITIVES = _STRINGS | {*_NUMBERS} | _TIMES | {"void", "boolean", "binary"}
_PRIMITIVES |= {"interval_year_month", "interval_day_time"}
_NAME = re.compile(r"\w*")


def with_columns_that_stay(there: Table, after: Table) -> Table | None:
    """Return a table with its columns before the first that a metastore does not let become another's in one call.

    From there it lets the table get all columns of `after`. None where one call does, as far as types go.
    """
    pairs = zip(there.columns, after.columns, strict=False)
    for number, ((_, old), (_, new)) in enumerate(pairs):
        if not may_become(old, new):
            return replace(there, columns=there.columns[:number])
    return None


def may_become(old: str, new: str) -> bool:
    """Tell whether a metastore lets a column of one type get another; what is between brackets is not looked at."""
    before, after = _name(old), _name(new)
    if before == after:
        return True
    if before not in _PRIMITIVES or after not in _PRIMITIVES:
        return False
    if before in _NUMBERS and after in _NUMBERS:
        return _NUMBERS.index(before) < _NUMBERS.index(after)
    return before == "void" or (after in _STRINGS and (before in _STRINGS or before in _NUMBERS or before in _TIMES))


def _name(column_type: str) -> str:
    found = _NAME.match(column_type.lower())
    return found[0] if found else ""
