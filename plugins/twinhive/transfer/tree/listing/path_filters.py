"""Choose paths by regular expressions; what cannot be understood stops the copy instead of letting all through."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings


@dataclass(frozen=True)
class Filter:
    """What is copied. An expression has to match a whole path, relative to its source: `logs/.*`, `.*[.]tmp`.

    What is excluded, and everything below an excluded directory, is not copied, and not deleted at the target.
    With an include, so is everything that neither matches one nor lies below a directory that does.
    """

    include: tuple[re.Pattern[str], ...] = ()
    exclude: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def of(cls, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> "Filter":
        """Return a filter. Raises InvalidSettings for an expression that does not compile."""
        return cls(tuple(map(_compiled, include)), tuple(map(_compiled, exclude)))

    @property
    def takes_all(self) -> bool:
        """True when nothing is left out."""
        return not self.include and not self.exclude

    def excludes(self, relative: str) -> bool:
        """True when a path, whose directories are not excluded, is."""
        return _matches(self.exclude, relative)

    def includes(self, relative: str) -> bool:
        """True when a path is included by its own name, whatever its directories are."""
        return not self.include or _matches(self.include, relative)


def _compiled(expression: str) -> re.Pattern[str]:
    try:
        # A dot is any character: a line break in a name must not carry it past a filter.
        return re.compile(expression, re.DOTALL)
    except re.error as error:
        raise InvalidSettings(
            f"filter {expression!r} does not compile",
            found=error,
            expected="a regular expression of Python",
            next_step="correct the expression",
        ) from error


def _matches(expressions: Sequence[re.Pattern[str]], relative: str) -> bool:
    return any(expression.fullmatch(relative) for expression in expressions)
