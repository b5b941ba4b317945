"""Let a job end when the process that submitted it does, however that ended: two copies must not write to one target.

The submitter holds a lock on a file as long as it lives; the job waits for it in a thread.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from twinhive.core.model.exit_codes import ExitCode


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


def end_with_the_submitter(settings: Path) -> None:
    """End this process as soon as its submitter, who holds the file of settings, is no more; remove the file then."""
    when_let_go(settings, partial(_end_alone, settings))


def _end_alone(settings: Path) -> None:
    """End this process at once; Spark's Java, its parent, follows, and takes the executors along."""
    with suppress(OSError):
        settings.unlink()  # nobody else is left to do it, and it may hold secrets
    os._exit(ExitCode.TRY_AGAIN)
