"""Prove the leases that are held before each call that changes a metastore: no step has to think of it.

Whoever takes a lease takes it from the bundle of ports that it writes through (`WritePorts`), and the bundle remembers
it as long as it is held. Work that is independent of other work has a bundle of its own.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, TypeVar, cast

from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports.leases import Lease, LeaseKeeper
from twinhive.core.ports.metastores import MetastoreReader, MetastoreWriter, SourceMarker, UnreadWriter
from twinhive.core.ports.table_writers import TableWriter

Port = TypeVar("Port")

READS = frozenset(name for name in dir(MetastoreReader) if not name.startswith("_"))
WRITES = frozenset(
    name
    for port in (UnreadWriter, MetastoreWriter, SourceMarker, TableWriter)
    for name in vars(port)
    if not name.startswith("_")
)
"""The methods that change a metastore: all that the ports for it have beside those of a reader."""


class ProvingKeeper:
    """Hand out the leases of a keeper, and remember which of them are held: in one thread, for all of the work."""

    def __init__(self, keeper: LeaseKeeper) -> None:
        self._keeper = keeper
        self._held: tuple[Lease, ...] = ()
        self._changing = threading.Lock()

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator[Lease]:
        """Take a lease as the keeper does; until the context ends each write is preceded by its proof."""
        with self._keeper.hold(directory, holder, kind) as lease:
            with self._changing:
                self._held = (*self._held, lease)
            try:
                yield lease
            finally:
                with self._changing:
                    self._held = tuple(one for one in self._held if one is not lease)

    def holder(self, directory: str) -> str | None:
        """Say who has not released the lease, whoever that is."""
        return self._keeper.holder(directory)

    def is_held(self, directory: str) -> bool:
        """True while a process that may live holds the lease, whichever that is."""
        return self._keeper.is_held(directory)

    def prove(self) -> None:
        """Prove every lease that is held here, one that is held within another too. Raises LeaseLost."""
        for lease in self._held:
            lease.confirm()


class _Proved:
    """Be a metastore's writer, or a marker, of which each writing method proves the leases first.

    The methods are made below, from those that the ports name: one that is new there cannot be forgotten here.
    """

    def __init__(self, port: Any, leases: ProvingKeeper) -> None:
        self._port = port
        self._leases = leases


def _after_a_proof(method: str) -> Callable[..., Any]:
    def write(self: _Proved, *args: Any, **kwargs: Any) -> Any:
        self._leases.prove()
        return getattr(self._port, method)(*args, **kwargs)

    return write


for _method in READS:
    setattr(_Proved, _method, property(attrgetter(f"_port.{_method}")))  # the port's own method: nothing in between
for _method in WRITES:
    setattr(_Proved, _method, _after_a_proof(_method))


def proving_keeper(keeper: LeaseKeeper) -> ProvingKeeper:
    """Return what remembers the leases of a keeper; a keeper that does so itself stays as it is."""
    return keeper if isinstance(keeper, ProvingKeeper) else ProvingKeeper(keeper)


def proved(port: Port, leases: ProvingKeeper) -> Port:
    """Return a port that proves the leases before each write; one that has proved others proves these alone."""
    return cast(Port, _Proved(unproved(port), leases))


def unproved(port: Port) -> Port:
    """Return the port behind the proofs: for whoever asks more of it than a port has, or puts something in between."""
    return cast(Port, port._port) if isinstance(port, _Proved) else port
