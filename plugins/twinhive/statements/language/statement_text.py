"""Write a statement as the seed spells it: one text for one value, on one line."""

from collections.abc import Iterator

from twinhive.core.model.scopes.scope_texts import name_text, quoted, scope_text
from twinhive.statements.language.repl_values import DumpStatement, LoadStatement, Setting, Statement, StatusStatement


def to_text(statement: Statement) -> str:
    """Return a statement's text, without a semicolon; `parsing.parse` reads the same statement."""
    if isinstance(statement, DumpStatement):
        words = _dump(statement)
    elif isinstance(statement, LoadStatement):
        words = _load(statement)
    else:
        words = _status(statement)
    return " ".join(["REPL", *words, *_with(statement.settings)])


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
        yield name_text(load.database)
    if load.into is not None:
        yield f"INTO {name_text(load.into)}"
    if load.directory is not None:
        yield f"FROM {quoted(load.directory)}"


def _status(status: StatusStatement) -> Iterator[str]:
    yield f"STATUS {name_text(status.database)}"


def _with(settings: tuple[Setting, ...]) -> Iterator[str]:
    if settings:
        yield f"WITH ({', '.join(f'{quoted(key)}={quoted(value)}' for key, value in settings)})"
