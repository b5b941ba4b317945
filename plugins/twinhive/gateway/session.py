"""One client: its calls one after the other, each decided, carried out, and answered."""

import asyncio
import logging
from typing import assert_never

from twinhive.cluster_view.port import ClusterPort, Port
from twinhive.gateway.answers import CallOutcome, Pieces, failure, refusal
from twinhive.gateway.chain import chain_answer, chain_of
from twinhive.gateway.client import Client
from twinhive.gateway.cluster_ports.seen import let_in, no_remote, seen_at
from twinhive.gateway.links import NoAnswerError
from twinhive.gateway.local_calls import LocalCalls
from twinhive.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.gateway.metrics import Ending
from twinhive.gateway.owners import (
    NotPassedOn,
    Owner,
    ToLocal,
    ToNobody,
    ToRemote,
    ToSession,
    ToSeveral,
    owner_of,
)
from twinhive.gateway.remote_calls import RemoteCalls
from twinhive.gateway.requests import named_in
from twinhive.gateway.several import SeveralOwners
from twinhive.gateway.shared import Shared
from twinhive.model.remotes.definitions import Definitions
from twinhive.wire.message import MessageKind, WireError, WireMessage, reply
from twinhive.wire.old_clients import old_call
from twinhive.wire.old_filters import with_sql_wildcards
from twinhive.wire.reader import MessageReader, NotStrictBinary

_LOG = logging.getLogger(__name__)
_BY_NAME = (MethodKind.READ, MethodKind.WRITE, MethodKind.TABLE_DROP)
_OF_CONNECTORS = ("alter_dataconnector_req", "create_dataconnector_req", "drop_dataconnector_req")
_MARKER = b"twinhive_remote"
"""In a table that the local metastore returns, or takes: it stands for one elsewhere."""


class Session:
    """One connection of a client, at a cluster's port or at the gateway's own."""

    def __init__(
        self,
        shared: Shared,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        port: Port | None = None,
    ) -> None:
        self._shared, self._writer, self._port = shared, writer, port
        self._reader = MessageReader(reader)
        self._client = Client()
        self._local = LocalCalls(shared, self._client, port)
        self._remotes = RemoteCalls(shared, self._client, self._local)
        self._several = SeveralOwners(shared, self._local, self._remotes)
        self.is_idle = True

    async def serve(self) -> None:
        """Answer requests until the client hangs up. Raises OSError when it has, in the middle."""
        try:
            while (request := await self._request()) is not None:
                self.is_idle = False
                answer = await self._counted(request)
                if isinstance(answer, Pieces):
                    await answer.written_to(self._writer)
                elif request.head.kind is not MessageKind.ONEWAY:
                    self._writer.write(answer.raw)
                    await self._writer.drain()
                self.is_idle = True
        except (WireError, EOFError) as error:
            self._shared.counts.foreign += 1
            peer = self._writer.get_extra_info("peername")
            kind = "another protocol" if isinstance(error, NotStrictBinary) else "a broken message"
            _LOG.warning("a connection is closed: %s", kind, extra={"client": peer, "error": str(error)})
        except (NoAnswerError, TimeoutError) as error:
            about = {"client": self._writer.get_extra_info("peername"), "error": str(error) or "no piece in time"}
            _LOG.warning("a connection is closed: an answer has broken off in the middle", extra=about)
            self._writer.transport.abort()
        finally:
            await self._local.close()
            await self._remotes.close()

    async def _request(self) -> WireMessage | None:
        """Wait for a request; one that has begun has to be whole after some time."""
        if not await self._reader.begins():
            return None
        try:
            async with asyncio.timeout(self._shared.request_seconds):
                return await self._reader.read()
        except TimeoutError as error:
            raise WireError(f"a request that is not whole after {self._shared.request_seconds:g} s") from error

    async def _counted(self, request: WireMessage) -> WireMessage | Pieces:
        began = self._shared.clock()
        outcome = await self._answered(request)
        seconds = self._shared.clock() - began
        self._shared.counts.ended(outcome.owner, request.head.method, outcome.ending, seconds)
        if outcome.ending is not Ending.ANSWERED:
            about = {"remote": outcome.owner, "method": request.head.method, "seconds": round(seconds, 3)}
            _LOG.warning("a call is %s", outcome.ending, extra=about)
        return outcome.answer

    async def _answered(self, request: WireMessage) -> CallOutcome:
        if request.head.kind not in (MessageKind.CALL, MessageKind.ONEWAY):
            raise WireError(f"a {request.head.kind.name} where a call was expected")
        request = with_sql_wildcards(request)
        if (old := old_call(request)) is not None:
            outcome = await self._answered(old.instead)
            return CallOutcome(old.answer(outcome.whole), outcome.owner, outcome.ending)
        if (chain := chain_of(request)) is not None:
            self._client.chain = chain
            return CallOutcome(chain_answer(request, chain, self._shared.gateway_id))
        return await self._decided(request, await self._shared.definitions.current())

    async def _decided(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        method, kind = request.head.method, KIND_OF.get(request.head.method)
        owner = owner_of(method, kind, named_in(request) if kind in _BY_NAME else (), defined)
        if self._port is None:
            return await self._carried_out(request, kind, owner, defined)
        admitted = await let_in(self._port, request, kind, owner)
        if isinstance(admitted, CallOutcome):
            return admitted
        return await seen_at(self._port, request, await self._carried_out(admitted, kind, owner, defined))

    async def _carried_out(
        self, request: WireMessage, kind: MethodKind | None, owner: Owner, defined: Definitions
    ) -> CallOutcome:
        method = request.head.method
        match owner:
            case ToNobody():
                return CallOutcome(reply(method, request.head.sequence))
            case NotPassedOn(text):
                return refusal(request, text)
            case ToRemote(definition):
                return await self._remotes.answer(request, definition)
            case ToSeveral():
                return await self._composed(request, defined)
            case ToSession():
                return await self._session_call(request, kind)
            case ToLocal():
                return await self._local_call(request, kind)
        assert_never(owner)

    async def _composed(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        try:
            return await self._several.answer(request, defined)
        except WireError as error:
            return failure(request, f"{request.head.method} over several metastores: {error}")

    async def _session_call(self, request: WireMessage, kind: MethodKind | None) -> CallOutcome:
        outcome = await self._local.answer(request, kind)
        if outcome.ending is Ending.ANSWERED and outcome.answer.head.kind is MessageKind.REPLY:
            self._client.note(request)
            await self._remotes.close()
        return outcome

    async def _local_call(self, request: WireMessage, kind: MethodKind | None) -> CallOutcome:
        outcome = await self._local.answer(request, kind)
        if kind is MethodKind.READ and isinstance(outcome.answer, WireMessage) and _MARKER in outcome.answer.raw:
            return await self._looked_at_again(request, outcome)
        if _changes_definitions(request, kind):
            self._shared.definitions.forget()
        return outcome

    async def _looked_at_again(self, request: WireMessage, outcome: CallOutcome) -> CallOutcome:
        """A remote was defined just now, by somebody else: the next calls about it must not go to its definition."""
        self._shared.definitions.forget()
        owner = owner_of(
            request.head.method, MethodKind.READ, named_in(request), await self._shared.definitions.current()
        )
        if not isinstance(owner, ToRemote):
            return outcome
        if isinstance(self._port, ClusterPort):
            return no_remote(request, owner)
        return await self._remotes.answer(request, owner.definition)


def _changes_definitions(request: WireMessage, kind: MethodKind | None) -> bool:
    match kind:
        case MethodKind.TABLE_DROP:
            return True
        case MethodKind.DEFINITION:
            return not request.head.method.startswith("get")
        case MethodKind.WRITE:
            return _MARKER in request.raw
        case MethodKind.LOCAL:
            return request.head.method in _OF_CONNECTORS
        case _:
            return False
