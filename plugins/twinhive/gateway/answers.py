"""What came of a call: the answer for the client, and how it is counted."""

from dataclasses import dataclass

from twinhive.gateway.metrics import LOCAL, Ending
from twinhive.wire.message import WireMessage, declared_error


@dataclass(frozen=True)
class CallOutcome:
    """An answer, who gave it, and how the call ended."""

    answer: WireMessage
    owner: str = LOCAL
    ending: Ending = Ending.ANSWERED


def refusal(request: WireMessage, text: str, owner: str = LOCAL) -> CallOutcome:
    """Refuse a call before anything is sent."""
    return CallOutcome(error_answer(request, text), owner, Ending.REFUSED)


def failure(request: WireMessage, text: str, owner: str = LOCAL) -> CallOutcome:
    """Answer a call that got no answer."""
    return CallOutcome(error_answer(request, text), owner, Ending.FAILED)


def error_answer(request: WireMessage, text: str) -> WireMessage:
    """Build an exception that the client knows how to take."""
    return declared_error(request.head.method, request.head.sequence, text)
