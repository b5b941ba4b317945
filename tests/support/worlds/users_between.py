"""Let users act between any two calls that replication makes of a metastore."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from twinhive.core.ports import WritePorts

_NOTHING_BETWEEN = ("alter_partitions", "set_database_parameters")
"""The metastore compares nothing here: these are called right after the object was read, and nobody can be between."""


@dataclass
class UsersBetween:
    """Act once, just before the `at`-th call; where nobody can be in between, just after it."""

    at: int
    act: Callable[[], object]
    count: int = 0

    def call(self, name: str, effect: Callable[[], Any]) -> Any:
        """Count a call and carry it out."""
        self.count += 1
        is_now, is_after = self.count == self.at, name in _NOTHING_BETWEEN
        if is_now and not is_after:
            self.act()
        found = effect()
        if is_now and is_after:
            self.act()
        return found


class _Beside:
    """Pass everything on to a metastore, with users beside."""

    def __init__(self, metastore: Any, users: UsersBetween) -> None:
        self._metastore = metastore
        self._users = users

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._metastore, name)
        if not callable(value):
            return value
        return lambda *given, **named: self._users.call(name, lambda: value(*given, **named))


def beside_users(ports: WritePorts, users: UsersBetween) -> WritePorts:
    """Return the same ports, with users who act beside what is called of the replica's metastore."""
    return replace(ports, replica=_Beside(ports.replica, users))
