"""What the three REPL statements say (seed 002, 'New Commands')."""

from dataclasses import dataclass

from twinhive.core.model.scopes.scope import Scope

Setting = tuple[str, str]
"""A key and a value of `WITH`."""


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
