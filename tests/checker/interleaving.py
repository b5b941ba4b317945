"""Run something that can be paused at certain points, one such thing at a time, without its knowing.

Each runs in a thread of its own, but only while somebody steps it: so a history is the same each time.
"""

import threading
from collections.abc import Callable

_here = threading.local()


class Abandoned(BaseException):
    """Stand for a process that dies at a pause: nothing may catch it."""


class Pausable:
    """Be something that runs up to its next pause whenever it is stepped."""

    def __init__(self, body: Callable[[], object], name: str = "") -> None:
        self.name = name
        self.ended = False
        self.error: BaseException | None = None
        self._body = body
        self._go = threading.Semaphore(0)
        self._paused = threading.Semaphore(0)
        self._abandoned = False
        self._thread: threading.Thread | None = None

    def step(self) -> None:
        """Run up to the next pause, or to the end."""
        if self.ended:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        else:
            self._go.release()
        self._paused.acquire()

    def finish(self) -> None:
        """Run to the end, over all pauses."""
        while not self.ended:
            self.step()

    def abandon(self) -> None:
        """Let it die where it is."""
        if self._thread is not None and not self.ended:
            self._abandoned = True
            self.step()
        self.ended = True

    def _run(self) -> None:
        _here.pausable = self
        try:
            self._body()
        except Abandoned:
            pass
        except BaseException as error:
            self.error = error
        self.ended = True
        self._paused.release()

    def _pause(self) -> None:
        self._paused.release()
        self._go.acquire()
        if self._abandoned:
            raise Abandoned


def pause() -> None:
    """Stop here until somebody steps on; does nothing outside of a `Pausable`."""
    current: Pausable | None = getattr(_here, "pausable", None)
    if current is not None:
        current._pause()
