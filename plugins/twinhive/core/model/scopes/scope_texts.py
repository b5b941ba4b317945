"""Write a scope, and the texts in it, as the seed spells them: one text for one value, on one line."""

import re
from collections.abc import Iterable

from twinhive.core.model.files import short_hash
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope import Scope

ANY_SCOPE = "*"
"""What a dump of Hive's replaces: it says that the policy changed, and not which one it was."""

MOST_BYTES = 4000
"""What a metastore keeps of a database's parameter."""
_BARE_NAME = re.compile(r"(?!(?:replace|from|to|limit|into|with|[0-9]+)\b)[a-z0-9]\w*", re.ASCII)


def scope_text(scope: Scope) -> str:
    """Return a scope's text: the same for equal scopes, so that a replica can remember it."""
    name = name_text(scope.database)
    if scope.exclude:
        return f"{name}.{_patterns(scope.patterns)}.{_patterns(scope.exclude)}"
    return name if scope.include is None else f"{name}.{_patterns(scope.include)}"


def policy_scope(policy: Policy) -> str:
    """Return the text of what a policy selects."""
    return scope_text(Scope(policy.source.database, policy.include, policy.exclude))


def remembered_scope(policy: Policy) -> str | None:
    """Return what a policy selects, for a replica that its DAGs bring further; None for what no parameter can hold."""
    text = policy_scope(policy)
    return None if is_too_long(text) else text


def scope_without(policy: Policy, tables: Iterable[str]) -> str:
    """Return the scope of a policy without tables, as a parameter holds it."""
    left_out = (*policy.exclude, *map(re.escape, tables))
    return held_scope(scope_text(Scope(policy.source.database, policy.include, left_out)))


def held_scope(text: str) -> str:
    """Return a scope's text as a parameter holds it; of one that is too long what no statement can say."""
    return f"{ANY_SCOPE} {short_hash(text, 32)}" if is_too_long(text) else text


def is_too_long(text: str) -> bool:
    """True for a scope's text that no parameter can hold."""
    return len(text.encode()) > MOST_BYTES


def name_text(database: str) -> str:
    """Return the name of a database as a statement has it: in backticks where the bare name would be read otherwise."""
    return database if _BARE_NAME.fullmatch(database) else f"`{database}`"


def quoted(text: str) -> str:
    """Return a text in single quotes, on one line, that a statement reads as the same text."""
    return f"'{''.join(map(_written, text))}'"


def _patterns(patterns: tuple[str, ...]) -> str:
    return f"[{', '.join(map(quoted, patterns))}]"


def _written(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char.isprintable():
        return char
    halves = char.encode("utf-16-be")
    return "".join(f"\\u{halves[at : at + 2].hex()}" for at in range(0, len(halves), 2))
