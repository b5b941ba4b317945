"""Make a tree of a statement's text by a grammar, or say where it does not keep to it."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from twinhive.statements.language.syntax_errors import CORRECT_IT, Misplaced

Node = Tree[Token]

_NAMES: Mapping[str, str] = {
    "_REPL": "REPL",
    "_DUMP": "DUMP",
    "_LOAD": "LOAD",
    "_STATUS": "STATUS",
    "NAME": "the name of a database (`in backticks` if it is a number or a word of the grammar)",
    "DOT": "'.' and tables",
    "LSQB": "'[' and patterns",
    "STRING": "a text in quotes",
    "PATH": "a directory (absolute path or URI)",
    "NUMBER": "a whole number",
    "COMMA": "','",
    "RSQB": "']'",
    "LPAR": "'('",
    "EQUAL": "'='",
    "RPAR": "')'",
    "_INTO": "INTO",
    "_REPLACE": "REPLACE",
    "_FROM": "FROM",
    "_TO": "TO",
    "_LIMIT": "LIMIT",
    "_WITH": "WITH",
    "$END": "the end of the statement",
}
"""What people call the parts of the grammar, in the order in which they are told. A semicolon goes without saying."""

_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|\w+|.", re.DOTALL)
_LONGEST_PIECE = 60


@dataclass(frozen=True)
class Grammar:
    """A family of statements: its file, where texts begin, what people call its parts, and advice that it has.

    advice  returns the next step for a piece of text, in upper case, that stands where others are allowed
    """

    file: Path
    starts: tuple[str, ...]
    names: Mapping[str, str]
    advice: Callable[[str, Collection[str]], str]

    @cached_property
    def _parser(self) -> Lark:
        return Lark(self.file.read_text(encoding="utf-8"), parser="lalr", start=list(self.starts))

    def tree_of(self, text: str, start: str) -> Node:
        """Return the tree of a text. Raises Misplaced where it stops being one."""
        try:
            return self._parser.parse(text, start=start)
        except UnexpectedInput as error:
            raise self._misplaced(text, error, _allowed(error)) from None

    def _misplaced(self, text: str, error: UnexpectedInput, allowed: Collection[str]) -> Misplaced:
        if isinstance(error, UnexpectedToken) and error.token.type == "$END":
            position, found = error.token.end_pos or 0, "the end of the statement"
            return Misplaced(position, found=found, expected=self._one_of(allowed), next_step=self.advice("", allowed))
        position = error.pos_in_stream or 0
        piece = _PIECE.match(text, position)
        found = piece[0] if piece else ""
        if found in ("'", '"', "`"):
            never, closed = f"a quote {found} that is never closed", f"another {found} after it"
            return Misplaced(position, found=never, expected=closed, next_step=self.advice("", ()))
        shown = found if len(found) <= _LONGEST_PIECE else f"{found[:_LONGEST_PIECE]}..."
        advice = self.advice(found.upper(), allowed)
        return Misplaced(position, found=shown, expected=self._one_of(allowed), next_step=advice)

    def _one_of(self, allowed: Collection[str]) -> str:
        *others, last = [name for part, name in self.names.items() if part in allowed]
        return f"{', '.join(others)} or {last}" if others else last


def _allowed(error: UnexpectedInput) -> Collection[str]:
    """Name the parts of the grammar that could stand where the error is."""
    allowed: set[str] = error.interactive_parser.accepts()  # type: ignore[no-untyped-call]
    # In its last state lark names nothing, not even the end.
    return allowed or {"$END"}


def _advice(found: str, allowed: Collection[str]) -> str:
    if found in ("TO", "LIMIT") and "_FROM" in allowed:
        return f"write FROM and an event id before {found}: without FROM the dump is a bootstrap, which has no events"
    if set(allowed) == {"_FROM"}:
        return "write FROM and an event id after REPLACE: a scope changes with an incremental dump, or starts anew"
    if "$END" in allowed and found == "REPL":
        return "give one statement at a time"
    return CORRECT_IT


REPL = Grammar(Path(__file__).with_name("grammar.lark"), ("statement", "scope"), _NAMES, _advice)


def tree_of(text: str, start: str) -> Node:
    """Return the tree of a REPL `statement` or a `scope`. Raises Misplaced where the text stops being one."""
    return REPL.tree_of(text, start)
