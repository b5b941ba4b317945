"""Read one of these statements: text in, value out."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from lark import Token, Tree

from twinhive.core.model.names import TableName
from twinhive.core.model.scopes.scope_texts import quoted
from twinhive.core.model.untrusted_paths import is_collapsed
from twinhive.statements.language.nodes import parts_of, said_by, tokens_of, word_of
from twinhive.statements.language.syntax import Grammar, Node
from twinhive.statements.language.syntax_errors import Misplaced, pointed_at
from twinhive.statements.table_language.table_values import ExportStatement, ImportStatement, KeyValue, TableStatement

CORRECT_IT = "correct the statement; docs/export.md has the grammar, with examples"
OVERWRITE = "overwrite"
_DEFAULT = "default"
_DIRECTORY = re.compile(r"([a-z][a-z0-9+.-]*://[^/]+)?/[^/].*", re.IGNORECASE | re.DOTALL)
_DATABASE = re.compile(r"\w+", re.ASCII)
_FAMILY = re.compile(r"(?:\s|--[^\n]*\n)*(?:export|import)\b", re.IGNORECASE)
_NAMES: Mapping[str, str] = {
    **{f"_{word}": word for word in ("EXPORT", "IMPORT", "TABLE", "PARTITION", "TO", "FROM", "LOCATION", "WITH")},
    "EXTERNAL": "EXTERNAL",
    "NAME": "a name (`in backticks` if it is a number or a word of the grammar)",
    "DOT": "'.'",
    "LPAR": "'('",
    "STRING": "a text in quotes",
    "NUMBER": "a whole number",
    "EQUAL": "'='",
    "COMMA": "','",
    "RPAR": "')'",
    "$END": "the end of the statement",
}


def _advice(found: str, allowed: Collection[str]) -> str:
    return CORRECT_IT


_GRAMMAR = Grammar(Path(__file__).with_name("grammar.lark"), ("statement",), _NAMES, _advice)


def is_about_table_files(text: str) -> bool:
    """True for a text that begins as these statements do."""
    return _FAMILY.match(text) is not None


def parse_table_statement(text: str) -> TableStatement:
    """Read one statement. Raises InvalidSettings that points at the first place that is wrong."""
    try:
        [child] = _GRAMMAR.tree_of(text, "statement").children
        assert isinstance(child, Tree)
        return _export(child) if child.data == "export_table" else _import(child)
    except Misplaced as wrong:
        raise pointed_at(text, wrong) from None


def table_statement_text(statement: TableStatement) -> str:
    """Return a statement's text, without a semicolon; `parse_table_statement` reads the same statement."""
    partition = ", ".join(f"`{key}`={quoted(value)}" for key, value in statement.partition)
    chosen = f" PARTITION ({partition})" if partition else ""
    match statement:
        case ExportStatement(table, directory):
            replaces = f" WITH ('{OVERWRITE}'='true')" if statement.overwrites else ""
            return f"EXPORT TABLE {_written(table)}{chosen} TO {quoted(directory)}{replaces}"
        case ImportStatement(table, directory):
            kind = "EXTERNAL " if statement.external else ""
            named = f" {kind}TABLE {_written(table)}{chosen}" if table else ""
            place = f" LOCATION {quoted(statement.location)}" if statement.location else ""
            return f"IMPORT{named} FROM {quoted(directory)}{place}"


def _written(table: TableName) -> str:
    return f"`{table.database}`.`{table.table}`"


def _export(tree: Node) -> ExportStatement:
    parts = parts_of(tree)
    return ExportStatement(
        _table(parts["name"]), _directory(tokens_of(tree)[-1]), _partition(parts), _overwrites(parts.get("with"))
    )


def _import(tree: Node) -> ImportStatement:
    parts = parts_of(tree)
    tokens = tokens_of(tree)
    return ImportStatement(
        _table(parts["name"]) if "name" in parts else None,
        _directory(tokens[-1]),
        _partition(parts),
        external=tokens[0].type == "EXTERNAL",
        location=_directory(tokens_of(parts["location"])[0]) if "location" in parts else None,
    )


def _table(tree: Node) -> TableName:
    first, *more = tokens_of(tree)
    for token in (first, *more):
        if not word_of(token).strip():
            raise _wrong(token, "blanks", "a name")
    if not more:
        return TableName(_DEFAULT, word_of(first))
    if not _DATABASE.fullmatch(word_of(first)):
        raise _wrong(first, f"{word_of(first)} as the name of a database", "letters a to z, digits and _, in any case")
    return TableName(word_of(first), word_of(more[0]))


def _directory(token: Token) -> str:
    said = said_by(token)
    if not _DIRECTORY.fullmatch(said) or is_collapsed(said):
        raise _wrong(token, said or "an empty text", "an absolute path or a URI, without '.' and '..' in it")
    return said.rstrip("/")


def _partition(parts: Mapping[str, Node]) -> tuple[KeyValue, ...]:
    if "partition" not in parts:
        return ()
    tokens = tokens_of(parts["partition"])
    found: dict[str, str] = {}
    for key, value in zip(tokens[::2], tokens[1::2], strict=True):
        if word_of(key) in found:
            raise _wrong(key, f"key {word_of(key)} for the second time", "each key once")
        text = said_by(value) if value.type == "STRING" else str(value)
        if not text:
            raise _wrong(value, "an empty value", "a value; a key that is left out stands for all of its values")
        found[word_of(key)] = text
    return tuple(found.items())


def _overwrites(tree: Node | None) -> bool:
    tokens = [] if tree is None else tokens_of(tree)
    overwrites = False
    for key, value in zip(tokens[::2], tokens[1::2], strict=True):
        if said_by(key) != OVERWRITE:
            raise _wrong(key, said_by(key), f"'{OVERWRITE}', the only key there is")
        if (said := said_by(value).lower()) not in ("true", "false"):
            raise _wrong(value, said, "'true' or 'false'")
        overwrites = said == "true"
    return overwrites


def _wrong(token: Token, found: str, expected: str) -> Misplaced:
    return Misplaced(token.start_pos or 0, found=found, expected=expected, next_step=CORRECT_IT)
