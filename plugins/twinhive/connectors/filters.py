"""Hive's filter texts over partition keys and over tables: `day >= '2026-01-01' and (hour in (1, 2) or hour = 5)`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twinhive.connectors.refusals import RefusedCall

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

    parts: tuple["Filter", ...]


@dataclass(frozen=True)
class AnyOf:
    """True where one part is."""

    parts: tuple["Filter", ...]


Filter = KeyTest | AllOf | AnyOf


def parse_filter(text: str) -> Filter | None:
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

    def any_of(self, depth: int) -> Filter:
        parts = [self._all_of(depth)]
        while self._take_word("or"):
            parts.append(self._all_of(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def expect(self, sign: str) -> None:
        kind, value, at = self._next()
        if value != sign or kind == "string":
            raise _unreadable(self._text, at)

    def _all_of(self, depth: int) -> Filter:
        parts = [self._one(depth)]
        while self._take_word("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _one(self, depth: int) -> Filter:
        kind, value, at = self._tokens[self._at]
        if value == "(" and kind == "sign":
            if depth >= _MOST_DEPTH:
                raise _unreadable(self._text, at)
            self._next()
            inner = self.any_of(depth + 1)
            self.expect(")")
            return inner
        if kind == "name" and not self._begins_literal():
            return self._tested(self._next()[1].strip("`").lower())
        literal = self._literal()
        operator = self._comparison()
        key_kind, key, key_at = self._next()
        if key_kind != "name":
            raise _unreadable(self._text, key_at)
        return KeyTest(key.strip("`").lower(), _same(_MIRRORED[operator]), (literal,))

    def _tested(self, key: str) -> KeyTest:
        is_negated = self._take_word("not")
        if self._take_word("like"):
            return KeyTest(key, "like", (self._literal(),), is_negated)
        if self._take_word("in"):
            return KeyTest(key, "in", self._list(), is_negated)
        if self._take_word("between"):
            low = self._literal()
            if not self._take_word("and"):
                raise _unreadable(self._text, self._tokens[self._at][2])
            return KeyTest(key, "between", (low, self._literal()), is_negated)
        if is_negated:
            raise _unreadable(self._text, self._tokens[self._at][2])
        return KeyTest(key, _same(self._comparison()), (self._literal(),))

    def _list(self) -> tuple[Literal, ...]:
        self.expect("(")
        found = [self._literal()]
        while self._tokens[self._at][:2] == ("sign", ","):
            self._next()
            found.append(self._literal())
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
            return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
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


def _same(operator: str) -> str:
    return "<>" if operator == "!=" else operator
