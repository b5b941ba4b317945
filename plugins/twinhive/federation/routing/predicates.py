"""What a WHERE says of the keys of a partition: certainly true, certainly false, or not known.

Only what is certainly false for a partition takes it out of what a query reads. Anything that is not understood, or
that Hive and Spark may see differently, is not known: the partition is kept.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import partial
from typing import Any, assert_never

from twinhive.core.model.names import DEFAULT_PARTITION

_TEXTS = re.compile(r"string|varchar\((?P<longest>\d+)\)")
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


Compare = Callable[[Any, Any], bool]
_COMPARE: Mapping[KeyOperator, Compare] = {
    KeyOperator.EQUAL: operator.eq,
    KeyOperator.NOT_EQUAL: operator.ne,
    KeyOperator.LESS: operator.lt,
    KeyOperator.LESS_OR_EQUAL: operator.le,
    KeyOperator.GREATER: operator.gt,
    KeyOperator.GREATER_OR_EQUAL: operator.ge,
}


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


JudgePartition = Callable[[Mapping[str, str]], bool | None]
"""Tells of the values of a partition's keys whether a condition holds for all of its rows (True), for none (False)."""


def not_known(values: Mapping[str, str]) -> bool | None:
    """Judge by a condition that tells nothing of partitions."""
    return None


def judge_of(predicate: Predicate, types: Mapping[str, str]) -> JudgePartition:
    """Return what judges the partitions of one table, whose keys have these types of Hive.

    Made once for a statement, called for each partition: tables have many. What says nothing is `not_known` itself.
    """
    match predicate:
        case NotKnown():
            return not_known
        case KeyComparison():
            return _judge_by_key(predicate, types)
        case Conjunction():
            return _judge_by_parts(predicate.parts, types, decides=False)
        case Disjunction():
            return _judge_by_parts(predicate.parts, types, decides=True)
        case Negation():
            inner = judge_of(predicate.part, types)
            return not_known if inner is not_known else partial(_negated, inner)
        case _:
            assert_never(predicate)


def _judge_by_parts(parts: Sequence[Predicate], types: Mapping[str, str], *, decides: bool) -> JudgePartition:
    """Return the judge of AND (one False decides) or OR (one True decides)."""
    judges = [judge_of(part, types) for part in parts]
    telling = [judge for judge in judges if judge is not not_known]
    if judges and not telling:
        return not_known
    otherwise = None if len(telling) < len(judges) else not decides
    if len(telling) == 1 and otherwise is not None:
        return telling[0]

    def judge(values: Mapping[str, str]) -> bool | None:
        answer = otherwise
        for one in telling:
            found = one(values)
            if found is decides:
                return decides
            if found is None:
                answer = None
        return answer

    return judge


def _negated(judge: JudgePartition, values: Mapping[str, str]) -> bool | None:
    inner = judge(values)
    return None if inner is None else not inner


def _judge_by_key(comparison: KeyComparison, types: Mapping[str, str]) -> JudgePartition:
    """Return the judge of one key against a literal; `not_known` where engines may see that differently.

    Texts are compared by code points, which is the order of their UTF-8 bytes, as Hive and Spark compare them. Days, as
    they are written, are in the order of their texts.
    """
    kind = types.get(comparison.key, "").lower().replace(" ", "")
    value, compare = comparison.value, _COMPARE[comparison.how]
    if (texts := _TEXTS.fullmatch(kind)) and value.kind is LiteralKind.TEXT:
        # What is longer than its type is cut off when it is read.
        form = re.compile(rf".{{0,{texts['longest']}}}", re.DOTALL) if texts["longest"] else None
        return _judge_of_texts(comparison.key, compare, value.text, form)
    if kind in _NUMBERS and value.kind is LiteralKind.NUMBER and _NUMBER.fullmatch(value.text):
        return _judge_of_numbers(comparison.key, compare, int(value.text))
    if kind == "date" and value.kind is not LiteralKind.NUMBER and _is_day(value.text):
        return _judge_of_texts(comparison.key, compare, value.text, _DAY)
    return not_known


def _judge_of_texts(key: str, compare: Compare, want: str, form: re.Pattern[str] | None) -> JudgePartition:
    def judge(values: Mapping[str, str]) -> bool | None:
        text = values.get(key)
        # Without a value, or NULL, which is neither equal nor different.
        if text is None or text == DEFAULT_PARTITION or (form is not None and not form.fullmatch(text)):
            return None
        return compare(text, want)

    return judge


def _judge_of_numbers(key: str, compare: Compare, want: int) -> JudgePartition:
    def judge(values: Mapping[str, str]) -> bool | None:
        text = values.get(key)
        return compare(int(text), want) if text is not None and _NUMBER.fullmatch(text) else None

    return judge


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
