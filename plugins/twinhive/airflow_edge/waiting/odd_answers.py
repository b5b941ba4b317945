"""Wait through an answer of a server that nobody knows: it may be over with the next look, or never."""

from twinhive.model.errors import TryAgain, TwinhiveError, may_pass

_MOST_LOOKS = 15
"""One a minute: for so long the monitor, too, tells nobody of what may pass by itself."""


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
