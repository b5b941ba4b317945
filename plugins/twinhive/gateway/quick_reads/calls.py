"""The small reads of one client: sent on at once, and answered when the answer comes.

Whatever does not go this way (a connection that has to be opened, an answer that comes in many pieces, a view, an
error) is left to the client's session, which has a task for it.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from twinhive.gateway.answers import CallOutcome
from twinhive.gateway.links import Link, NoAnswerError
from twinhive.gateway.local_calls import LocalCalls
from twinhive.gateway.method_kinds import MethodKind
from twinhive.gateway.metrics import Ending
from twinhive.gateway.quick_reads.plans import QuickPlan
from twinhive.gateway.remote_calls import RemoteCalls
from twinhive.gateway.shared import Shared
from twinhive.gateway.view_answers import may_hold_views
from twinhive.model.remotes.definitions import MARKER
from twinhive.wire.ends import Short, end_of
from twinhive.wire.message import Head, MessageKind, WireError, WireMessage
from twinhive.wire.renaming import renamed

_MOST_BYTES: Final = 1 << 16
_SEQUENCE: Final = 4


@dataclass(frozen=True, slots=True)
class Begun:
    """A read that its session has to bring to its end: what has come of the answer, or None where it is made anew."""

    request: WireMessage
    plan: QuickPlan
    came: bytes | None
    began: float


class _Seen(Enum):
    WHOLE = "one answer, and nothing else"
    BEGUN = "it may become one"
    OTHER = "something else"


class Ends(Protocol):
    """What is called when a read has ended here."""

    def answered(self, raw: bytes) -> None:
        """Take the answer for the client."""
        ...

    def ended(self, request: WireMessage, outcome: CallOutcome, began: float) -> None:
        """Take an answer that says what went wrong."""
        ...

    def left(self, begun: Begun) -> None:
        """Take over a read that cannot be ended here."""
        ...


class QuickReads:
    """At most one read of a client at a time."""

    def __init__(self, shared: Shared, local: LocalCalls, remotes: RemoteCalls, ends: Ends) -> None:
        self._shared, self._local, self._remotes, self._ends = shared, local, remotes, ends
        self._request: WireMessage | None = None
        self._plan: QuickPlan
        self._link: Link
        self._held = b""
        self._began = 0.0

    def begin(self, request: WireMessage) -> bool:
        """Send a read on; False where it does not go this way, and nothing was done."""
        shared = self._shared
        defined = shared.definitions.known()
        plan = None if defined is None else shared.plans.of(request, defined)
        if plan is None:
            return False
        link = self._local.link if plan.remote is None else self._remotes.link(plan.remote)
        if not link.is_ready or (plan.remote is not None and not plan.remote.guard.enter()):
            return False
        self._request, self._plan, self._link, self._held = request, plan, link, b""
        self._began = shared.clock()
        shared.deadlines.add(self, link.seconds, self._late)
        link.send(request.raw[: request.at] + plan.body, self._take)
        return True

    def close(self) -> None:
        """Give up what is under way: its answer may still come, and is nobody's."""
        if self._request is not None:
            self._link.drop()
            self._settle(leave=True)

    def _take(self, data: bytes) -> None:
        request, plan = self._request, self._plan
        assert request is not None
        if not data:
            self._link.lost()
            self._settle(leave=True)
            self._ends.left(Begun(request, plan, None, self._began))
            return
        held = self._held = self._held + data if self._held else data
        match _seen(held, plan.reply):
            case _Seen.WHOLE:
                self._whole(request, plan, held, len(plan.reply) + _SEQUENCE)
            case _Seen.BEGUN if len(held) <= _MOST_BYTES:
                pass
            case _:
                self._leave(request, plan, held)

    def _whole(self, request: WireMessage, plan: QuickPlan, raw: bytes, at: int) -> None:
        if plan.remote is None:
            if plan.kind is MethodKind.READ and MARKER in raw:
                self._leave(request, plan, raw)
                return
        else:
            body = raw[at:]
            if body == plan.last[0]:
                raw = raw[:at] + plan.last[1]
            else:
                answer = WireMessage(Head(MessageKind.REPLY, request.head.method, request.head.sequence), raw, at)
                if may_hold_views(answer):
                    self._leave(request, plan, raw)
                    return
                try:
                    raw = self._localized(plan, answer)
                except WireError:
                    self._leave(request, plan, raw)
                    return
                self._shared.plans.remember(plan, body, raw[at:])
            self._remotes.answered(plan.remote)
        self._link.done()
        seconds = self._shared.clock() - self._began
        self._settle(leave=True)
        self._shared.counts.ended(plan.owner, request.head.method, Ending.ANSWERED, seconds)
        self._ends.answered(raw)

    def _localized(self, plan: QuickPlan, answer: WireMessage) -> bytes:
        assert plan.definition is not None
        return renamed(self._remotes.described(answer, plan.definition), plan.back).raw

    def _leave(self, request: WireMessage, plan: QuickPlan, came: bytes) -> None:
        """Let the session read on; the remote's guard stays entered."""
        self._link.done()
        self._settle(leave=False)
        self._ends.left(Begun(request, plan, came, self._began))

    def _late(self) -> None:
        request, plan = self._request, self._plan
        assert request is not None
        text = self._link.no_answer
        self._link.drop()
        self._settle(leave=True)
        if plan.remote is None or plan.definition is None:
            outcome = self._local.unanswered(request, NoAnswerError(text, was_sent=True))
        else:
            outcome = self._remotes.unanswered(request, plan.definition, plan.remote, text)
        self._ends.ended(request, outcome, self._began)

    def _settle(self, *, leave: bool) -> None:
        self._request, self._held = None, b""
        self._shared.deadlines.remove(self)
        if leave and self._plan.remote is not None:
            self._plan.remote.guard.leave()


def _seen(held: bytes, reply: bytes) -> _Seen:
    """Say what bytes are that came where a reply should begin."""
    at = len(reply) + _SEQUENCE
    if len(held) <= at:
        return _Seen.BEGUN if reply.startswith(held[: len(reply)]) else _Seen.OTHER
    if not held.startswith(reply):
        return _Seen.OTHER
    try:
        return _Seen.WHOLE if end_of(held, at) == len(held) else _Seen.OTHER
    except Short:
        return _Seen.BEGUN
    except WireError:
        return _Seen.OTHER
