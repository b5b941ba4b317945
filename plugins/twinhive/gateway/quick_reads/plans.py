"""What is to be done with a read, worked out once for all requests of the same words.

A plan holds for one reading of the definitions, and for a second at most: `remotes.yaml` may have changed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from twinhive.gateway.chain import METHOD as CHAIN_METHOD
from twinhive.gateway.method_kinds import KIND_OF, MethodKind, is_repeatable
from twinhive.gateway.metrics import LOCAL
from twinhive.gateway.owners import ToLocal, ToRemote, owner_of
from twinhive.gateway.remote_pool import Remote
from twinhive.gateway.requests import named_in, renames_of
from twinhive.model.errors import TwinhiveError
from twinhive.model.remotes.definitions import Definition, Definitions
from twinhive.wire.message import Head, MessageKind, WireError, WireMessage
from twinhive.wire.old_filters import with_sql_wildcards
from twinhive.wire.renames import Renames
from twinhive.wire.renaming import renamed

_SECONDS: Final = 1.0
_MOST_REQUEST: Final = 4_096
_MOST_BYTES: Final = 1 << 21
"""Of all requests and answers that are remembered."""


@dataclass(slots=True)
class QuickPlan:
    """Who gets a read, and as what.

    body         the request's struct under the remote's names
    reply        how an answer begins, up to the sequence number
    last         the body of the answer that came last, and what became of it under local names
    """

    owner: str
    body: bytes
    reply: bytes
    kind: MethodKind | None
    remote: Remote | None = None
    definition: Definition | None = None
    back: Renames = field(default_factory=Renames)
    last: tuple[bytes, bytes] = (b"", b"")


class Plans:
    """The plans of one process."""

    def __init__(self, remote_of: Callable[[Definition], Remote], clock: Callable[[], float]) -> None:
        self._remote_of, self._clock = remote_of, clock
        self._plans: dict[tuple[str, bytes], QuickPlan | None] = {}
        self._defined: Definitions | None = None
        self._since = 0.0
        self._bytes = 0

    def of(self, request: WireMessage, defined: Definitions) -> QuickPlan | None:
        """Return the plan for a read that one metastore answers; None for every other call."""
        now = self._clock()
        if defined is not self._defined or now - self._since > _SECONDS or self._bytes > _MOST_BYTES:
            self._plans.clear()
            self._defined, self._since, self._bytes = defined, now, 0
        body = request.raw[request.at :]
        if len(body) > _MOST_REQUEST:
            return None
        key = (request.head.method, body)
        if key not in self._plans:
            self._plans[key] = self._made(request, defined)
            self._bytes += 3 * len(body) + 500
        return self._plans[key]

    def remember(self, plan: QuickPlan, came: bytes, became: bytes) -> None:
        """Keep what became of an answer: the next one is likely the same."""
        self._bytes += len(came) + len(became)
        plan.last = (came, became)

    def _made(self, request: WireMessage, defined: Definitions) -> QuickPlan | None:
        method, kind = request.head.method, KIND_OF.get(request.head.method)
        if request.head.kind is not MessageKind.CALL or method == CHAIN_METHOD or not is_repeatable(method, kind):
            return None
        if kind in (MethodKind.SEVERAL, MethodKind.SESSION) or with_sql_wildcards(request) is not request:
            return None
        reply = Head(MessageKind.REPLY, method, 0).encoded[:-4]
        try:
            match owner_of(method, kind, named_in(request) if kind is MethodKind.READ else (), defined):
                case ToLocal():
                    return QuickPlan(LOCAL, request.body, reply, kind)
                case ToRemote(definition):
                    remote, renames = self._remote_of(definition), renames_of(definition)
                    asked = renamed(request, renames).body
                    return QuickPlan(remote.name, asked, reply, kind, remote, definition, renames.back)
        except (WireError, TwinhiveError):
            pass  # who answers it says what is wrong
        return None
