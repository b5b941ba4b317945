"""What is to be seen in the words of a statement before it is read as a tree: where engines may see something else."""

import re
from dataclasses import dataclass

from sqlglot.dialects.hive import Hive
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

_VARIABLE = re.compile(r"\$\{[^}]*\}?")


@dataclass(frozen=True)
class Words:
    """A statement's words.

    begin      where its first word is, after comments
    unclear    why nobody can tell what will be run, '' where one can
    escaped    texts that are written with backslashes, which a session may read as they are
    has_pipes  `|>` is used
    """

    begin: int = 0
    unclear: str = ""
    escaped: frozenset[str] = frozenset()
    has_pipes: bool = False


def words_of(text: str) -> Words:
    """Look at the words of a statement. One that has no words, or a text that does not end, is for the parser."""
    if variable := _VARIABLE.search(text):
        return Words(unclear=f"{variable[0]} stands for something that only the session knows which runs it")
    try:
        tokens = Hive().tokenize(text)
    except SqlglotError:
        return Words()
    if any("/*" in comment for token in tokens for comment in token.comments):
        return Words(unclear="a comment in a comment, which ends sooner for Hive than for Spark")
    texts = (token for token in tokens if token.token_type is TokenType.STRING)
    return Words(
        begin=tokens[0].start if tokens else 0,
        escaped=frozenset(token.text for token in texts if "\\" in text[token.start : token.end + 1]),
        has_pipes=any(token.token_type is TokenType.PIPE_GT for token in tokens),
    )
