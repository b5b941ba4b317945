"""Do something that may take for ever, and go on without it after a while."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, do: Callable[[], T]) -> T:
    """Return what `do` returns, raise what it raises; TimeoutError when that takes longer.

    A database server that is frozen answers no time limit of its own, so `do` runs in a thread that is left behind.
    """
    answers: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def answer() -> None:
        try:
            answers.put((do(), None))
        except BaseException as error:
            answers.put((None, error))

    Thread(target=answer, name="journal", daemon=True).start()
    try:
        value, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer after {seconds:g} s") from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
