"""State what is needed of a local metastore to keep remotes in it."""

from typing import Protocol

from twinhive.model.objects import Database, Table


class RemoteReader(Protocol):
    """Read what may be a remote."""

    def all_databases(self) -> list[Database]:
        """Return all databases, in one call."""
        ...

    def views_with(self, parameter: str) -> list[Table]:
        """Return the views of all databases that have a parameter; its key holds no dot."""
        ...
