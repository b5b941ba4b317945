"""Ask remotes for one client: under their names, behind their guards, over connections of its own."""

import asyncio
from collections.abc import Hashable
from contextlib import AsyncExitStack
from datetime import UTC, datetime

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.remotes.definitions import Definition
from twinhive.federation.gateway.call_outcomes import CallOutcome, Pieces, failure, refusal, with_its_words_told
from twinhive.federation.gateway.call_targets import Named
from twinhive.federation.gateway.client_identity import Client
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.isolation import RemoteBusyError, RemoteDownError
from twinhive.federation.gateway.local_calls import LocalCalls
from twinhive.federation.gateway.loop_detection import chain_call
from twinhive.federation.gateway.metastore_links import Link, LinkLimits, NoAnswerError, RefusedGreetingError
from twinhive.federation.gateway.method_kinds import MethodKind
from twinhive.federation.gateway.remote_definitions.remote_stubs import is_stub, look_at, says_no_partition
from twinhive.federation.gateway.remote_pool import Remote
from twinhive.federation.gateway.remote_tables.external_tables import CHANGES, with_external_tables
from twinhive.federation.gateway.request_names import named_in, renames_of
from twinhive.federation.gateway.streamed_answers import HandOn, PieceSink
from twinhive.federation.gateway.struct_edits import error_text, texts_at
from twinhive.federation.gateway.view_answers import (
    Here,
    ViewRefusedError,
    WithoutViews,
    may_hold_views,
    returns_tables,
    with_views_renamed,
)
from twinhive.hive.wire.call_numbers import RisingNumbers
from twinhive.hive.wire.message_renaming import renamed
from twinhive.hive.wire.name_forms import key_of
from twinhive.hive.wire.renamed_chunks import renamed_pieces
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.stream_reader import LongAnswer
from twinhive.hive.wire.thrift_message import STOP, WireError, WireMessage, call

_SLOW = 4 << 20
"""An answer of more bytes is renamed in pieces: of 32 MB it takes a quarter of a second, in which others go on."""
_ALL_DATABASES = call("get_all_databases", 0, STOP)


class RemoteError(Exception):
    """A remote was not asked, or has not answered; the text is for the client."""

    def __init__(self, text: str, remote: str) -> None:
        super().__init__(text)
        self.text, self.remote = text, remote


class RemoteCalls:
    """The remotes of one client."""

    def __init__(self, shared: Shared, client: Client, local: LocalCalls) -> None:
        self._shared, self._client, self._local = shared, client, local
        self._links: dict[Hashable, Link] = {}

    async def answer(self, request: WireMessage, definition: Definition, *, begun: bytes | None = None) -> CallOutcome:
        """Ask a remote what a client has asked under its local name.

        begun   what has come of the answer already, where the remote was asked; its guard is entered then
        """
        try:
            remote = self._shared.remotes.of(definition)
        except TwinhiveError as error:
            return refusal(request, f"remote {definition.local} cannot be asked: {error}")
        try:
            answer = await self.ask(request, definition, begun=begun)
        except RemoteError as error:
            return failure(request, error.text, error.remote)
        except WireError as error:
            return refusal(request, f"remote {definition.local}: {error}; nothing was changed", remote.name)
        return CallOutcome(answer, remote.name)

    async def ask(
        self, request: WireMessage, definition: Definition, *, begun: bytes | None = None
    ) -> WireMessage | Pieces:
        """Return a remote's answer under local names. Raises RemoteError, WireError, TwinhiveError."""
        remote = self._shared.remotes.of(definition)
        sent = renamed(request, renames_of(definition))
        answer = await self._exchange(remote, sent, definition, begun)
        if isinstance(answer, Pieces):
            return answer
        if says_no_partition(answer):
            await self._refuse_stub(sent, definition, remote)
        return await self._under_local_names(answer, definition, remote)

    async def _refuse_stub(self, sent: WireMessage, definition: Definition, remote: Remote) -> None:
        """Raise RemoteError where what was asked for partitions only stands for a table elsewhere."""
        for one in named_in(sent):
            if one.table is None:
                continue
            answer = CallOutcome(await self.ask_as_it_is(look_at(one.database, one.table), definition))
            if is_stub(await answer.whole()):
                raise RemoteError(_stub(definition, remote, one), remote.name)

    async def ask_as_it_is(self, request: WireMessage, definition: Definition) -> WireMessage | Pieces:
        """Return the answer to what is asked and answered under the remote's own names. Raises as `ask`."""
        return await self._exchange(self._shared.remotes.of(definition), request, definition, None)

    async def _under_local_names(self, answer: WireMessage, definition: Definition, remote: Remote) -> WireMessage:
        if may_hold_views(answer):
            answer = await self._with_views_renamed(answer, definition, remote)
        return await _renamed(self.described(answer, definition, remote), renames_of(definition).back)

    def described(self, answer: WireMessage, definition: Definition, remote: Remote) -> WireMessage:
        """Return an answer with what the remote itself is: among a table's parameters, and before an error's text.

        Tables are EXTERNAL.
        """
        answer = with_its_words_told(answer, definition, remote.name)
        return with_external_tables(answer, self._shared.describe(definition))

    def unanswered(self, request: WireMessage, definition: Definition, remote: Remote, text: str) -> CallOutcome:
        """Answer a call that a remote has not answered, and note that."""
        remote.guard.breaker.failed(text)
        self._shared.remotes.note(remote)
        return failure(request, _failed(definition, remote, text), remote.name)

    async def _with_views_renamed(self, answer: WireMessage, definition: Definition, remote: Remote) -> WireMessage:
        def is_beside(other: Definition) -> bool:
            return self._shared.remotes.key_of(other) == remote.key

        defined = await self._shared.definitions.current()
        here = Here(definition, defined, is_beside, await self._local_databases(definition, remote))
        try:
            return await self._shared.view_threads.run(with_views_renamed, answer, here)
        except ViewRefusedError as error:
            raise RemoteError(_view(definition, error.name), remote.name) from error

    async def _local_databases(self, definition: Definition, remote: Remote) -> frozenset[str]:
        outcome = await self._local.answer(_ALL_DATABASES, MethodKind.DEFINITION)
        answer = await outcome.whole()
        names = texts_at(answer, (0,))
        if names is None:
            said = error_text(answer)
            raise RemoteError(f"a view of remote {definition.local}: {said}; what it reads cannot be told", remote.name)
        return frozenset(key_of(name) for name in names)

    def close(self) -> None:
        """Hang up; who is asked again is greeted again, with what the client says of itself by then."""
        for link in self._links.values():
            link.close()

    async def _exchange(
        self, remote: Remote, request: WireMessage, definition: Definition, begun: bytes | None
    ) -> WireMessage | Pieces:
        breaker, link = remote.guard.breaker, self.link(remote)
        try:
            async with AsyncExitStack() as held:
                await held.enter_async_context(remote.guard.call(is_held=begun is not None))
                try:
                    answer = await (link.call(request, repeatable=True) if begun is None else link.rest(begun, request))
                except NoAnswerError as error:
                    breaker.failed(error.text)
                    self._shared.remotes.note(remote)
                    raise RemoteError(_failed(definition, remote, error.text), remote.name) from error
                except RefusedGreetingError as error:
                    text = f"remote {definition.local} ({remote.name}) refuses the connection: {error}"
                    raise RemoteError(text, remote.name) from error
                if isinstance(answer, LongAnswer):
                    changes = CHANGES if returns_tables(answer.head.method) else None
                    handing = link.handing_on(answer, renames_of(definition).back, changes)
                    held.push_async_callback(handing.close)
                    some = self._watched(handing.some, remote)
                    handed_on = WithoutViews(some).some if returns_tables(answer.head.method) else some
                    return Pieces(answer.head, handed_on, remote.guard.limits.call, held.pop_all().aclose)
                self.answered(remote)
                return answer
        except RemoteDownError:
            raise RemoteError(self._away(definition, remote), remote.name) from None
        except RemoteBusyError:
            limits = remote.guard.limits
            text = (
                f"remote {definition.local} ({remote.name}): {limits.calls_at_once} calls are under way, and none has "
                f"ended within {limits.wait:g} s; try again"
            )
            raise RemoteError(text, remote.name) from None

    def _watched(self, some: HandOn, remote: Remote) -> HandOn:
        """Hand pieces on, and note whether the remote has given all of them."""

        async def watched(sink: PieceSink) -> bool:
            try:
                if has_ended := await some(sink):
                    self.answered(remote)
            except NoAnswerError as error:
                remote.guard.breaker.failed(error.text)
                self._shared.remotes.note(remote)
                raise
            return has_ended

        return watched

    def answered(self, remote: Remote) -> None:
        """Note that a remote has answered."""
        if remote.guard.breaker.failing_since is not None:
            remote.guard.breaker.answered()
            self._shared.remotes.note(remote)

    def link(self, remote: Remote) -> Link:
        """Return the client's connection to a remote, opened when it is first called."""
        if remote.key not in self._links:
            limits = remote.guard.limits

            def greeting() -> tuple[WireMessage, ...]:
                came_through = self._client.chain.through(self._shared.gateway_id)
                return (*self._client.greeting(remote.user), chain_call(came_through))

            link_limits = LinkLimits(limits.connect, limits.call, limits.buffered)
            self._links[remote.key] = Link(remote.open, link_limits, greeting, RisingNumbers)
        return self._links[remote.key]

    def _away(self, definition: Definition, remote: Remote) -> str:
        _, since, text = self._shared.counts.breakers.get(remote.name, (None, None, ""))
        at = "" if since is None else f" since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M:%S} UTC"
        return (
            f"remote {definition.local} ({remote.name}) is not there for now{at}: {text}. The gateway asks it again "
            f"every {remote.guard.limits.probe_every:g} s; nothing was sent"
        )


async def _renamed(answer: WireMessage, renames: Renames) -> WireMessage:
    """Return an answer with other names. Raises WireError."""
    if len(answer.raw) <= _SLOW or renames.nothing:
        return renamed(answer, renames)
    pieces = []
    for piece in renamed_pieces(answer, renames):
        pieces.append(piece)
        await asyncio.sleep(0)
    return WireMessage(answer.head, b"".join(pieces), answer.at)


def _view(definition: Definition, name: str) -> str:
    return (
        f"remote {definition.local} has a view of this name, and its text reads {name}, which is something else here, "
        "or cannot be told: a wrong table would be read. Make a remote of what it reads, with the same properties "
        "(CREATE REMOTE DATABASE … CONNECTED TO …), or ask for the tables that it reads"
    )


def _stub(definition: Definition, remote: Remote, named: Named) -> str:
    return (
        f"remote {definition.local} is {definition.remote} at {remote.name}, where {named} is itself a remote table: "
        "this metastore has none of its partitions. Make the remote anew with the address of the gateway there, or of "
        "the metastore that has the table (DROP REMOTE, CREATE REMOTE with 'hive.metastore.uris')"
    )


def _failed(definition: Definition, remote: Remote, text: str) -> str:
    return f"remote {definition.local} ({remote.name}) does not answer: {text}; try again"
