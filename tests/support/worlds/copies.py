"""Copy a world as it is at one moment: much cheaper than making it again."""

import copyreg
import io
import pickle
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def copies_of(world: T) -> Callable[[], T]:
    """Return what makes a copy of a world, with locks of its own."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content)
    locks = {type(threading.Lock()): threading.Lock, type(threading.RLock()): threading.RLock}
    pickler.dispatch_table = copyreg.dispatch_table | {
        kind: lambda lock, make=make: (make, ()) for kind, make in locks.items()
    }
    pickler.dump(world)
    return lambda: pickle.loads(content.getvalue())
