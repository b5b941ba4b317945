"""Read a statement, or a scope by itself: text in, value out."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from lark import Token

from twinhive.core.model.scopes.scope import Scope
from twinhive.statements.language.nodes import parts_of
from twinhive.statements.language.patterns import pattern_of
from twinhive.statements.language.repl_values import DumpStatement, LoadStatement, Setting, Statement, StatusStatement
from twinhive.statements.language.string_literals import unquoted
from twinhive.statements.language.syntax import Node, tree_of
from twinhive.statements.language.syntax_errors import Misplaced, pointed_at

MOST_EVENT_ID = 2**63 - 1
_DATABASE = re.compile(r"\w+", re.ASCII)
_DIRECTORY = re.compile(r"([a-z][a-z0-9+.-]*://|/).*", re.IGNORECASE | re.DOTALL)
Read = TypeVar("Read")


def parse(text: str) -> Statement:
    """Read one statement. Raises InvalidSettings that points at the first place that is wrong."""
    return _read(text, "statement", _statement)


def parse_scope(text: str) -> Scope:
    """Read a scope as `model.scopes` writes it. Raises InvalidSettings."""
    return _read(text, "scope", _scope)


def _read(text: str, start: str, read: Callable[[Node], Read]) -> Read:
    try:
        return read(tree_of(text, start))
    except Misplaced as wrong:
        raise pointed_at(text, wrong) from None


def _statement(tree: Node) -> Statement:
    [(kind, node)] = parts_of(tree).items()
    return _READERS[kind](node)


def _dump(tree: Node) -> DumpStatement:
    parts = parts_of(tree)
    scope = _scope(parts["scope"])
    first, last = _number(parts.get("from_event")), _number(parts.get("to_event"))
    if first is not None and last is not None and last < first:
        raise Misplaced(
            _place(parts["to_event"]),
            found=f"TO {last}, which is before FROM {first}",
            expected=f"{first} or a later event id",
        )
    return DumpStatement(
        scope, _replaced(parts.get("replace"), scope), first, last, _limit(parts.get("limit")), _settings(parts)
    )


def _load(tree: Node) -> LoadStatement:
    parts = parts_of(tree)
    database, into = [*(_name(token) for token in _tokens(parts.get("target"))), None, None][:2]
    return LoadStatement(database, into, _directory(parts.get("directory")), _settings(parts))


def _status(tree: Node) -> StatusStatement:
    return StatusStatement(_name(_tokens(tree)[0]), _settings(parts_of(tree)))


_READERS: Mapping[str, Callable[[Node], Statement]] = {"dump": _dump, "load": _load, "status": _status}


def _scope(tree: Node) -> Scope:
    parts = parts_of(tree)
    include = _patterns(parts["include"]) if "include" in parts else None
    return Scope(_name(_tokens(tree)[0]), include, _patterns(parts.get("exclude")))


def _replaced(tree: Node | None, scope: Scope) -> Scope | None:
    if tree is None:
        return None
    node = parts_of(tree)["scope"]
    replaced = _scope(node)
    if replaced.database != scope.database:
        raise Misplaced(
            _place(node),
            found=f"REPLACE of a policy of database {replaced.database}",
            expected=f"the policy that database {scope.database} was dumped with before",
        )
    return replaced


def _name(token: Token) -> str:
    name = token.strip("`")
    if not _DATABASE.fullmatch(name):
        raise Misplaced(
            token.start_pos or 0,
            found=f"{name or 'nothing'} as the name of a database",
            expected="letters a to z, digits and _, in any case",
        )
    return name.lower()


def _patterns(tree: Node | None) -> tuple[str, ...]:
    return tuple(pattern_of(token, token.start_pos or 0) for token in _tokens(tree))


def _number(tree: Node | None) -> int | None:
    if tree is None:
        return None
    digits = _tokens(tree)[0]
    # Python refuses to read a number of thousands of digits.
    if len(digits.lstrip("0")) > len(str(MOST_EVENT_ID)) or int(digits) > MOST_EVENT_ID:
        raise Misplaced(
            _place(tree), found=f"a number of {len(digits)} digits", expected=f"at most {MOST_EVENT_ID}, in 64 bits"
        )
    return int(digits)


def _limit(tree: Node | None) -> int | None:
    limit = _number(tree)
    if tree is not None and limit == 0:
        raise Misplaced(
            _place(tree),
            found="LIMIT 0",
            expected="1 or more events",
            next_step="leave LIMIT out if the dump may hold any number of events",
        )
    return limit


def _directory(tree: Node | None) -> str | None:
    if tree is None:
        return None
    token = _tokens(tree)[0]
    directory = unquoted(token, token.start_pos or 0) if token.type == "STRING" else str(token)
    if not _DIRECTORY.fullmatch(directory):
        raise Misplaced(
            _place(tree),
            found=f"{directory or 'nothing'} as a directory",
            expected="an absolute path or a URI",
            next_step="name the directory that REPL DUMP has returned",
        )
    return directory


def _settings(parts: Mapping[str, Node]) -> tuple[Setting, ...]:
    tokens = _tokens(parts.get("with"))
    settings: dict[str, str] = {}
    for key_token, value_token in zip(tokens[::2], tokens[1::2], strict=True):
        key, value = (unquoted(token, token.start_pos or 0) for token in (key_token, value_token))
        if key in settings:
            raise Misplaced(
                key_token.start_pos or 0, found=f"key {key} for the second time", expected="each key of WITH once"
            )
        settings[key] = value
    return tuple(settings.items())


def _tokens(tree: Node | None) -> list[Token]:
    return [child for child in tree.children if isinstance(child, Token)] if tree else []


def _place(tree: Node) -> int:
    """Return where the first token of a part stands."""
    return _tokens(tree)[0].start_pos or 0
