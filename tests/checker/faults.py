"""Let a run meet one fault: a kill, a lost request, a lost answer, or a freeze that outlasts its lease."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import Any

from tests.checker.interleaving import pause
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.fake_world import Killable, Killed
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import Lease, WritePorts


class Fault(Enum):
    """What happens to a run at one of its changes."""

    NONE = "none"
    KILL_BEFORE = "killed before"
    KILL_AFTER = "killed after"
    LOST_REQUEST = "request lost"
    LOST_ANSWER = "answer lost"
    FREEZE = "frozen before"
    SERVER = "a server killed before"


OF_A_PROCESS = (Fault.KILL_BEFORE, Fault.KILL_AFTER, Fault.LOST_REQUEST, Fault.LOST_ANSWER, Fault.FREEZE)


class Plan:
    """Count the changes of one run at some of its ports, and let the fault happen at one of them."""

    def __init__(
        self, fault: Fault = Fault.NONE, at: int = 0, port: str = "", action: Callable[[], None] = lambda: None
    ) -> None:
        self.action = action
        self.fault = fault
        self.at = at
        self.port = port
        self.count = 0
        self.met: str | None = None
        self.is_at_change = False
        self._lock = threading.Lock()

    def change(self, name: str, effect: Callable[[], Any]) -> Any:
        """Carry one change out, or what the fault makes of it."""
        with self._lock:
            self.count += name.startswith(self.port)
            here = self.met is None and self.fault is not Fault.NONE and self.count == self.at
            dead = self.met is not None and self.fault in (Fault.KILL_BEFORE, Fault.KILL_AFTER)
        if dead:
            raise Killed
        if not here:
            return effect()
        self.met = name
        self._before(name)
        result = effect()
        if self.fault is Fault.KILL_AFTER:
            raise Killed
        if self.fault is Fault.LOST_ANSWER:
            raise Unreachable(f"{name}: the answer was lost")
        return result

    def _before(self, name: str) -> None:
        match self.fault:
            case Fault.KILL_BEFORE:
                raise Killed
            case Fault.LOST_REQUEST:
                raise Unreachable(f"{name}: nobody answered")
            case Fault.FREEZE:
                pause()
            case Fault.SERVER:
                self.action()
            case _:
                return


class _Faulty:
    """Pass calls on; changes go through the plan, and before any call something else may happen."""

    def __init__(self, port: Any, plan: Plan, meanwhile: Callable[[], None], name: str) -> None:
        self._port = port
        self._plan = plan
        self._meanwhile = meanwhile
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            self._plan.is_at_change = name in Killable.CHANGES
            self._meanwhile()
            if name in Killable.CHANGES:
                return self._plan.change(f"{self._name}.{name}", lambda: value(*args, **kwargs))
            return value(*args, **kwargs)

        return call


def faulty(ports: WritePorts, plan: Plan, meanwhile: Callable[[], None] = lambda: None) -> WritePorts:
    """Return ports whose changes meet the fault of a plan; `meanwhile` is called before every call."""

    def wrapped(name: str) -> Any:
        return _Faulty(getattr(ports, name), plan, meanwhile, name)

    return replace(
        ports,
        source=wrapped("source"),
        replica=wrapped("replica"),
        source_files=wrapped("source_files"),
        replica_files=wrapped("replica_files"),
        dump_files=wrapped("dump_files"),
        source_marker=wrapped("source_marker"),
    )


class LeaseWithTakeOver(InMemoryLease):
    """Let those who are to lose the lease have their last call before the next one holds it.

    The real lease waits for as long as a call of its last holder may be under way.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before_next: list[Callable[[], None]] = []

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind = LeaseKind.EVENTS) -> Iterator[Lease]:  # type: ignore[override]
        with super().hold(directory, holder, kind) as lease:
            while self.before_next:
                self.before_next.pop()()
            yield lease
