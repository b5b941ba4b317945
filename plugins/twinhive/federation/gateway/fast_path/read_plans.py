"""What is to be done with a read, worked out once for all requests of the same words.

A plan holds for one reading of the definitions, and for a second at most: `remotes.yaml` may have changed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.remotes.definitions import Definition, Definitions
from twinhive.federation.gateway.call_targets import ToLocal, ToRemote, owner_of
from twinhive.federation.gateway.cluster_ports.session_cluster import GET as GET_SETTING
from twinhive.federation.gateway.gateway_metrics import LOCAL, CallCounts, CallTally
from twinhive.federation.gateway.loop_detection import METHOD as CHAIN_METHOD
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind, is_repeatable
from twinhive.federation.gateway.remote_pool import Remote
from twinhive.federation.gateway.request_names import named_in, renames_of
from twinhive.hive.wire.message_renaming import renamed
from twinhive.hive.wire.old_filters import with_sql_wildcards
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.thrift_message import Head, MessageKind, WireError, WireMessage

_SECONDS: Final = 1.0
_MOST_REQUEST: Final = 4_096
_MOST_BYTES: Final = 1 << 21
"""Of all requests and answers that are remembered."""
_ANSWERED_HERE: Final = (CHAIN_METHOD, GET_SETTING)
_NAME_AT: Final = 8
_SEQUENCE: Final = 4


@dataclass(slots=True)
class QuickPlan:
    """Who gets a read, and as what.

    at           where the bodies of request and answer begin
    body         the request's struct under the remote's names; None where it goes on as it is
    reply        how an answer begins, up to the sequence number
    came, became the body of the answer that came last, and what became of it under local names; None: the same
    is_long      the last answer was too long to be looked at here
    """

    method: str
    at: int
    body: bytes | None
    reply: bytes
    kind: MethodKind | None
    tally: CallTally
    remote: Remote | None = None
    definition: Definition | None = None
    back: Renames = field(default_factory=Renames)
    came: bytes = b""
    became: bytes | None = None
    is_long: bool = False

    def begins_as_last(self, answer: bytes) -> bool:
        """True for a part of an answer that is as that of the last one, so that nothing has to be looked at yet."""
        at = self.at
        return at < len(answer) < at + len(self.came) and self.came.startswith(answer[at:])

    def is_as_last(self, answer: bytes, head: bytes) -> bool:
        """True for an answer with this head and the body of the last one; nothing has to be looked at in it then."""
        came = self.came
        is_so_long = len(answer) == self.at + len(came) != self.at
        return is_so_long and answer.endswith(came) and answer.startswith(head)

    def head_of(self, asked: bytes) -> bytes:
        """Return the head of the answer to a request: it bears the same number."""
        return self.reply + asked[self.at - _SEQUENCE : self.at]


class Plans:
    """The plans of one process."""

    def __init__(
        self, remote_of: Callable[[Definition], Remote], counts: CallCounts, clock: Callable[[], float]
    ) -> None:
        self._remote_of, self._counts, self._clock = remote_of, counts, clock
        self._plans: dict[bytes, QuickPlan | None] = {}
        self._defined: Definitions | None = None
        self._since = 0.0
        self._bytes = 0

    def again(self, data: bytes, defined: Definitions | None, now: float) -> QuickPlan | None:
        """Return the plan for bytes that are one whole request that was asked before; None for all others."""
        if defined is None or defined is not self._defined or now - self._since > _SECONDS:
            return None
        at = _NAME_AT + data[_NAME_AT - 1] if len(data) >= _NAME_AT else 0
        return self._plans.get(data[:at] + data[at + _SEQUENCE :])

    def of(self, request: WireMessage, defined: Definitions) -> QuickPlan | None:
        """Return the plan for a read that one metastore answers; None for every other call."""
        now = self._clock()
        if defined is not self._defined or now - self._since > _SECONDS or self._bytes > _MOST_BYTES:
            self._plans.clear()
            self._defined, self._since, self._bytes = defined, now, 0
        raw = request.raw
        if len(raw) > _MOST_REQUEST:
            return None
        words = raw[: request.at - _SEQUENCE] + raw[request.at :]
        if words not in self._plans:
            self._plans[words] = self._made(request, defined)
            self._bytes += 3 * len(words) + 500
        return self._plans[words]

    def remember(self, plan: QuickPlan, came: bytes, became: bytes | None) -> None:
        """Keep what became of an answer: the next one is likely the same."""
        self._bytes += len(came) - len(plan.came) + len(became or b"") - len(plan.became or b"")
        plan.came, plan.became = came, became

    def _made(self, request: WireMessage, defined: Definitions) -> QuickPlan | None:
        method, kind = request.head.method, KIND_OF.get(request.head.method)
        if request.head.kind is not MessageKind.CALL or method in _ANSWERED_HERE or not is_repeatable(method, kind):
            return None
        if kind in (MethodKind.SEVERAL, MethodKind.SESSION) or with_sql_wildcards(request) is not request:
            return None
        reply = Head(MessageKind.REPLY, method, 0).encoded[:-_SEQUENCE]
        try:
            match owner_of(method, kind, named_in(request) if kind is MethodKind.READ else (), defined):
                case ToLocal():
                    return QuickPlan(method, request.at, None, reply, kind, self._counts.tally(LOCAL, method))
                case ToRemote(definition):
                    remote, renames = self._remote_of(definition), renames_of(definition)
                    asked, tally = renamed(request, renames), self._counts.tally(remote.name, method)
                    body = None if asked.raw == request.raw else asked.body
                    return QuickPlan(method, request.at, body, reply, kind, tally, remote, definition, renames.back)
        except (WireError, TwinhiveError):
            pass  # who answers it says what is wrong
        return None
