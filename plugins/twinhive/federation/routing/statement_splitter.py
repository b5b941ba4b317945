"""Cut a script into its statements: SQL as well as statements of our own."""

import re
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow

_COMMENT = re.compile(r"\s*(?:--[^\n]*(?:\n|$)|/\*(?!\+).*?\*/)", re.DOTALL)


@dataclass(frozen=True)
class Cut:
    """A statement, and where it stands in its text."""

    begin: int
    end: int
    text: str

    @property
    def bare(self) -> str:
        """The statement without comments. One in quotes is taken for one, too: look at first words only."""
        return _COMMENT.sub(" ", self.text).strip()


def cut(script: str) -> list[Cut]:
    """Cut at the semicolons outside of quotes and comments; what holds comments only is left out. Raises ActNow."""
    # Imported here because reading SQL takes 17 MB.
    from sqlglot.dialects.hive import Hive
    from sqlglot.errors import SqlglotError
    from sqlglot.tokenizer_core import TokenType

    try:
        ends = [one.start for one in Hive().tokenize(script) if one.token_type is TokenType.SEMICOLON]
    except SqlglotError as error:
        raise ActNow(
            "the script cannot be cut into statements",
            found=str(error.__cause__ or error).partition("\n")[0],
            expected="statements, each but the last ended by a semicolon",
            next_step="close its texts and comments",
        ) from error
    begins = [0, *(end + 1 for end in ends)]
    cuts = (Cut(*at, script[slice(*at)].strip()) for at in zip(begins, [*ends, len(script)], strict=True))
    return [one for one in cuts if one.bare]
