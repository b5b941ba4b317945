"""End a loop by SIGTERM or SIGINT."""

import queue
import signal


class StopBySignal:
    """What a loop waits for between two rounds, set by a signal.

    No `threading.Event`: its lock is taken by whoever waits, the handler runs in that same thread, and a signal that
    comes while the lock is held would wait for it for ever. `SimpleQueue.put` may be called from a handler.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._told: queue.SimpleQueue[None] = queue.SimpleQueue()

    def listen(self) -> None:
        """Be set by SIGTERM and SIGINT from now on. Call it in the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.set())

    def set(self) -> None:
        """Let `wait` return, now and from then on."""
        self._is_set = True
        self._told.put(None)

    def is_set(self) -> bool:
        """True once it was set."""
        return self._is_set

    def wait(self, seconds: float) -> bool:
        """Return when it is set or the seconds are over: whether it is set."""
        try:
            if not self._is_set:
                self._told.get(timeout=seconds)
        except queue.Empty:
            pass
        return self._is_set
