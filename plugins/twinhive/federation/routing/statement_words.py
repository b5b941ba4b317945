"""What is to be seen in the words of a statement before it is read as a tree: where engines may see something else."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.dialects.hive import Hive
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from twinhive.hive.views.comments import COMMENT, unclear_comment

_VARIABLE = re.compile(r"\$\{[^}]*\}?")


@dataclass(frozen=True)
class Words:
    """A statement's words.

    text       the statement without comments, and without what the parser does not know
    unclear    why nobody can tell what will be run, '' where one can
    escaped    texts that are written with backslashes, which a session may read as they are
    has_pipes  `|>` is used
    """

    text: str
    unclear: str = ""
    escaped: frozenset[str] = frozenset()
    has_pipes: bool = False


def words_of(text: str) -> Words:
    """Look at the words of a statement; a text or a comment that does not end makes them unclear."""
    if variable := _VARIABLE.search(text):
        return Words(text, unclear=f"{variable[0]} stands for something that only the session knows which runs it")
    try:
        if why := unclear_comment(text):
            return Words(text, unclear=why)
        text = COMMENT.sub(lambda found: found[0] if found["said"] or found["hint"] else " ", text).strip()
        tokens = Hive().tokenize(text)
    except SqlglotError:
        return Words(text, unclear="no statement of SQL that is known here")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens[:-1]):
        return Words(text, unclear="several statements")
    texts = (token for token in tokens if token.token_type is TokenType.STRING)
    return Words(
        _known(text, tokens),
        escaped=frozenset(token.text for token in texts if "\\" in text[token.start : token.end + 1]),
        has_pipes=any(token.token_type is TokenType.PIPE_GT for token in tokens),
    )


def _known(text: str, tokens: Sequence[Token]) -> str:
    """Return a statement without IF NOT EXISTS after the PARTITION of an INSERT: it changes nothing of what is used."""
    words = [token.text.lower() for token in tokens]
    for at in range(len(tokens) - 3, 0, -1):
        if words[at - 1 : at + 3] == [")", "if", "not", "exists"] and tokens[0].token_type is not TokenType.CREATE:
            text = text[: tokens[at].start] + text[tokens[at + 2].end + 1 :]
    return text
