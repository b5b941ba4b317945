"""Make a tree of a statement's text by `grammar.lark`, or say where it does not keep to it."""

import re
from collections.abc import Collection, Mapping
from functools import cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from twinhive.statements.language.pointing import CORRECT_IT, Misplaced

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


@cache
def _parser() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", start=["statement", "scope"])


def tree_of(text: str, start: str) -> Node:
    """Return the tree of a `statement` or a `scope`. Raises Misplaced where the text stops being one."""
    try:
        return _parser().parse(text, start=start)
    except UnexpectedInput as error:
        raise _misplaced(text, error, _allowed(error)) from None


def _allowed(error: UnexpectedInput) -> Collection[str]:
    """Name the parts of the grammar that could stand where the error is."""
    allowed: set[str] = error.interactive_parser.accepts()  # type: ignore[no-untyped-call]
    # In its last state lark names nothing, not even the end.
    return allowed or {"$END"}


def _misplaced(text: str, error: UnexpectedInput, allowed: Collection[str]) -> Misplaced:
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return Misplaced(
            error.token.end_pos or 0,
            found="the end of the statement",
            expected=_one_of(allowed),
            next_step=_advice("", allowed),
        )
    position = error.pos_in_stream or 0
    piece = _PIECE.match(text, position)
    found = piece[0] if piece else ""
    if found in ("'", '"', "`"):
        return Misplaced(position, found=f"a quote {found} that is never closed", expected=f"another {found} after it")
    shown = found if len(found) <= _LONGEST_PIECE else f"{found[:_LONGEST_PIECE]}..."
    return Misplaced(position, found=shown, expected=_one_of(allowed), next_step=_advice(found.upper(), allowed))


def _one_of(allowed: Collection[str]) -> str:
    *others, last = [name for part, name in _NAMES.items() if part in allowed]
    return f"{', '.join(others)} or {last}" if others else last


def _advice(found: str, allowed: Collection[str]) -> str:
    if found in ("TO", "LIMIT") and "_FROM" in allowed:
        return f"write FROM and an event id before {found}: without FROM the dump is a bootstrap, which has no events"
    if set(allowed) == {"_FROM"}:
        return "write FROM and an event id after REPLACE: a scope changes with an incremental dump, or starts anew"
    if "$END" in allowed and found == "REPL":
        return "give one statement at a time"
    return CORRECT_IT
