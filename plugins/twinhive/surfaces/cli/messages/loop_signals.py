"""End a loop by SIGTERM or SIGINT."""

import select
import signal
import socket
from contextlib import suppress


class StopBySignal:
    """What a loop waits for between two rounds, set by a signal.

    No `threading.Event`: its lock is taken by whoever waits, the handler runs in that same thread, and a signal that
    comes while the lock is held would wait for it for ever. No queue either: a `get` that is late already waits without
    an end. Python writes a byte here when a signal comes, so that no moment is missed.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._heard, self._told = socket.socketpair()
        self._heard.setblocking(False)
        self._told.setblocking(False)

    def listen(self) -> None:
        """Be set by SIGTERM and SIGINT from now on. Call it in the main thread."""
        signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.set())

    def set(self) -> None:
        """Let `wait` return, now and from then on."""
        self._is_set = True
        with suppress(BlockingIOError):
            self._told.send(b"\0")

    def is_set(self) -> bool:
        """True once it was set."""
        return self._is_set

    def wait(self, seconds: float) -> bool:
        """Return when it is set or the seconds are over, and sometimes earlier: whether it is set."""
        if not self._is_set and select.select([self._heard], [], [], seconds)[0] and not self._is_set:
            with suppress(BlockingIOError):
                self._heard.recv(4096)  # of a signal that is somebody else's
        return self._is_set
