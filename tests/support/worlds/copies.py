"""Copy a world as it is at one moment: much cheaper than making it again."""

import copyreg
import io
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tests.support import seeds
from tests.support.hdfs.fake_lease import InMemoryLease

T = TypeVar("T")


def copies_of(world: T) -> Callable[[], T]:
    """Return what makes a copy of a world, with locks of its own."""
    content = _kept(world)
    return lambda: pickle.loads(content)


class Noticed:
    """Keep a copy of a world as it is before each change: what a kill there leaves. It is used like a kill switch.

    What is there after a change is there before the next, so that kills after an effect are among these.
    """

    def __init__(self, world: Any) -> None:
        self._world = world
        self._one_at_a_time = threading.RLock()
        self.kept: list[bytes] = []

    def change(self, effect: Callable[[], Any]) -> Any:
        """Keep a copy, then carry the change out."""
        with self._one_at_a_time:
            self.kept.append(_kept(self._world))
            return effect()


def left_by_kills(
    begin: Callable[[], T], act: Callable[[T, Any], Any], step: int = 1, first: int = 0, *, least: int = 0
) -> Iterator[T]:
    """Run `act` once, and give a world as a kill leaves it at a change, at last as the end does.

    `act` is given the world and the switch for its ports; it makes more than `least` changes. Of those from the `first`
    on, every `step`th is killed at, a part of them each day (`seeds.kill_points`). Nobody who lives holds a lease in
    such a world.
    """
    world = begin()
    noticed = Noticed(world)
    act(world, noticed)
    changes = noticed.kept[first:]
    assert len(changes) > least, f"{len(changes)} changes: there is less to kill at than the test is about"
    for content in [*changes[seeds.kill_points(step)], _kept(world)]:
        left = pickle.loads(content)
        lease_of(left).lose_holders()
        yield left


def lease_of(world: Any) -> InMemoryLease:
    """Return the keeper of leases of a world, or of what is built around one."""
    lease: InMemoryLease = getattr(world, "world", world).lease
    return lease


def _kept(world: Any) -> bytes:
    content = io.BytesIO()
    pickler = pickle.Pickler(content)
    locks = {
        type(threading.Lock()): threading.Lock,
        type(threading.RLock()): threading.RLock,
        threading.Condition: threading.Condition,
    }
    pickler.dispatch_table = copyreg.dispatch_table | {
        kind: lambda lock, make=make: (make, ()) for kind, make in locks.items()
    }
    pickler.dump(world)
    return content.getvalue()
