"""Let something happen before any call of an operation: users act, an operator's next call comes, a process dies."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from twinhive.core.ports import TreePorts, WritePorts

Before = Callable[[str, str, tuple[Any, ...]], None]
"""Is told the port, the method and its arguments."""
_READS = {
    "alter_partitions": "partitions",
    "set_database_parameters": "database",
    "alter_database": "database",
}
"""Calls without a comparison at the server, and what is read directly before them: nothing comes between the two."""


class Interposed:
    """Pass calls on to a port, each after what comes before it."""

    def __init__(self, port: Any, name: str, before: Before) -> None:
        self._port, self._name, self._before = port, name, before

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            self._before(self._name, name, args)
            return value(*args, **kwargs)

        return call


def interposed(ports: WritePorts, before: Before) -> WritePorts:
    """Return ports before each of whose calls something happens."""

    def one(name: str) -> Any:
        return Interposed(getattr(ports, name), name, before)

    trees = TreePorts(
        Interposed(ports.trees.source, "source_files", before),
        Interposed(ports.trees.replica, "replica_files", before),
        ports.trees.lease,
        Interposed(ports.trees.restored, "dump_files", before),
    )
    ours = ("source", "replica", "source_files", "replica_files", "dump_files", "source_marker")
    return replace(ports, trees=trees, **{name: one(name) for name in ours})


class Moments:
    """Choose the moments at which somebody else acts, and leave those alone in which nobody can do anything right."""

    def __init__(self, next_gap: Callable[[], int], act: Callable[[], None], after: Callable[[int], None]) -> None:
        self.calls = 0
        self.marked_at: int | None = None
        """The call that has marked the replica's database last."""
        self._next_gap, self._act, self._after = next_gap, act, after
        self._next = next_gap()
        self._acted_at: int | None = None
        self._last = ("", "")
        self._is_inside = False
        self._thread = threading.get_ident()

    def __call__(self, port: str, method: str, args: tuple[Any, ...]) -> None:
        """Be told of a call before it is made."""
        if self._is_inside or threading.get_ident() != self._thread:
            return
        self._is_inside = True
        try:
            self.calls += 1
            if self._acted_at is not None:
                self._after(self.calls - self._acted_at)
            is_one_with_last = self._last == (port, _READS.get(method, "-"))
            if self.calls >= self._next and not is_one_with_last:
                self._next = self.calls + self._next_gap()
                self._acted_at = self.calls
                self._act()
            if (port, method) == ("replica", "set_database_parameters"):
                self.marked_at = self.calls
            self._last = (port, method)
        finally:
            self._is_inside = False
