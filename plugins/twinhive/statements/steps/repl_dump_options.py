"""What a REPL DUMP is to do, and what it left."""

from collections.abc import Iterable
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings, Missing
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.model.remotes.as_source import refused_remote
from twinhive.core.model.scopes.scope_texts import MOST_BYTES, is_too_long
from twinhive.core.ports import MetastoreReader

_SHOWN = 100


@dataclass(frozen=True)
class DumpOrder:
    """What a statement asks for (seed 002, 'REPL DUMP').

    policy      the scope; its `dump_directory` is where this dump goes, and no other
    replaced    the scope that the replica has so far, when the statement says REPLACE
    from_event  the replicated event id: events after it are dumped. None: a bootstrap
    to_event    the last event, None: the newest one
    limit       most events of the scope, None: all
    metadata_only   managed tables come without their files
    external_whole  all external tables come whole with the events, for a replica that was made without them
    scope, replaces, statement are the texts of those, in their canonical form
    """

    policy: Policy
    statement: str
    scope: str
    replaced: Policy | None = None
    replaces: str = ""
    from_event: int | None = None
    to_event: int | None = None
    limit: int | None = None
    metadata_only: bool = False
    external_whole: bool = False

    @property
    def is_bounded(self) -> bool:
        """True when the statement may end before the newest event."""
        return self.to_event is not None or self.limit is not None

    def brings_only_new(self, whole: Iterable[str]) -> bool:
        """True when REPLACE names a scope that selects none of the tables that come whole."""
        return self.replaced is not None and not any(map(self.replaced.selects, whole))


@dataclass(frozen=True)
class Dumped:
    """What REPL DUMP returns: the directory, and the event that a replica is at when it has loaded it."""

    directory: str
    last_event: int


def dumped_database(source: MetastoreReader, address: DatabaseAddress) -> Database:
    """Return the database that a statement names. Raises Missing, also when it is dropped while it is dumped."""
    found = source.database(address.database)
    if found is not None and (remote := refused_remote(found, address)) is not None:
        raise remote
    if found is None:
        raise Missing(
            f"database {address.database} does not exist on cluster {address.cluster}",
            found=f"no such database at {', '.join(source.addresses())}",
            expected="the database that the statement names",
            next_step="correct the statement, or say with --cluster which cluster has the database",
        )
    return found


def refuse_long_scope(scope: str) -> None:
    """Raise InvalidSettings for a scope that a replica could not remember: its load would fail at its end."""
    if is_too_long(scope):
        raise InvalidSettings(
            "no replica can remember the scope of this statement: a metastore keeps no parameter that is so long",
            found=f"{len(scope.encode())} bytes: {scope[:_SHOWN]}...",
            expected=f"at most {MOST_BYTES} bytes",
            next_step="dump with fewer or shorter patterns: one regular expression can stand for many names",
        )
