"""Keep what a STOMP broker says to one connection, for the thread that waits for it."""

import queue
import threading
import time
from collections.abc import Callable

import stomp
from stomp.exception import StompException
from stomp.utils import Frame

from twinhive.core.model.errors import Refused, TwinhiveError, Unreachable, Unwell
from twinhive.core.model.messages.hive_message import TableMessage

_REFUSALS = (
    *("not authorized", "password is invalid", "user name", "anonymous", "security", "failed to authenticate"),
    *("does not have permission", "unable to validate user"),
)
"""How ActiveMQ and Artemis say that we may not, in lower case: STOMP itself has no codes for errors."""


class Unanswered(StompException):
    """The broker did not say in time what was waited for, or went away."""


class Frames(stomp.ConnectionListener):
    """Listen to one connection. The library's thread calls `on_...`; another one waits."""

    def __init__(self, broker: str) -> None:
        self._broker = broker
        self._changed = threading.Condition()
        self._receipts: set[str] = set()
        self._is_connected = self._is_gone = False
        self._error: str | None = None
        self._messages: queue.SimpleQueue[TableMessage | None] = queue.SimpleQueue()

    def on_connected(self, frame: Frame) -> None:
        """We are let in."""
        self._note(lambda: setattr(self, "_is_connected", True))

    def on_receipt(self, frame: Frame) -> None:
        """A frame was handled, and all before it."""
        self._note(lambda: self._receipts.add(frame.headers["receipt-id"]))

    def on_error(self, frame: Frame) -> None:
        """The broker refuses something, and will hang up."""
        said = str(frame.headers.get("message") or frame.body or "an error without a text")
        self._note(lambda: setattr(self, "_error", self._error or said))
        self._messages.put(None)

    def on_disconnected(self) -> None:
        """The connection is gone."""
        self._note(lambda: setattr(self, "_is_gone", True))
        self._messages.put(None)

    def on_message(self, frame: Frame) -> None:
        """Something has come in."""
        topic = str(frame.headers.get("destination", "")).removeprefix("/topic/")
        self._messages.put(TableMessage(topic, dict(frame.headers), str(frame.body)))

    def await_connected(self, seconds: float) -> None:
        """Return when we are let in. Raises Unanswered."""
        self._await(lambda: self._is_connected, seconds, "no answer to CONNECT")

    def await_receipt(self, receipt: str, seconds: float) -> None:
        """Return when a frame was handled. Raises Unanswered."""
        self._await(lambda: receipt in self._receipts, seconds, "no receipt")
        self._receipts.discard(receipt)

    def next_message(self, seconds: float) -> TableMessage | None:
        """Return what came in next. Raises what ended the connection."""
        try:
            message = self._messages.get(timeout=seconds)
        except queue.Empty:
            return None
        if message is None:
            self._messages.put(None)
            raise self.trouble() or Unreachable(
                f"broker {self._broker} was lost",
                found="it hung up",
                expected="messages",
                next_step="nothing: subscribe again",
            )
        return message

    def trouble(self) -> TwinhiveError | None:
        """Return what the broker said was wrong, None if it has said nothing."""
        return None if self._error is None else refusal_of(self._broker, self._error)

    def _note(self, change: Callable[[], object]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()

    def _await(self, is_there: Callable[[], bool], seconds: float, missing: str) -> None:
        until = time.monotonic() + seconds
        with self._changed:
            while not is_there():
                left = until - time.monotonic()
                if self._error is not None or self._is_gone or left <= 0:
                    raise Unanswered(self._error or ("it hung up" if self._is_gone else f"{missing} for {seconds:g} s"))
                self._changed.wait(left)


def refusal_of(broker: str, said: str) -> TwinhiveError:
    """Return the error for what a broker says: Refused where it is about what we may do."""
    if any(part in said.lower() for part in _REFUSALS):
        return Refused(
            f"broker {broker} refuses us",
            found=said,
            expected="a user that may do this: a publisher writes, readers read",
            next_step="correct login and password of the connection, or the broker's rights",
        )
    return Unwell(
        f"broker {broker} could not do it",
        found=said,
        expected="a receipt",
        next_step="nothing: it is tried again; if it goes on, look at the broker's log",
    )
