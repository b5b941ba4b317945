"""Know what remotes a metastore defines without reading all of it each time: its notification log says what to look at.

Everything is read once, and again after ten minutes. In between, names of databases and a log whose newest event is the
same say that nothing is new; else only databases are read of which the log speaks, however many others there are. Data
connectors are few, and are read each time where a database has one.
"""

import threading
from collections.abc import Callable, Collection
from typing import Final, Protocol

from twinhive.core.model.objects import Database, Table
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.remotes.definitions import REMOTE, Definitions
from twinhive.federation.remotes.kept_remotes import definitions_of

MOST_AGE: Final = 600.0
"""Seconds; a log may be cleaned, or be written no more, without telling anybody."""
READ_SHARE: Final = 20.0
"""Reading everything takes the metastore one part in so many of the time at most."""


class DefinitionReader(Protocol):
    """What is read of the local metastore."""

    def newest_event(self) -> int | None:
        """Return the id of the newest event; None for a log that holds none, or may not be read."""
        ...

    def databases_changed_after(self, event_id: int) -> Collection[str] | None:
        """Return the databases, in lower case, that later events speak of; None for too many events."""
        ...

    def all_databases(self) -> list[Database]:
        """Return all databases."""
        ...

    def database_names(self) -> Collection[str]:
        """Return the names of all databases, in lower case."""
        ...

    def database(self, name: str) -> Database | None:
        """Return one database, None where there is none of this name."""
        ...

    def views_with(self, parameter: str) -> list[Table]:
        """Return the views of all databases that have a parameter."""
        ...

    def views_of(self, database: str, parameter: str) -> list[Table]:
        """Return those of one database."""
        ...

    def connectors(self) -> dict[str, DataConnector]:
        """Return all data connectors, by their names in lower case."""
        ...


class LocalDefinitions:
    """What one metastore defines, as it is now; threads may ask at once."""

    def __init__(self, reader: DefinitionReader, clock: Callable[[], float]) -> None:
        self._reader, self._clock = reader, clock
        self._lock = threading.Lock()
        self._known: Definitions | None = None
        self._event: int | None = None
        self._databases: dict[str, Database] = {}
        self._views: dict[str, list[Table]] = {}
        self._connectors: dict[str, DataConnector] = {}
        self._read_at = self._took = 0.0

    @property
    def read_share(self) -> float:
        """One part in how much of the time a reading may take; 0 for one that takes next to nothing."""
        return READ_SHARE if self._event is None else 0.0

    def read(self) -> Definitions:
        """Return what is defined now. Raises what reading raises."""
        with self._lock:
            newest = self._reader.newest_event()
            changed = self._changed(newest)
            if changed is None:
                self._read_all()
            else:
                # Hive 4.1 writes no event when a database of type REMOTE is dropped.
                moved = self._databases.keys() ^ self._reader.database_names()
                if changed or moved or newest != self._event:
                    self._read_some({*changed, *moved})
                elif (connectors := self._read_connectors()) != self._connectors:
                    # Not every metastore writes an event when a data connector is altered.
                    self._put_together(connectors)
            self._event = newest
            assert self._known is not None
            return self._known

    def _changed(self, newest: int | None) -> Collection[str] | None:
        """Return the databases to read again; None where all have to be read."""
        is_old = self._clock() - self._read_at >= max(MOST_AGE, self._took * READ_SHARE)
        if self._known is None or self._event is None or newest is None or newest < self._event or is_old:
            return None
        return () if newest == self._event else self._reader.databases_changed_after(self._event)

    def _read_all(self) -> None:
        began = self._clock()
        self._databases = {one.name.lower(): one for one in self._reader.all_databases()}
        self._views = {}
        for view in self._reader.views_with(REMOTE):
            self._views.setdefault(view.name.database, []).append(view)
        self._put_together(self._read_connectors())
        self._read_at, self._took = began, self._clock() - began

    def _read_some(self, changed: Collection[str]) -> None:
        # A view may have gone from a database to one that its event speaks of: those that have some are looked at too.
        for name in {*changed, *(self._views if changed else ())}:
            database = self._reader.database(name)
            views = [] if database is None else self._reader.views_of(name, REMOTE)
            self._databases.pop(name, None)
            self._views.pop(name, None)
            if database is not None:
                self._databases[name] = database
            if views:
                self._views[name] = views
        self._put_together(self._read_connectors())

    def _read_connectors(self) -> dict[str, DataConnector]:
        """Return the data connectors; they are read only where a database has one."""
        return self._reader.connectors() if any(one.connector for one in self._databases.values()) else {}

    def _put_together(self, connectors: dict[str, DataConnector]) -> None:
        views = (view for some in self._views.values() for view in some)
        self._known = definitions_of(self._databases.values(), views, connectors)
        self._connectors = connectors
