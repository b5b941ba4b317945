"""What the three REPL statements say (seed 002, 'New Commands')."""

import re
from dataclasses import dataclass

from twinhive.model.policy import is_named

WHOLE_DATABASE = ".*"
_EVERYTHING = {".*", ".*?", ".+", ".+?"}
_PLAIN_NAME = re.compile(r"\w+", re.ASCII)
Setting = tuple[str, str]
"""A key and a value of `WITH`."""


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


@dataclass(frozen=True)
class DumpStatement:
    """Dump a scope: its objects, or with `from_event` what the log says of it.

    replaced    the scope of the dumps before, when it changes with this one; of the same database
    from_event  the first event id that is *not* dumped: what REPL STATUS says of the replica
    to_event    the last event id that is
    limit       most events of the scope, at least 1
    """

    scope: Scope
    replaced: Scope | None = None
    from_event: int | None = None
    to_event: int | None = None
    limit: int | None = None
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class LoadStatement:
    """Load a dump into a database.

    database   with `directory` alone the database to load into, with `into` the one that was dumped; None: as dumped
    into       the database to load into, in Hive 4's spelling
    directory  absolute path or URI of the dump; None: the newest one of `database`
    """

    database: str | None = None
    into: str | None = None
    directory: str | None = None
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class StatusStatement:
    """Ask for the last event id that a replica has."""

    database: str
    settings: tuple[Setting, ...] = ()


Statement = DumpStatement | LoadStatement | StatusStatement
