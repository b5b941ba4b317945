"""What a WHERE says of the keys of a partition: certainly true, certainly false, or not known.

Only what is certainly false for a partition takes it out of what a query reads. Anything that is not understood, or
that Hive and Spark may see differently, is not known: the partition is kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import assert_never

from twinhive.model.names import DEFAULT_PARTITION

_TEXTS = re.compile(r"string|varchar\(\d+\)")
_NUMBERS = frozenset(("tinyint", "smallint", "int", "bigint"))
_NUMBER = re.compile(r"-?\d{1,18}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class KeyOperator(StrEnum):
    """How a key is compared with a value."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


_ORDERS = {
    KeyOperator.EQUAL: (0,),
    KeyOperator.NOT_EQUAL: (-1, 1),
    KeyOperator.LESS: (-1,),
    KeyOperator.LESS_OR_EQUAL: (-1, 0),
    KeyOperator.GREATER: (1,),
    KeyOperator.GREATER_OR_EQUAL: (0, 1),
}
"""What a comparison allows: the key before (-1), equal to (0), after (1) the value."""


class LiteralKind(StrEnum):
    """How a value is written in the query."""

    TEXT = "text"
    NUMBER = "number"
    DAY = "day"


@dataclass(frozen=True)
class Value:
    """A literal of the query."""

    kind: LiteralKind
    text: str


@dataclass(frozen=True)
class NotKnown:
    """A condition that says nothing of partitions, or nothing that is understood."""


@dataclass(frozen=True)
class KeyComparison:
    """A key, in lower case, against a literal."""

    key: str
    how: KeyOperator
    value: Value


@dataclass(frozen=True)
class Disjunction:
    """OR, or IN."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Conjunction:
    """AND, or BETWEEN."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Negation:
    """NOT."""

    part: "Predicate"


Predicate = NotKnown | KeyComparison | Disjunction | Conjunction | Negation
ALL = Conjunction(())
"""What every partition fulfils: a query without conditions."""


@dataclass(frozen=True)
class PartitionKeys:
    """The keys of a table with Hive's types, and the values of one of its partitions."""

    types: Mapping[str, str]
    values: Mapping[str, str]


def holds(predicate: Predicate, partition: PartitionKeys) -> bool | None:
    """Tell whether a condition holds for all rows of a partition (True), for none (False), or that is not known."""
    match predicate:
        case NotKnown():
            return None
        case KeyComparison():
            return _compared(predicate, partition)
        case Disjunction():
            found = [holds(part, partition) for part in predicate.parts]
            return True if True in found else None if None in found else False
        case Conjunction():
            found = [holds(part, partition) for part in predicate.parts]
            return False if False in found else None if None in found else True
        case Negation():
            inner = holds(predicate.part, partition)
            return None if inner is None else not inner
        case _:
            assert_never(predicate)


def _compared(comparison: KeyComparison, partition: PartitionKeys) -> bool | None:
    text = partition.values.get(comparison.key)
    if text is None or text == DEFAULT_PARTITION:
        return None  # no key, or NULL, which is neither equal nor different
    kind = partition.types.get(comparison.key, "").lower().replace(" ", "")
    order = _order(kind, text, comparison.value)
    return None if order is None else order in _ORDERS[comparison.how]


def _order(kind: str, text: str, value: Value) -> int | None:
    """Return whether a key's value is before (-1), equal to (0) or after (1) a literal.

    None where engines may see that differently. Texts are compared by their UTF-8 bytes, as Hive and Spark do.
    """
    if _TEXTS.fullmatch(kind) and value.kind is LiteralKind.TEXT:
        have, want = (one.encode("utf-8", "surrogatepass") for one in (text, value.text))
        return (have > want) - (have < want)
    if (
        kind in _NUMBERS
        and value.kind is LiteralKind.NUMBER
        and _NUMBER.fullmatch(text)
        and _NUMBER.fullmatch(value.text)
    ):
        return (int(text) > int(value.text)) - (int(text) < int(value.text))
    if kind == "date" and value.kind is not LiteralKind.NUMBER and _DAY.fullmatch(text) and _DAY.fullmatch(value.text):
        # Written so, days are in the order of their texts.
        return (text > value.text) - (text < value.text) if _is_day(value.text) else None
    return None


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
