"""The small reads of one client: sent on at once, and answered when the answer comes.

Whatever does not go this way (a connection that has to be opened, an answer that comes in many pieces, a view, an
error) is left to the client's session, which has a task for it.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from twinhive.core.model.remotes.definitions import MARKER
from twinhive.federation.gateway.call_outcomes import CallOutcome
from twinhive.federation.gateway.fast_path.read_plans import QuickPlan
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.local_calls import LocalCalls
from twinhive.federation.gateway.metastore_links import Link, NoAnswerError
from twinhive.federation.gateway.method_kinds import MethodKind
from twinhive.federation.gateway.remote_calls import RemoteCalls
from twinhive.federation.gateway.remote_definitions.remote_stubs import says_no_partition
from twinhive.federation.gateway.view_answers import may_hold_views
from twinhive.hive.wire.message_renaming import renamed
from twinhive.hive.wire.thrift_message import Head, MessageKind, WireError, WireMessage
from twinhive.hive.wire.thrift_skip import Short, end_of

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
        self._plan: QuickPlan | None = None
        self._asked = self._head = b""
        self._link: Link
        self._held = b""
        self._number = self._sent_as = 0
        self._began = 0.0

    def begin(self, request: WireMessage) -> bool:
        """Send a read on; False where it does not go this way, and nothing was done."""
        shared = self._shared
        defined = shared.definitions.known()
        plan = None if defined is None else shared.plans.of(request, defined)
        return plan is not None and self._sent(request.raw, plan, shared.clock())

    def again(self, data: bytes) -> bool:
        """Send a read on that was asked before in the same words; False as `begin`. It need not be read."""
        shared, now = self._shared, self._shared.clock()
        plan = shared.plans.again(data, shared.definitions.known(), now)
        return plan is not None and self._sent(data, plan, now)

    def close(self) -> None:
        """Give up what is under way: its answer may still come, and is nobody's."""
        if self._plan is not None:
            self._link.drop()
            self._settle(self._plan, leave=True)

    def late(self) -> None:
        """Answer a read that has not been answered in time."""
        plan = self._plan
        assert plan is not None
        request, text = self._request(plan), self._link.no_answer
        self._link.drop()
        self._settle(plan, leave=True)
        if plan.remote is None or plan.definition is None:
            outcome = self._local.unanswered(request, NoAnswerError(text, was_sent=True))
        else:
            outcome = self._remotes.unanswered(request, plan.definition, plan.remote, text)
        self._ends.ended(request, outcome, self._began)

    def _sent(self, raw: bytes, plan: QuickPlan, now: float) -> bool:
        remote = plan.remote
        link = self._local.link if remote is None else self._remotes.link(remote)
        if not link.is_ready or (remote is not None and not remote.guard.enter()):
            return False
        self._asked, self._plan, self._link, self._held, self._began = raw, plan, link, b"", now
        number = self._number = _number_in(raw, plan.at)
        sent_as = self._sent_as = link.number_of(number)
        sent = raw if sent_as == number else _numbered(raw, plan.at, sent_as)
        self._head = plan.head_of(sent)
        self._shared.deadlines.add(self, now, link.seconds)
        link.send(sent if plan.body is None else sent[: plan.at] + plan.body, self._take)
        return True

    def _request(self, plan: QuickPlan) -> WireMessage:
        return WireMessage(Head(MessageKind.CALL, plan.method, self._number), self._asked, plan.at)

    def _take(self, data: bytes) -> None:
        plan = self._plan
        assert plan is not None
        if not data:
            self._link.lost()
            self._settle(plan, leave=True)
            self._ends.left(Begun(self._request(plan), plan, None, self._began))
            return
        held = self._held = self._held + data if self._held else data
        if plan.is_as_last(held, self._head):
            self._answered(plan, held if plan.became is None else held[: plan.at] + plan.became)
            return
        if plan.begins_as_last(held):
            return
        match _seen(held, self._head):
            case _Seen.WHOLE:
                self._whole(plan, held)
            case _Seen.BEGUN if len(held) <= _MOST_BYTES and not plan.is_long:
                pass
            case seen:
                plan.is_long = seen is _Seen.BEGUN
                self._leave(plan, held)

    def _whole(self, plan: QuickPlan, raw: bytes) -> None:
        """Look at an answer that is not as the last one was."""
        came, became = raw[plan.at :], None
        if plan.remote is None:
            if plan.kind is MethodKind.READ and MARKER in raw:
                self._leave(plan, raw)
                return
        else:
            answer = WireMessage(Head(MessageKind.REPLY, plan.method, 0), raw, plan.at)
            if may_hold_views(answer) or says_no_partition(answer):
                self._leave(plan, raw)
                return
            try:
                became = self._localized(plan, answer)
            except WireError:
                self._leave(plan, raw)
                return
        self._shared.plans.remember(plan, came, None if became == came else became)
        self._answered(plan, raw if became is None else raw[: plan.at] + became)

    def _localized(self, plan: QuickPlan, answer: WireMessage) -> bytes:
        assert plan.definition is not None and plan.remote is not None
        return renamed(self._remotes.described(answer, plan.definition, plan.remote), plan.back).body

    def _answered(self, plan: QuickPlan, raw: bytes) -> None:
        if plan.remote is not None:
            self._remotes.answered(plan.remote)
        self._link.done()
        self._settle(plan, leave=True)
        plan.tally.answered(self._shared.clock() - self._began)
        self._ends.answered(raw if self._sent_as == self._number else _numbered(raw, plan.at, self._number))

    def _leave(self, plan: QuickPlan, came: bytes) -> None:
        """Let the session read on; the remote's guard stays entered."""
        self._link.done()
        self._settle(plan, leave=False)
        self._ends.left(Begun(self._request(plan), plan, came, self._began))

    def _settle(self, plan: QuickPlan, *, leave: bool) -> None:
        self._plan, self._held = None, b""
        self._shared.deadlines.remove(self)
        if leave and plan.remote is not None:
            plan.remote.guard.leave()


def _number_in(raw: bytes, at: int) -> int:
    return int.from_bytes(raw[at - _SEQUENCE : at], signed=True)


def _numbered(raw: bytes, at: int, number: int) -> bytes:
    return raw[: at - _SEQUENCE] + number.to_bytes(_SEQUENCE, signed=True) + raw[at:]


def _seen(held: bytes, head: bytes) -> _Seen:
    """Say what bytes are that came where a reply with this head should begin."""
    at = len(head)
    if len(held) <= at:
        return _Seen.BEGUN if head.startswith(held) else _Seen.OTHER
    if not held.startswith(head):
        return _Seen.OTHER
    try:
        return _Seen.WHOLE if end_of(held, at) == len(held) else _Seen.OTHER
    except Short:
        return _Seen.BEGUN
    except WireError:
        return _Seen.OTHER
