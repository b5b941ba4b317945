"""Wait through an answer of a server that nobody knows: it may be over with the next look, or never."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError, may_pass

_MOST_LOOKS = 15
"""One a minute: for so long the monitor, too, tells nobody of what may pass by itself."""
_MOST_SECONDS = 60.0 * _MOST_LOOKS
_TROUBLE = "trouble"

Question = TypeVar("Question", bound=Hashable)


def odd_answers(error: TwinhiveError, before: int) -> int:
    """Return how many looks in a row have met such an answer, `before` this one. Raises what is not waited for.

    A server that does not answer at all is waited for however long it takes: the monitor tells of it.
    """
    if not may_pass(error, is_last_try=before >= _MOST_LOOKS):
        raise error
    return before if isinstance(error, TryAgain) else before + 1


def kept(odd: int) -> dict[str, int]:
    """Return what the next look is told of them, beside what it waits for."""
    return {"odd": odd} if odd else {}


def told_of(trouble: ActNow) -> dict[str, Any]:
    """Return what a trigger says that has met trouble: an answer that nobody knows has lasted long enough by then."""
    return {_TROUBLE: str(trouble), **(kept(_MOST_LOOKS) if may_pass(trouble) else {})}


def trouble_of(event: Any) -> str | None:
    """Return the trouble that a trigger has met, None where it has fired for another reason."""
    return event.get(_TROUBLE) if isinstance(event, Mapping) else None


def odd_of(event: Any, before: int) -> int:
    """Return how many odd answers there were in a row, with those that the trigger has waited through."""
    return max(before, event.get("odd", 0)) if trouble_of(event) is not None else before


class OddTime(Generic[Question]):
    """For how many seconds questions have met such answers; looks without any answer in between do not count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds: dict[Question, float] = {}
        self._looked = clock()
        self._since = 0.0

    def look(self, questions: Sequence[Question]) -> None:
        """Begin to look for answers to these."""
        now = self._clock()
        self._looked, self._since = now, now - self._looked
        self._seconds = {one: self._seconds[one] for one in questions if one in self._seconds}

    def met(self, some: Sequence[Question]) -> list[Question]:
        """Take in such an answer; return those of whom it has lasted too long."""
        for one in some:
            self._seconds[one] = self._seconds[one] + self._since if one in self._seconds else 0.0
        return [one for one in some if self._seconds[one] >= _MOST_SECONDS]

    def over(self, some: Sequence[Question]) -> None:
        """Take in that they were answered."""
        for one in some:
            self._seconds.pop(one, None)
