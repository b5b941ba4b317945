"""Write a statement, or a scope by itself, as the seed spells it: one text for one value, on one line."""

import re
from collections.abc import Iterator

from twinhive.statements.language.quoting import quoted
from twinhive.statements.language.values import DumpStatement, LoadStatement, Scope, Setting, Statement, StatusStatement

_BARE_NAME = re.compile(r"(?!(?:replace|from|to|limit|into|with|[0-9]+)\b)[a-z0-9]\w*", re.ASCII)


def to_text(statement: Statement) -> str:
    """Return a statement's text, without a semicolon; `parsing.parse` reads the same statement."""
    if isinstance(statement, DumpStatement):
        words = _dump(statement)
    elif isinstance(statement, LoadStatement):
        words = _load(statement)
    else:
        words = _status(statement)
    return " ".join(["REPL", *words, *_with(statement.settings)])


def scope_text(scope: Scope) -> str:
    """Return a scope's text: the same for equal scopes, so that a replica can remember it."""
    name = _name(scope.database)
    if scope.exclude:
        return f"{name}.{_patterns(scope.patterns)}.{_patterns(scope.exclude)}"
    return name if scope.include is None else f"{name}.{_patterns(scope.include)}"


def _dump(dump: DumpStatement) -> Iterator[str]:
    yield f"DUMP {scope_text(dump.scope)}"
    if dump.replaced is not None:
        yield f"REPLACE {scope_text(dump.replaced)}"
    for word, number in (("FROM", dump.from_event), ("TO", dump.to_event), ("LIMIT", dump.limit)):
        if number is not None:
            yield f"{word} {number}"


def _load(load: LoadStatement) -> Iterator[str]:
    yield "LOAD"
    if load.database is not None:
        yield _name(load.database)
    if load.into is not None:
        yield f"INTO {_name(load.into)}"
    if load.directory is not None:
        yield f"FROM {quoted(load.directory)}"


def _status(status: StatusStatement) -> Iterator[str]:
    yield f"STATUS {_name(status.database)}"


def _with(settings: tuple[Setting, ...]) -> Iterator[str]:
    if settings:
        yield f"WITH ({', '.join(f'{quoted(key)}={quoted(value)}' for key, value in settings)})"


def _name(database: str) -> str:
    return database if _BARE_NAME.fullmatch(database) else f"`{database}`"


def _patterns(patterns: tuple[str, ...]) -> str:
    return f"[{', '.join(map(quoted, patterns))}]"
