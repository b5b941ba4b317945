"""See the replica after every single call that changes it."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from tests.checker.judge import Judge
from tests.checker.states import DatabaseState, Viewer
from tests.support.worlds.fake_world import Killable
from twinhive.core.model.errors import TwinhiveError, Unreachable
from twinhive.core.model.files import is_below
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table

_OF_THE_DATABASE = frozenset({"set_database_parameters", "alter_database", "create_function", "drop_function"})


class Watcher:
    """Show a judge the replica, as soon as it says that it follows its source.

    After a call only the tables that it concerns are read again (`see_call`); `look` reads all, and asserts
    that nothing was missed. What cannot be read, because a server is down, is seen the next time.

    A real server may carry a call out long after its caller has given up (`calls_come_late`): from then on something
    may change without a call. It is judged all the same, once two readings in a row are equal.
    """

    calls_come_late = False

    def __init__(self, viewer: Viewer, judge: Judge, staging: str, *, every_call: bool = True) -> None:
        self._every_call = every_call
        self._viewer = viewer
        self._judge = judge
        self._staging = staging
        self._lock = threading.RLock()
        self._known: DatabaseState | None = None
        self._places: dict[str, str] = {}
        self.unseen = 0
        self._may_come_late = False

    def call(self, name: str, effect: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Carry one call out and look, with nobody else in between."""
        with self._lock:
            try:
                return effect(*args, **kwargs)
            except TwinhiveError as error:
                # Whether it has happened is not known, or it has partly.
                self._known = None
                self._may_come_late |= self.calls_come_late and isinstance(error, Unreachable)
                raise
            finally:
                if self._every_call and not self._is_about_staging(args):
                    self._see_call(name, args)

    def look(self, when: str = "") -> None:
        """Read all and judge it."""
        with self._lock:
            known = self._known if self._every_call and not self._may_come_late else None
            self._known = None
            self._see(when, ())
            assert known is None or self._known is None or self._known == known, f"a change of {when} was not seen"

    def forget(self) -> None:
        """Know nothing any more: others have changed the replica."""
        self._known = None

    def _see_call(self, name: str, args: tuple[Any, ...]) -> None:
        paths = [arg for arg in args if isinstance(arg, str) and "://" in arg]
        tables = self._tables_at(paths) if paths else set(_tables_of(name, args))
        if not paths or tables or self._known is None:
            self._see(f"{name} {_told(args)}", tables)

    def _see(self, when: str, tables: Iterable[str]) -> None:
        try:
            position, self._known = self._reading(set(tables))
            while self._known is not None and self._may_come_late:
                # A call that is carried out while we read may show the table of before, and the partitions of after.
                before = position, self._known
                position, self._known = self._reading(set())
                if before == (position, self._known):
                    break
        except TwinhiveError:
            self._known = None
            self.unseen += 1
            return
        if self._known is not None:
            self._judge.see(position, self._known, when)

    def _reading(self, tables: set[str]) -> tuple[int, DatabaseState | None]:
        """Return the position and the state of a replica that follows; no state of one that does not."""
        state = ReplicaState.read(self._viewer.parameters())
        following = state.phase is Phase.FOLLOWING
        return state.position.event_id, self._read(tables) if following else None

    def _read(self, tables: set[str]) -> DatabaseState:
        if self._known is None or self._may_come_late:
            self._places = {}
            state = self._viewer.state()
            self._places |= self._viewer.places
            return state
        # What becomes of a table becomes of the foreign keys to it.
        endings = tuple(f" in {table}" for table in tables)
        referring = {
            name for name, table in self._known.tables if any(one.endswith(endings) for one in table.constraints)
        }
        tables = tables | referring
        database = self._viewer.state(only=())
        kept = {name: table for name, table in self._known.tables if name not in tables}
        state = database.with_tables(kept | self._viewer.tables(tables))
        self._places = {place: table for place, table in self._places.items() if table not in tables}
        self._places |= self._viewer.places
        return state

    def _tables_at(self, paths: list[str]) -> set[str]:
        """Return the tables that have something at one of the paths, below it, or above it."""
        return {
            table
            for place, table in self._places.items()
            for path in paths
            if place == path or is_below(path, place) or is_below(place, path)
        }

    def _is_about_staging(self, args: tuple[Any, ...]) -> bool:
        """True for a change of files that no reader of tables can see."""
        paths = [arg for arg in args if isinstance(arg, str) and "://" in arg]
        return bool(paths) and all(is_below(path, self._staging) for path in paths)


class Watched:
    """Pass calls on to a port of the replica; changes are seen by a watcher."""

    def __init__(self, port: Any, watcher: Watcher) -> None:
        self._port = port
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if name not in Killable.CHANGES:
            return value
        return lambda *args, **kwargs: self._watcher.call(name, value, *args, **kwargs)


def _tables_of(name: str, args: tuple[Any, ...]) -> Iterable[str]:
    """Return the tables that a call to a metastore names."""
    if name in _OF_THE_DATABASE:
        return
    for arg in args:
        for one in arg if isinstance(arg, list | tuple) else [arg]:
            if isinstance(one, TableName):
                yield one.table
            elif isinstance(one, Table):
                yield one.name.table
            elif isinstance(one, Partition):
                yield one.table.table


def _told(args: tuple[Any, ...]) -> str:
    return " ".join(str(getattr(arg, "name", arg))[:160] for arg in args[:2])
