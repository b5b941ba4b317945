"""A statement as the tree that sqlglot makes of it, without what engines read differently."""

import logging

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from twinhive.core.model.errors import ActNow
from twinhive.federation.routing.statement_words import Words, words_of

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it cannot read is our business
LONGEST_SHOWN = 200
"""Characters of a statement that an error shows."""


def parsed(text: str) -> list[exp.Expr] | None:
    """Return the statements of a text, None for one that the parser does not know."""
    try:
        trees = [tree for tree in parse(text, dialect="hive") if tree is not None]
    except (SqlglotError, RecursionError):
        return None
    if any(isinstance(tree, exp.Command) for tree in trees):
        return None
    words = words_of(text)
    for tree in trees:
        _forget_what_is_unclear(tree, words)
    return trees


def _forget_what_is_unclear(tree: exp.Expr, words: Words) -> None:
    """Take texts away that engines read differently, and conditions of pipes, whose columns may be made before."""
    for literal in list(tree.find_all(exp.Literal)) if words.escaped else []:
        if literal.is_string and literal.this in words.escaped:
            literal.replace(exp.Placeholder())
    for where in tree.find_all(exp.Where) if words.has_pipes else []:
        where.set("this", exp.Anonymous(this="piped", expressions=[where.this]))


def not_understood(text: str, found: str) -> ActNow:
    """Return the error of a text that cannot be routed; `found` says what in it nobody can tell."""
    shown = " ".join(text.split())
    return ActNow(
        "the statement cannot be routed: it may touch tables that nobody can name",
        found=f"{found}: {shown[:LONGEST_SHOWN]}{'...' if len(shown) > LONGEST_SHOWN else ''}",
        expected="one statement of Hive SQL whose tables can be read from its text",
        next_step="correct it, or run it by the Spark or Hive of the cluster that it belongs to",
    )
