"""Let a job end when the process that submitted it does, however that ended: two copies must not write to one target.

The submitter holds a lock on a file as long as it lives; the job waits for it in a thread.
"""

import fcntl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a file for the length of the context; a killed process holds it no more."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def when_let_go(path: Path, end: Callable[[], None]) -> None:
    """Call `end` in a thread of its own as soon as nobody holds the file any more."""
    file = path.open("rb")

    def wait() -> None:
        with file:
            fcntl.flock(file, fcntl.LOCK_SH)
        end()

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
