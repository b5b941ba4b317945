"""Read a view's text with sqlglot: which of its words name tables. Its import takes 17 MB, so import this one late."""

import logging
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from sqlglot import exp, parse
from sqlglot.dialects.hive import Hive
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from twinhive.hive.views.comments import unclear_comment
from twinhive.hive.views.view_names import ColumnWords, NamedInText, TableWords, Word

OWN_CATALOGS: Final = ("hive", "spark_catalog")
"""How the metastore's own databases may be called in front."""
_MOST_CHARACTERS: Final = 200_000
_DIALECTS: Final = ("spark", "hive")
_OF_VALUES: Final = ("json_tuple", "parse_url_tuple", "range")
"""Functions that make rows, and whose texts name nothing."""
_BEHIND_A_NAME: Final = ("sample", "version", "when", "changes", "partition")
"""Clauses between a table's name and its alias."""

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # texts that it cannot read are our business


@lru_cache(maxsize=256)
def named_in_text(text: str) -> NamedInText | None:
    """Return what a text names; None for one that is no query, or cannot be read."""
    if len(text) > _MOST_CHARACTERS or unclear_comment(text):
        return None
    for dialect in _DIALECTS:
        try:
            read = parse(text, read=dialect)
            if len(read) == 1 and isinstance(read[0], exp.Query):
                return _Names(text).of(read[0])
        except (SqlglotError, RecursionError, _NotUnderstood):
            continue
    return None


def is_plain(name: str) -> bool:
    """True for a name that needs no quotes."""
    tokens = Hive().tokenize(name) if name.isascii() and name.isidentifier() else []
    return [token.token_type for token in tokens] == [TokenType.VAR]


def is_word_before_a_table(column: exp.Column) -> bool:
    """True for Spark's query `TABLE t`, which sqlglot reads as a column of this name with an alias where one may be."""
    return bool(column.name.lower() == "table" and not column.table and not column.this.args.get("quoted"))


class _NotUnderstood(Exception):
    """The text names tables in a way that is not known here, or words do not stand where they are said to stand."""


class _Names:
    """Collect what the nodes of a query name."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tables: list[TableWords] = []
        self._columns: list[ColumnWords] = []
        self._functions: list[Word] = []
        self._bare: list[str] = []
        self._elsewhere: list[tuple[str, ...]] = []
        self._computed: list[str] = []
        self._called: set[str] = set()

    def of(self, query: exp.Query) -> NamedInText:
        """Return all of them. Raises _NotUnderstood."""
        for node in query.walk():
            match node:
                case exp.Table(this=exp.Identifier()):
                    self._table(node)
                case exp.Table():
                    self._of_function(node)
                case exp.Column():
                    self._columns += _column(node, self._text)
                case exp.Alias(this=exp.Column() as column) if is_word_before_a_table(column):
                    raise _NotUnderstood("TABLE t, which may be a table, or a column of this name")
                case exp.TableAlias(this=exp.Identifier() as name):
                    self._called.add(name.name.lower())
                case exp.Dot() | exp.Anonymous():
                    self._function(node)
        return NamedInText(
            tuple(self._tables),
            tuple(self._columns),
            tuple(self._functions),
            tuple(self._bare),
            tuple(self._elsewhere),
            tuple(self._computed),
            frozenset(self._called),
        )

    def _table(self, node: exp.Table) -> None:
        if not node.db and _is_of_with(node):
            return
        if _is_elsewhere(node.catalog):
            self._elsewhere.append(tuple(part.name for part in node.parts))
        else:
            self._tables.append(_table(node, self._text))

    def _of_function(self, table: exp.Table) -> None:
        """Take `hudi_table_changes('sales.orders')`; refuse `stream(sales.orders)`, `sales.function(1)`."""
        if table.db or table.find(exp.Column) is not None:
            raise _NotUnderstood("a table that a function names")
        name = table.this.name
        if isinstance(table.this, exp.Anonymous) and name.lower() not in _OF_VALUES and _has_text(table):
            self._computed.append(f"{name}(...)")

    def _function(self, node: exp.Dot | exp.Anonymous) -> None:
        match node:
            case exp.Dot(this=exp.Identifier() as database, expression=exp.Func()):
                self._functions.append(_word(database, self._text))
            case exp.Dot(this=exp.Dot(), expression=exp.Func()):
                raise _NotUnderstood("a function of a catalog")
            case exp.Anonymous() if node.name.lower() == "identifier":
                self._computed.append("IDENTIFIER(...)")
            case exp.Anonymous() if not isinstance(node.parent, exp.Dot):
                self._bare.append(node.name)


def _has_text(table: exp.Table) -> bool:
    return any(literal.is_string for literal in table.find_all(exp.Literal))


def _table(node: exp.Table, text: str) -> TableWords:
    database = node.args.get("db")
    return TableWords(
        None if database is None else _word(database, text),
        _word(node.this, text),
        bool(node.alias),
        not any(node.args.get(clause) for clause in _BEHIND_A_NAME),
    )


def _column(node: exp.Column, text: str) -> Iterator[ColumnWords]:
    """Yield the first two words of a name with three or more, or those behind a catalog."""
    parts = [part for part in node.parts if isinstance(part, exp.Identifier)]
    if len(node.parts) < 3:
        return
    words = [_word(part, text) for part in parts]
    skipped = 1 if len(node.parts) > 3 and words[0].key in OWN_CATALOGS else 0
    if len(words) > skipped + 1:
        yield ColumnWords(words[skipped], words[skipped + 1])


def _is_elsewhere(catalog: str) -> bool:
    return bool(catalog) and catalog.lower() not in OWN_CATALOGS


def _is_of_with(table: exp.Table) -> bool:
    """True where a WITH gives a table's name to a query before it; one that is recursive to itself, too."""
    below: Any = table
    above: Any = table.parent
    while above is not None:
        if isinstance(above, exp.With):
            at = next(index for index, one in enumerate(above.expressions) if one is below)
            visible = above.expressions[: at + 1 if above.recursive else at]
        else:
            given = above.args.get("with_")
            visible = given.expressions if given is not None and given is not below else []
        if any(one.alias.lower() == table.name.lower() for one in visible):
            return True
        below, above = above, above.parent
    return False


def _word(identifier: Any, text: str) -> Word:
    begin, end = identifier.meta.get("start", 0), identifier.meta.get("end", -1) + 1
    quoted = bool(identifier.args.get("quoted"))
    stands = text[begin:end]
    if stands != (f"`{identifier.name.replace('`', '``')}`" if quoted else identifier.name):
        raise _NotUnderstood(stands)
    return Word(identifier.name, begin, end, quoted)
