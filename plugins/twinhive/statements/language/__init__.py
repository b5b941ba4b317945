"""Read and write the statements REPL DUMP, REPL LOAD, REPL STATUS (seed 002, 'New Commands').

The grammar for people is in `docs/repl.md`.
Text and values only: nothing here knows a cluster, a policy file or the keys that `WITH` may name.
"""

from twinhive.core.model.scopes.scope import Scope
from twinhive.core.model.scopes.scope_texts import scope_text
from twinhive.statements.language.parsing import parse, parse_scope
from twinhive.statements.language.repl_values import DumpStatement, LoadStatement, Statement, StatusStatement
from twinhive.statements.language.statement_text import to_text

__all__ = [
    "DumpStatement",
    "LoadStatement",
    "Scope",
    "Statement",
    "StatusStatement",
    "parse",
    "parse_scope",
    "scope_text",
    "to_text",
]
