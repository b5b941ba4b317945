"""Which tables and views of a database are meant: scopes that say the same are equal."""

import re
from dataclasses import dataclass

from twinhive.core.model.policy import is_named

WHOLE_DATABASE = ".*"
_EVERYTHING = {".*", ".*?", ".+", ".+?"}
_PLAIN_NAME = re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True)
class Scope:
    """A replication policy in the sense of the statements: a database, and which of its tables and views.

    include  regular expressions for whole names in any case; None: all of them; (): none, only functions
    exclude  the same for those that are left out

    Scopes that say the same in other words are equal: the order of patterns, patterns said twice, the case of a plain
    name and the spelling of 'everything' do not count (seed 002: `sales` and `sales.['.*?']` are one example).
    """

    database: str
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        include = None if self.include is None else _canonical(self.include)
        if include is not None and not _EVERYTHING.isdisjoint(include):
            include = None
        object.__setattr__(self, "database", self.database.lower())
        object.__setattr__(self, "include", include)
        object.__setattr__(self, "exclude", () if include == () else _canonical(self.exclude))

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of `include` as a policy writes them: the whole database is a pattern as well."""
        return (WHOLE_DATABASE,) if self.include is None else self.include

    def selects(self, table: str) -> bool:
        """True when a table's or view's name, without its database, is in scope."""
        return is_named(table, self.patterns) and not is_named(table, self.exclude)


def _canonical(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({one.lower() if _PLAIN_NAME.fullmatch(one) else one for one in patterns}))
