"""Ask the local metastore for one client."""

from dataclasses import replace
from functools import partial

from twinhive.federation.cluster_view.cluster_port import ClusterPort, Port
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces, failure
from twinhive.federation.gateway.client_identity import Client
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.metastore_links import Link, NoAnswerError, RefusedGreetingError
from twinhive.federation.gateway.method_kinds import MethodKind, is_repeatable
from twinhive.federation.gateway.streamed_answers import some_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.stream_reader import LongAnswer
from twinhive.hive.wire.thrift_message import WireMessage


class LocalCalls:
    """One client's connection to the local metastore."""

    def __init__(self, shared: Shared, client: Client, port: Port | None = None) -> None:
        self._shared, self._port = shared, port
        limits = shared.local_limits
        if isinstance(port, ClusterPort):  # locations are changed there: as few answers as can be are judged in parts
            limits = replace(limits, early=limits.buffered)
        self.link = Link(shared.local, limits, client.greeting)

    async def answer(self, request: WireMessage, kind: MethodKind | None, *, begun: bytes | None = None) -> CallOutcome:
        """Hand a call on as it is; `begun` is what has come of the answer already, where it was sent."""
        try:
            if begun is None:
                answer = await self.link.call(request, repeatable=is_repeatable(request.head.method, kind))
            else:
                answer = await self.link.rest(begun, request)
        except RefusedGreetingError as error:
            return failure(request, f"the local metastore refuses the connection: {error}")
        except NoAnswerError as error:
            return self.unanswered(request, error)

        if isinstance(answer, LongAnswer):
            return CallOutcome(self._pieces(answer))
        return CallOutcome(answer)

    def _pieces(self, answer: LongAnswer) -> Pieces:
        seconds = self._shared.local_limits.call
        if isinstance(self._port, ClusterPort):
            pieces = self.link.followed(self._port.pieces(answer))
            return Pieces(answer.head, partial(some_of, pieces), seconds, pieces.aclose)
        handing = self.link.handing_on(answer, Renames())
        return Pieces(answer.head, handing.some, seconds, handing.close)

    @staticmethod
    def unanswered(request: WireMessage, error: NoAnswerError) -> CallOutcome:
        """Answer a call that the metastore has not answered.

        Where its method has no exception to say so, the client is hung up on, as the metastore itself would have done:
        Hive's clients connect anew then, and ask again where that does no harm.
        """
        outcome = failure(request, _words(request.head.method, error))
        known = METHODS.get(request.head.method)
        has_words = known is None or "MetaException" in known.exceptions.values()
        return replace(outcome, hangs_up=not has_words)

    def close(self) -> None:
        """Hang up."""
        self.link.close()


def _words(method: str, error: NoAnswerError) -> str:
    if not error.was_sent:
        return f"the local metastore cannot be reached: {error.text}; {method} was not sent"
    return (
        f"the local metastore has not answered {method}: {error.text}. It may or may not have happened: look "
        "before you repeat it"
    )
