"""How Hive writes values of partition keys: a set of a value that is written otherwise would be another set."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime

_TYPE = re.compile(r"(\w+)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?")
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d{0,8}[1-9])?")
_PLAIN_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?")
_DECIMAL_DIGITS = 10
"""Of a decimal whose type says nothing."""


def expected_form(value: str, kind: str) -> str | None:
    """Say how a value of a type is written, None if it is one that a partition can have."""
    match = _TYPE.fullmatch(kind.lower())
    if match is None:
        return None
    name, length, scale = match[1], int(match[2] or 0), int(match[3] or 0)
    if name in ("char", "varchar"):
        return _text(value.rstrip(" ") if name == "char" else value, length)
    if name == "decimal":
        return _decimal(value, length or _DECIMAL_DIGITS, scale)
    if name in _BITS:
        return _whole_number(value, _BITS[name])
    check = _CHECKS.get(name)
    return None if check is None else check(value)


def _text(value: str, length: int) -> str | None:
    return f"at most {length} characters" if length and len(value) > length else None


def _decimal(value: str, precision: int, scale: int) -> str | None:
    """Zeros at the end are not written, nor a sign of zero."""
    match = _PLAIN_DECIMAL.fullmatch(value)
    if match is None:
        return "a decimal number"
    whole, fraction = match[2].lstrip("0"), (match[3] or "").rstrip("0")
    if len(whole) > precision - scale or len(fraction) > scale:
        return f"at most {precision - scale} digits before the point, and {scale} behind it"
    sign = "-" if match[1] == "-" and (whole or fraction) else ""
    written = f"{sign}{whole or '0'}{'.' if fraction else ''}{fraction}"
    return None if written == value else written


def _whole_number(value: str, bits: int) -> str | None:
    try:
        number = int(value)
    except ValueError:
        return "a whole number"
    limit = 2 ** (bits - 1)
    if not -limit <= number < limit:
        return f"a whole number from {-limit} to {limit - 1}"
    return None if value == str(number) else str(number)


def _number(value: str) -> str | None:
    try:
        float(value)
    except ValueError:
        return "a number"
    return None


def _date(value: str) -> str | None:
    try:
        written = date.fromisoformat(value).isoformat()
    except ValueError:
        return "a date such as 2030-05-17"
    return None if written == value else written


def _timestamp(value: str) -> str | None:
    expected = "a time such as 2030-05-17 08:30:00, a fraction of a second without zeros at its end"
    match = _TIMESTAMP.fullmatch(value)
    try:
        return None if match and datetime.fromisoformat(match[1]) else expected
    except ValueError:
        return expected


def _truth(value: str) -> str | None:
    return None if value in ("true", "false") else "true or false"


_CHECKS: Mapping[str, Callable[[str], str | None]] = {
    "date": _date,
    "timestamp": _timestamp,
    "boolean": _truth,
    "float": _number,
    "double": _number,
}
