"""Watch that each change of a metastore under a policy's lease comes after a proof of the lease."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import (
    Lease,
    LeaseKeeper,
    MetastoreWriter,
    SourceMarker,
    UnreadWriter,
    WritePorts,
    proved_writes,
)
from twinhive.core.ports.proved_writes import unproved

WRITES = frozenset(
    name for port in (UnreadWriter, MetastoreWriter, SourceMarker) for name in vars(port) if not name.startswith("_")
)
"""The methods that change a metastore."""


class ProofWatch:
    """Count the writes that go through watched ports while a lease is held, and name those that are not proved.

    A write is proved when its thread has confirmed the lease since it took it, and since its own write before: one
    thread's proof says nothing of another's. What goes to the metastore itself, as users in tests do, is not watched,
    and what is written while nobody holds a lease is not counted.
    """

    def __init__(self) -> None:
        self.writes: Counter[str] = Counter()
        """By method."""
        self.unproved: Counter[str] = Counter()
        """By method, and by module and function of the caller: `add_partitions by diverged_backup._add`."""
        self._held = 0
        self._thread = threading.local()
        self._lock = threading.Lock()

    def over(self, world: Any) -> None:
        """Let all ports that a world hands out from now on be watched."""
        unwatched: Callable[[], WritePorts] = world.ports
        world.ports = lambda: self.ports(unwatched())

    def ports(self, ports: WritePorts) -> WritePorts:
        """Return the same ports, watched behind the proofs that they make by themselves.

        The leases of single directories, which copies hold, are not watched.
        """
        return replace(
            ports,
            replica=_Watched(unproved(ports.replica), self),
            source_marker=_Watched(unproved(ports.source_marker), self),
            lease=_WatchedKeeper(ports.lease, self),
        )

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Note that a lease is held for the length of the context."""
        self._thread.proved = False
        with self._lock:
            self._held += 1
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1

    def prove(self) -> None:
        """Note that this thread has proved its lease."""
        self._thread.proved = True

    def write(self, method: str, caller: str) -> None:
        """Note a write of this thread."""
        with self._lock:
            if not self._held:
                return
            self.writes[method] += 1
            if not getattr(self._thread, "proved", False):
                self.unproved[f"{method} by {caller}"] += 1
        self._thread.proved = False


class _Watched:
    """Pass all calls on to a port, and note those that write."""

    def __init__(self, port: Any, watch: ProofWatch) -> None:
        self._port = port
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if name not in WRITES:
            return value

        def write(*args: Any, **kwargs: Any) -> Any:
            if [] not in args:  # a call with an empty list changes nothing
                self._watch.write(name, _caller())
            return value(*args, **kwargs)

        return write


class _WatchedKeeper:
    """Hand out leases whose proofs are noted."""

    def __init__(self, keeper: LeaseKeeper, watch: ProofWatch) -> None:
        self._keeper = keeper
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._keeper, name)

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator[Lease]:
        with self._keeper.hold(directory, holder, kind) as lease, self._watch.holding():
            yield _WatchedLease(lease, self._watch)


class _WatchedLease:
    """Pass proofs on to a lease, and note those that hold."""

    def __init__(self, lease: Lease, watch: ProofWatch) -> None:
        self._lease = lease
        self._watch = watch

    def confirm(self) -> None:
        self._lease.confirm()
        self._watch.prove()


def _caller() -> str:
    """Return module and function of whoever called a watched method."""
    frame = sys._getframe(2)
    while frame.f_globals["__name__"] == proved_writes.__name__ and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_globals['__name__'].rpartition('.')[2]}.{frame.f_code.co_name}"
