"""Let the driver of a job hear that its executors move bytes: they touch a file on the target, and it looks there.

Nothing else tells it before a task of Spark ends, which is hours away where a file is large. Who cannot be heard copies
all the same.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import Attributes
from twinhive.core.ports import FileReader, TreeWriter

MOVES = "twinhive moves: "
"""How a driver's line begins that says that its copy goes on."""

_LOOK_SECONDS = 60.0
_PATIENCE_SECONDS = 5.0


class Pulse:
    """Touch a file on the target at each call; an executor has it called when bytes have moved (`Progress`)."""

    def __init__(self, target: TreeWriter, path: str, clock: Callable[[], float] = time.time) -> None:
        self._target = target
        self._path = path
        self._clock = clock

    def __call__(self, line: str = "") -> None:
        """Touch it. Raises nothing."""
        with suppress(TwinhiveError):
            self._target.set_attributes(self._path, Attributes(modified_ms=int(self._clock() * 1000)))


class Listener:
    """Look at the files that executors touch."""

    def __init__(self, files: FileReader, paths: Callable[[], Collection[str]]) -> None:
        self._files = files
        self._paths = paths
        self._seen: dict[str, int] = {}

    def heard(self) -> bool:
        """Tell whether any of the files was touched since the last look. Clocks differ: any other time is a touch."""
        touched = False
        for path in list(self._paths()):
            with suppress(TwinhiveError):
                status = self._files.status(path)
                if status is not None:
                    touched |= self._seen.get(path, status.modified_ms) != status.modified_ms
                    self._seen[path] = status.modified_ms
        return touched


@contextmanager
def listening(listener: Listener, say: Callable[[], None], every: float = _LOOK_SECONDS) -> Iterator[None]:
    """Have `say` called inside, once after each look that has heard something."""
    ended = threading.Event()

    def listen() -> None:
        while not ended.wait(every):
            if listener.heard():
                say()

    listener.heard()
    thread = threading.Thread(target=listen, name="pulse", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_PATIENCE_SECONDS)
