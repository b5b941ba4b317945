"""Which partitions a filter lets through: judged here, or as an expression that Glue judges first."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final, assert_never

from twinhive.core.model.names import DEFAULT_PARTITION
from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.filters import AllOf, AnyOf, KeyTest, Literal, PartitionFilter
from twinhive.federation.connectors.like_patterns import java_like, like

_WHOLE: Final = frozenset({"tinyint", "smallint", "int", "integer", "bigint"})
_JAVA: Final = ".*"
_TEXTS: Final = ("string", "varchar", "char")
_COMPARED: Final = {
    **{"=": lambda a, b: a == b, "<>": lambda a, b: a != b},
    **{"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b},
}


def lets_through(filter_: PartitionFilter, values: Mapping[str, str], types: Mapping[str, str]) -> bool:
    """Say whether a partition's values pass. Raises RefusedCall for an unknown key or another type."""
    match filter_:
        case AllOf(parts):
            return all(lets_through(part, values, types) for part in parts)
        case AnyOf(parts):
            return any(lets_through(part, values, types) for part in parts)
        case KeyTest():
            return _passes(filter_, values, types)
        case _:
            assert_never(filter_)


def check_filter(filter_: PartitionFilter, types: Mapping[str, str]) -> None:
    """Refuse a filter that cannot be judged, whatever partitions there are. Raises RefusedCall."""
    if not isinstance(filter_, KeyTest):
        for part in filter_.parts:
            check_filter(part, types)
        return
    if filter_.key not in types:
        raise RefusedCall(
            "a filter names no partition key", found=filter_.key, expected=", ".join(types) or "no key at all"
        )
    for literal in filter_.literals:
        _typed_literal(filter_, literal, types[filter_.key])


def glue_expression(filter_: PartitionFilter, types: Mapping[str, str]) -> str | None:
    """Return an expression for Glue that lets at least the same through, None where that is everything."""
    match filter_:
        case AllOf(parts):
            there = [text for part in parts if (text := glue_expression(part, types)) is not None]
            return " AND ".join(f"({text})" for text in there) or None
        case AnyOf(parts):
            texts = [glue_expression(part, types) for part in parts]
            return None if None in texts else " OR ".join(f"({text})" for text in texts)
        case KeyTest():
            return _glue_test(filter_, types[filter_.key])
        case _:
            assert_never(filter_)


def _passes(test: KeyTest, values: Mapping[str, str], types: Mapping[str, str]) -> bool:
    value, kind = values[test.key], types[test.key]
    if value == DEFAULT_PARTITION and not kind.startswith(_TEXTS):
        return False  # of texts the metastore compares this name as any other
    literals = [_typed_literal(test, literal, kind) for literal in test.literals]
    ours = _value_as(kind, value)
    if ours is None:
        return False
    if test.operator == "like":
        is_like = _is_surely_like if test.is_negated else _is_like
        return is_like(str(ours), str(literals[0])) is not test.is_negated
    return _judged(test.operator, ours, literals) is not test.is_negated


def _judged(operator: str, ours: Literal, literals: list[Literal]) -> bool:
    if operator == "in":
        return ours in literals
    compared: Mapping[str, Callable[[Literal, Literal], bool]] = _COMPARED
    if operator == "between":
        return compared[">="](ours, literals[0]) and compared["<="](ours, literals[1])
    return compared[operator](ours, literals[0])


def _is_like(text: str, pattern: str) -> bool:
    """Match LIKE, also as clients of before write it: `d1.*`.

    Of that the metastore finds nothing; who asks for too little loses rows, who gets too much filters again.
    """
    return like(text, pattern) or (_JAVA in pattern and java_like(text, pattern))


def _is_surely_like(text: str, pattern: str) -> bool:
    """Match LIKE in each way that a client may have meant it: NOT LIKE keeps back nothing else."""
    return like(text, pattern) and (_JAVA not in pattern or java_like(text, pattern))


def _value_as(kind: str, value: str) -> Literal | None:
    """Return a partition's value as it is compared, None for one that is none of its type."""
    if kind not in _WHOLE:
        return value
    return int(value) if re.fullmatch(r"[+-]?\d{1,40}", value) else None


def _typed_literal(test: KeyTest, literal: Literal, kind: str) -> Literal:
    """Return a literal in the type of its key. As Hive does, a number is not compared with texts.

    Keys of other types, a decimal say, would be compared as texts, and lose partitions: Hive refuses them too.
    """
    is_known = kind in _WHOLE or kind == "date" or kind.startswith(_TEXTS)
    if test.operator == "like" and is_known:
        return str(literal)
    if kind in _WHOLE:
        if isinstance(literal, int) or re.fullmatch(r"[+-]?\d{1,40}", literal):
            return int(literal)
    elif is_known and isinstance(literal, str) and (kind != "date" or _is_date(literal)):
        return literal
    raise RefusedCall("a filter compares another type", found=f"{test.key} {test.operator} {literal!r}", expected=kind)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def _glue_test(test: KeyTest, kind: str) -> str | None:
    is_text = kind.startswith(_TEXTS)
    if test.is_negated or not (is_text or kind in _WHOLE) or (test.operator == "like" and not is_text):
        return None
    if test.operator == "like" and _JAVA in str(test.literals[0]):
        return None
    literals = [_glue_literal(_typed_literal(test, literal, kind)) for literal in test.literals]
    if None in literals:
        return None
    if test.operator == "in":
        return f"{test.key} IN ({', '.join(str(one) for one in literals)})"
    if test.operator == "between":
        return f"{test.key} BETWEEN {literals[0]} AND {literals[1]}"
    return f"{test.key} {test.operator.upper()} {literals[0]}"


def _glue_literal(literal: Literal) -> str | None:
    """Write a literal; one with quotes or backslashes is judged here."""
    if isinstance(literal, int):
        return str(literal)
    return None if "'" in literal or "\\" in literal else f"'{literal}'"
