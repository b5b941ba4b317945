"""Hive's filter texts over partition keys and over tables: `day >= '2026-01-01' and (hour in (1, 2) or hour = 5)`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from twinhive.federation.connectors.client_refusals import RefusedCall

T = TypeVar("T")
Literal = str | int
_MOST_BYTES: Final = 1 << 20
_MOST_DEPTH: Final = 100
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<date>\d{4}-\d{2}-\d{2})|(?P<number>-?\d+)
    |(?P<name>`[^`]+`|[^\W\d][\w.]*)|(?P<sign><=|>=|<>|!=|=|<|>|\(|\)|,))""",
    re.VERBOSE | re.DOTALL,
)
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>", "!=": "!="}


@dataclass(frozen=True)
class KeyTest:
    """One key against literals. Operators: = <> < <= > >= like in between."""

    key: str
    operator: str
    literals: tuple[Literal, ...]
    is_negated: bool = False


@dataclass(frozen=True)
class AllOf:
    """True where each part is."""

    parts: tuple["PartitionFilter", ...]


@dataclass(frozen=True)
class AnyOf:
    """True where one part is."""

    parts: tuple["PartitionFilter", ...]


PartitionFilter = KeyTest | AllOf | AnyOf


def parse_filter(text: str) -> PartitionFilter | None:
    """Read a filter, None for an empty one. Raises RefusedCall, with the place where it cannot be read."""
    if len(text) > _MOST_BYTES:
        raise RefusedCall(
            "a filter is too long", found=f"{len(text):,} characters", expected=f"at most {_MOST_BYTES:,}"
        )
    if not text.strip():
        return None
    reading = _FilterReading(text)
    found = reading.any_of(0)
    reading.expect("")
    return found


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _unreadable(text, at)
        yield match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
        at = match.end()
    yield "end", "", end


def _unreadable(text: str, at: int) -> RefusedCall:
    return RefusedCall(
        "a filter cannot be read", found=text[at : at + 40] or "its end", expected="a key, an operator, a value"
    )


class _FilterReading:
    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._at = text, list(_tokens(text)), 0

    def any_of(self, depth: int) -> PartitionFilter:
        parts = [self._all_of(depth)]
        while self._take_word("or"):
            parts.append(self._all_of(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def expect(self, sign: str) -> None:
        kind, value, at = self._next()
        if value != sign or kind == "string":
            raise _unreadable(self._text, at)

    def _all_of(self, depth: int) -> PartitionFilter:
        parts = [self._one(depth)]
        while self._take_word("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _one(self, depth: int) -> PartitionFilter:
        kind, value, at = self._tokens[self._at]
        if value == "(" and kind == "sign" and self._begins_members():
            return self._members()
        if value == "(" and kind == "sign":
            if depth >= _MOST_DEPTH:
                raise _unreadable(self._text, at)
            self._next()
            inner = self.any_of(depth + 1)
            self.expect(")")
            return inner
        if kind == "name" and not self._begins_literal():
            return self._tested(self._key())
        literal = self._literal()
        operator = self._comparison()
        return KeyTest(self._key(), _same(_MIRRORED[operator]), (literal,))

    def _tested(self, key: str) -> KeyTest:
        is_negated = self._take_word("not")
        if self._take_word("like"):
            return KeyTest(key, "like", (self._literal(),), is_negated)
        if self._take_word("in"):
            return KeyTest(key, "in", self._bracketed(self._literal), is_negated)
        if self._take_word("between"):
            low = self._literal()
            if not self._take_word("and"):
                raise _unreadable(self._text, self._tokens[self._at][2])
            return KeyTest(key, "between", (low, self._literal()), is_negated)
        if is_negated:
            raise _unreadable(self._text, self._tokens[self._at][2])
        return KeyTest(key, _same(self._comparison()), (self._literal(),))

    def _begins_members(self) -> bool:
        """Say whether a bracket holds one key, or a struct of keys, before IN: so the metastore itself wants it."""
        kinds = [(kind, value.lower()) for kind, value, _ in self._tokens[self._at + 1 : self._at + 3]]
        return kinds[0] == ("name", "struct") or (kinds[0][0] == "name" and kinds[1:] == [("sign", ")")])

    def _members(self) -> PartitionFilter:
        """Read `(day) in ('a', 'b')` or `(struct(day, hour)) in (struct('a', 1), struct('b', 2))`."""
        self.expect("(")
        if not self._take_word("struct"):
            key = self._key()
            self.expect(")")
            return self._tested(key)
        keys = self._bracketed(self._key)
        self.expect(")")
        if not self._take_word("in"):
            raise _unreadable(self._text, self._tokens[self._at][2])
        rows = self._bracketed(lambda: self._row(len(keys)))
        return AnyOf(tuple(AllOf(tuple(map(_equals, keys, row))) for row in rows))

    def _row(self, width: int) -> tuple[Literal, ...]:
        at = self._tokens[self._at][2]
        self._take_word("const")
        if not self._take_word("struct"):
            raise _unreadable(self._text, at)
        row = self._bracketed(self._literal)
        if len(row) != width:
            raise _unreadable(self._text, at)
        return row

    def _key(self) -> str:
        kind, value, at = self._next()
        if kind != "name":
            raise _unreadable(self._text, at)
        return value.strip("`").lower()

    def _bracketed(self, one: Callable[[], T]) -> tuple[T, ...]:
        self.expect("(")
        found = [one()]
        while self._tokens[self._at][:2] == ("sign", ","):
            self._next()
            found.append(one())
        self.expect(")")
        return tuple(found)

    def _comparison(self) -> str:
        kind, value, at = self._next()
        if kind != "sign" or value not in _MIRRORED:
            raise _unreadable(self._text, at)
        return value

    def _literal(self) -> Literal:
        if self._begins_literal():
            self._next()  # DATE, TIMESTAMP
        kind, value, at = self._next()
        if kind == "string":
            return value[1:-1]  # the metastore keeps backslashes as they are
        if kind == "date":
            return value
        if kind == "number" and len(value) < 40:
            return int(value)
        raise _unreadable(self._text, at)

    def _begins_literal(self) -> bool:
        kind, value, _ = self._tokens[self._at]
        is_word = kind == "name" and value.lower() in ("date", "timestamp")
        return is_word and self._tokens[self._at + 1][0] in ("string", "date")

    def _take_word(self, word: str) -> bool:
        kind, value, _ = self._tokens[self._at]
        if kind != "name" or value.lower() != word:
            return False
        self._at += 1
        return True

    def _next(self) -> tuple[str, str, int]:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token


def _equals(key: str, literal: Literal) -> KeyTest:
    return KeyTest(key, "=", (literal,))


def _same(operator: str) -> str:
    return "<>" if operator == "!=" else operator
