"""One client: its calls one after the other, each decided, carried out, and answered."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, assert_never

from twinhive.core.model.remotes.definitions import MARKER, Definitions
from twinhive.federation.cluster_view.cluster_port import ClusterPort, Port
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces, failure, refusal
from twinhive.federation.gateway.call_targets import (
    Named,
    NotPassedOn,
    Owner,
    ToLocal,
    ToLocalDrop,
    ToNobody,
    ToRemote,
    ToSession,
    ToSeveral,
    owner_of,
)
from twinhive.federation.gateway.client_identity import MOST_SAID_BYTES, Client, too_much_said
from twinhive.federation.gateway.cluster_ports.client_calls import let_in, named_remote, no_remote, seen_at
from twinhive.federation.gateway.cluster_ports.expression_pruning import ByExpression, by_expression
from twinhive.federation.gateway.fan_out import SeveralOwners
from twinhive.federation.gateway.fast_path.fast_reads import Begun, QuickReads
from twinhive.federation.gateway.gateway_metrics import UNKNOWN, Ending
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.local_calls import LocalCalls
from twinhive.federation.gateway.loop_detection import chain_answer, chain_of
from twinhive.federation.gateway.metastore_links import NoAnswerError
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.federation.gateway.remote_calls import RemoteCalls
from twinhive.federation.gateway.remote_tables.remote_drops import refused_drop
from twinhive.federation.gateway.request_names import named_in
from twinhive.federation.gateway.struct_edits import error_text
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.old_clients import OLD_METHODS, old_call
from twinhive.hive.wire.old_filters import with_sql_wildcards
from twinhive.hive.wire.stream_reader import MessageReader, NotStrictBinary
from twinhive.hive.wire.thrift_message import MessageKind, WireError, WireMessage, reply

_Work = Callable[[], Coroutine[Any, Any, None]]
_LOG = logging.getLogger(__name__)
_LARGE = 1 << 15
"""Bytes of a request whose names may take some hundredths of a second."""
_BY_NAME = (MethodKind.READ, MethodKind.WRITE, MethodKind.TABLE_DROP, MethodKind.GRANT)
_OF_CONNECTORS = ("alter_dataconnector_req", "create_dataconnector_req", "drop_dataconnector_req")


class _HungUpOnError(Exception):
    """A client gets no answer, and its connection is closed."""


class Session:
    """One connection of a client, at a cluster's port or at the gateway's own.

    Nothing runs while a client asks nothing. Small reads are answered as bytes come in; all else gets a task.
    """

    def __init__(self, shared: Shared, link: ByteLink, port: Port | None = None) -> None:
        self._shared, self._port, self._bytes = shared, port, link
        self._reader = MessageReader(link)
        self._client = Client()
        self._local = LocalCalls(shared, self._client, port)
        self._remotes = RemoteCalls(shared, self._client, self._local)
        self._several = SeveralOwners(shared, self._local, self._remotes)
        self._quick = None if isinstance(port, ClusterPort) else QuickReads(shared, self._local, self._remotes, self)
        self._task: asyncio.Task[None] | None = None
        self.is_idle = True
        self.on_end: Callable[[], None] = lambda: None
        """Called once the connection has ended."""

    def begin(self) -> None:
        """Answer requests from now on until the client hangs up."""
        self._bytes.taker, self._bytes.on_lost = self._take, self.end

    def end(self) -> None:
        """Hang up, whatever is under way. Nothing happens where that was done before."""
        on_end, self.on_end = self.on_end, lambda: None
        self._bytes.on_lost = None
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        if self._quick is not None:
            self._quick.close()
        self._local.close()
        self._remotes.close()
        self._bytes.close()
        on_end()

    def answered(self, raw: bytes) -> None:
        """Send the answer to a small read."""
        self._bytes.write(raw)
        self._rest()

    def ended(self, request: WireMessage, outcome: CallOutcome, began: float) -> None:
        """Send the answer to a small read that has failed."""
        self._count(request, outcome, began)
        if outcome.hangs_up:
            self.end()
            return
        assert isinstance(outcome.answer, WireMessage)
        self.answered(outcome.answer.raw)

    def left(self, begun: Begun) -> None:
        """Go on with a small read in a task."""
        self._start(partial(self._finished, begun))

    def _take(self, data: bytes) -> None:
        """Take what the client has sent while nothing of it was under way."""
        if self._quick is not None and not self._reader.held and self._quick.again(data):
            self.is_idle, self._bytes.taker = False, None
            return
        if not data:
            self.end()
            return
        try:
            request = self._reader.taken(data)
        except WireError as error:
            self._close_foreign(error)
            return
        self.is_idle, self._bytes.taker = False, None
        if request is None or self._quick is None or not self._quick.begin(request):
            self._start(partial(self._calls, request))

    def _rest(self) -> None:
        """Wait for the next request, which may be there already."""
        if self._bytes.is_full:
            self._start(partial(self._calls, None))
            return
        self.is_idle, self._bytes.taker = True, self._take
        if self._reader.held or self._bytes.is_held:
            self._take(self._reader.released() + self._bytes.held())
        elif self._bytes.has_ended:
            self.end()

    def _start(self, work: _Work) -> None:
        self._task = asyncio.create_task(self._guarded(work))

    async def _guarded(self, work: _Work) -> None:
        """Carry out what needs to wait, and close the connection after anything that it cannot go on from."""
        try:
            await work()
            self._task = None
            self._rest()
            return
        except (WireError, EOFError) as error:
            self._close_foreign(error)
        except (NoAnswerError, TimeoutError) as error:
            about = {"client": self._bytes.info("peername"), "error": str(error) or "no piece in time"}
            _LOG.warning("a connection is closed: an answer has broken off in the middle", extra=about)
            self._bytes.abort()
        except OSError:
            pass  # the client has gone
        except _HungUpOnError:
            pass
        except Exception:
            _LOG.exception("a connection has failed, and is closed")
        self.end()

    async def _calls(self, request: WireMessage | None) -> None:
        """Answer a request; None for one that is not there as a whole yet."""
        await self._bytes.flush()
        if request is None:
            request = await self._request()
        if request is not None:
            await self._reply(request, await self._counted(request))

    async def _finished(self, begun: Begun) -> None:
        """Answer a small read of which a part of the answer has come, or whose connection was lost."""
        request, plan = begun.request, begun.plan
        if begun.came is None:
            outcome = await self._answered(request)
        elif plan.definition is None:
            outcome = await self._local_call(request, plan.kind, begun.came)
        else:
            outcome = await self._remotes.answer(request, plan.definition, begun=begun.came)
        self._count(request, outcome, begun.began)
        await self._reply(request, outcome)

    async def _reply(self, request: WireMessage, outcome: CallOutcome) -> None:
        answer = outcome.answer
        if outcome.hangs_up:
            raise _HungUpOnError
        if isinstance(answer, Pieces):
            await answer.written_to(self._bytes)
        elif request.head.kind is not MessageKind.ONEWAY:
            self._bytes.write(answer.raw)
            await self._bytes.flush()

    def _close_foreign(self, error: Exception) -> None:
        self._shared.counts.foreign += 1
        kind = "another protocol" if isinstance(error, NotStrictBinary) else "a broken message"
        about = {"client": self._bytes.info("peername"), "error": str(error)}
        _LOG.warning("a connection is closed: %s", kind, extra=about)
        self.end()

    async def _request(self) -> WireMessage | None:
        """Wait for a request; one that has begun has to be whole after some time."""
        if not await self._reader.begins():
            return None
        try:
            async with asyncio.timeout(self._shared.request_seconds):
                return await self._reader.read()
        except TimeoutError as error:
            raise WireError(f"a request that is not whole after {self._shared.request_seconds:g} s") from error

    async def _counted(self, request: WireMessage) -> CallOutcome:
        began = self._shared.clock()
        outcome = await self._answered(request)
        self._count(request, outcome, began)
        return outcome

    def _count(self, request: WireMessage, outcome: CallOutcome, began: float) -> None:
        seconds = self._shared.clock() - began
        method = _counted_as(request.head.method)
        self._shared.counts.ended(outcome.owner, method, outcome.ending, seconds)
        if outcome.ending is not Ending.ANSWERED:
            self._log(method, outcome, seconds)

    def _log(self, method: str, outcome: CallOutcome, seconds: float) -> None:
        """Write down a call that was not answered, and of many like it one a second."""
        before = self._shared.not_answered.another((outcome.owner, method, outcome.ending))
        if before is not None:
            about = {"remote": outcome.owner, "method": method, "seconds": round(seconds, 3)}
            more: dict[str, object] = {"before_it": before} if before else {}
            if outcome.hangs_up and isinstance(outcome.answer, WireMessage):
                more["hung_up"] = error_text(outcome.answer)
            _LOG.warning("a call is %s", outcome.ending, extra={**about, **more})

    async def _answered(self, request: WireMessage) -> CallOutcome:
        if request.head.kind not in (MessageKind.CALL, MessageKind.ONEWAY):
            raise WireError(f"a {request.head.kind.name} where a call was expected")
        request = with_sql_wildcards(request)
        if (old := old_call(request)) is not None:
            outcome = await self._answered(old.instead)
            return CallOutcome(old.answer(await outcome.whole()), outcome.owner, outcome.ending)
        if (pruning := by_expression(self._port, request)) is not None:
            return self._wrapped(request, pruning, await self._answered(pruning.instead))
        if (chain := chain_of(request)) is not None:
            if not chain.is_circle(self._shared.gateway_id):
                self._client.chain = chain
            return CallOutcome(chain_answer(request, chain, self._shared.gateway_id))
        return await self._decided(request, await self._shared.definitions.current())

    @staticmethod
    def _wrapped(request: WireMessage, pruning: ByExpression, outcome: CallOutcome) -> CallOutcome:
        try:
            return pruning.wrapped(outcome)
        except WireError as error:
            return failure(request, str(error))

    async def _decided(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        method, kind = request.head.method, KIND_OF.get(request.head.method)
        owner = owner_of(method, kind, await self._named(request) if kind in _BY_NAME else (), defined)
        if self._port is None:
            return await self._carried_out(request, kind, owner, defined)
        admitted = await let_in(self._port, request, kind, owner, defined)
        if isinstance(admitted, CallOutcome):
            return admitted
        return await seen_at(self._port, request, await self._carried_out(admitted, kind, owner, defined))

    async def _named(self, request: WireMessage) -> tuple[Named, ...]:
        """Return what a request names; of a large one in a thread, so that others go on meanwhile."""
        if len(request.raw) <= _LARGE:
            return named_in(request)
        return await self._shared.view_threads.run(named_in, request)

    async def _carried_out(
        self, request: WireMessage, kind: MethodKind | None, owner: Owner, defined: Definitions
    ) -> CallOutcome:
        method = request.head.method
        match owner:
            case ToNobody():
                return CallOutcome(reply(method, request.head.sequence))
            case NotPassedOn(text, error):
                return refusal(request, text, error=error)
            case ToRemote(definition):
                return await self._remotes.answer(request, definition)
            case ToSeveral():
                return await self._composed(request, defined)
            case ToSession():
                return await self._session_call(request, kind)
            case ToLocalDrop(definition):
                refused = await refused_drop(request, definition, self._remotes)
                return refused or await self._local_call(request, kind)
            case ToLocal():
                return await self._local_call(request, kind)
        assert_never(owner)

    async def _composed(self, request: WireMessage, defined: Definitions) -> CallOutcome:
        if isinstance(self._port, ClusterPort):  # it serves no remote; one that is asked for by name has been refused
            return await self._local_call(request, MethodKind.SEVERAL)
        try:
            return await self._several.answer(request, defined)
        except WireError as error:
            return failure(request, f"{request.head.method} over several metastores: {error}")

    async def _session_call(self, request: WireMessage, kind: MethodKind | None) -> CallOutcome:
        if len(request.raw) > MOST_SAID_BYTES:
            return refusal(request, too_much_said(request.head.method, len(request.raw)))
        outcome = await self._local.answer(request, kind)
        if outcome.ending is Ending.ANSWERED and outcome.answer.head.kind is MessageKind.REPLY:
            self._client.note(request)
            self._remotes.close()
        return outcome

    async def _local_call(
        self, request: WireMessage, kind: MethodKind | None, begun: bytes | None = None
    ) -> CallOutcome:
        outcome = await self._local.answer(request, kind, begun=begun)
        if kind is MethodKind.READ and isinstance(outcome.answer, WireMessage) and MARKER in outcome.answer.raw:
            return await self._looked_at_again(request, outcome)
        if _changes_definitions(request, kind):
            self._shared.definitions.forget()
        return outcome

    async def _looked_at_again(self, request: WireMessage, outcome: CallOutcome) -> CallOutcome:
        """A remote was defined just now, by somebody else: the next calls about it must not go to its definition."""
        self._shared.definitions.forget()
        defined = await self._shared.definitions.current()
        if isinstance(self._port, ClusterPort):
            remote = named_remote(request, defined)
            return outcome if remote is None else no_remote(request, remote)
        owner = owner_of(request.head.method, MethodKind.READ, named_in(request), defined)
        return await self._remotes.answer(request, owner.definition) if isinstance(owner, ToRemote) else outcome


def _counted_as(method: str) -> str:
    """Return a method's name, and one for all that nobody knows: clients can send any number of them."""
    return method if method in METHODS or method in OLD_METHODS else UNKNOWN


def _changes_definitions(request: WireMessage, kind: MethodKind | None) -> bool:
    match kind:
        case MethodKind.TABLE_DROP:
            return True
        case MethodKind.DEFINITION:
            return not request.head.method.startswith("get")
        case MethodKind.WRITE:
            return MARKER in request.raw
        case MethodKind.LOCAL:
            return request.head.method in _OF_CONNECTORS
        case MethodKind.READ | MethodKind.SEVERAL | MethodKind.SESSION | MethodKind.GRANT | MethodKind.NEVER | None:
            return False
        case _:
            assert_never(kind)
