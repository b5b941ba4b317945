"""How often one thing is tried that may pass, and how many in a row before all is given up."""

from collections.abc import Callable
from typing import TypeVar

from twinhive.core.model.errors import TwinhiveError, Unreachable
from twinhive.transfer.engine.failure_kind import FailureKind

# So many in a row that got no answer mean that a cluster is down: waiting for the time-outs of a
# hundred thousand more would only tell the same.
_GIVE_UP_AFTER = 50

Result = TypeVar("Result")


def twice(call: Callable[[], Result]) -> Result:
    """Return what `call` returns, which is repeated once when it may succeed then; it must be safe to repeat."""
    try:
        return call()
    except TwinhiveError as error:
        if not FailureKind.of(error).may_retry:
            raise
    return call()


class GivenUp(Unreachable):
    """It was not tried, because too many before it got no answer."""


class Patience:
    """Give up when too many in a row got no answer; shared between threads."""

    def __init__(self) -> None:
        self._unanswered = 0

    def run(self, call: Callable[[], Result]) -> Result:
        """Return what `call` returns; raises GivenUp without calling it when nobody answers any more."""
        if self._unanswered >= _GIVE_UP_AFTER:
            raise GivenUp(
                "not tried any more: too many in a row got no answer",
                found=f"{self._unanswered} in a row without an answer",
                expected="a file system that answers",
                next_step="run again when it does",
            )
        try:
            result = call()
        except TwinhiveError as error:
            self._unanswered += FailureKind.of(error) is FailureKind.UNREACHABLE
            raise
        self._unanswered = 0
        return result
