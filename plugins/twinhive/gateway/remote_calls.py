"""Ask remotes for one client: under their names, behind their guards, over connections of its own."""

import logging
from collections.abc import Hashable
from contextlib import AsyncExitStack
from datetime import UTC, datetime

from twinhive.gateway.answers import CallOutcome, Pieces, failure, refusal
from twinhive.gateway.bodies import text_at, with_entries
from twinhive.gateway.chain import chain_call
from twinhive.gateway.client import Client
from twinhive.gateway.isolation import BreakerState, RemoteBusyError, RemoteDownError
from twinhive.gateway.links import Link, LinkLimits, NoAnswerError, RefusedGreetingError
from twinhive.gateway.remote_pool import Remote
from twinhive.gateway.requests import renames_of
from twinhive.gateway.shared import Shared
from twinhive.model.errors import TwinhiveError
from twinhive.model.remotes.definitions import Definition, RemoteDatabase
from twinhive.wire.message import WireError, WireMessage
from twinhive.wire.reader import LongAnswer
from twinhive.wire.renaming import renamed

_LOG = logging.getLogger(__name__)
_PARAMETERS = {"get_table_req": (0, 1, 9)}
"""Where a table's parameters stand in an answer."""
_TABLE_TYPE = {"get_table_req": (0, 1, 12)}
"""And its type."""


class RemoteError(Exception):
    """A remote was not asked, or has not answered; the text is for the client."""

    def __init__(self, text: str, remote: str) -> None:
        super().__init__(text)
        self.text, self.remote = text, remote


class RemoteCalls:
    """The remotes of one client."""

    def __init__(self, shared: Shared, client: Client) -> None:
        self._shared, self._client = shared, client
        self._links: dict[Hashable, Link] = {}

    async def answer(self, request: WireMessage, definition: Definition) -> CallOutcome:
        """Ask a remote what a client has asked under its local name."""
        try:
            remote = self._shared.remotes.of(definition)
        except TwinhiveError as error:
            return refusal(request, f"remote {definition.local} cannot be asked: {error}")
        try:
            answer = await self.ask(request, definition)
        except RemoteError as error:
            return failure(request, error.text, error.remote)
        except WireError as error:
            return refusal(request, f"remote {definition.local}: {error}; nothing was changed", remote.name)
        return CallOutcome(answer, remote.name)

    async def ask(self, request: WireMessage, definition: Definition) -> WireMessage | Pieces:
        """Return a remote's answer under local names. Raises RemoteError, WireError, TwinhiveError."""
        remote = self._shared.remotes.of(definition)
        renames = renames_of(definition)
        answer = await self._exchange(remote, renamed(request, renames), definition)
        if isinstance(answer, Pieces):
            return answer
        if text_at(answer, _TABLE_TYPE.get(request.head.method, ())) == "VIRTUAL_VIEW" and not _reads_alike(definition):
            raise RemoteError(_view(definition), remote.name)
        if (path := _PARAMETERS.get(request.head.method)) is not None:
            answer = with_entries(answer, path, self._shared.describe(definition))
        return renamed(answer, renames.back)

    async def close(self) -> None:
        """Hang up; who is asked again is greeted again, with what the client says of itself by then."""
        for link in self._links.values():
            await link.close()

    async def _exchange(self, remote: Remote, request: WireMessage, definition: Definition) -> WireMessage | Pieces:
        breaker, link = remote.guard.breaker, self._link(remote)
        try:
            async with AsyncExitStack() as held:
                await held.enter_async_context(remote.guard.call())
                try:
                    answer = await link.call(request, repeatable=True)
                except NoAnswerError as error:
                    breaker.failed(error.text)
                    self._note(remote)
                    raise RemoteError(_failed(definition, remote, error.text), remote.name) from error
                except RefusedGreetingError as error:
                    text = f"remote {definition.local} ({remote.name}) refuses the connection: {error}"
                    raise RemoteError(text, remote.name) from error
                if breaker.failing_since is not None:
                    breaker.answered()
                    self._note(remote)
                if isinstance(answer, LongAnswer):
                    pieces = link.pieces(answer, renames_of(definition).back)
                    held.push_async_callback(pieces.aclose)
                    return Pieces(answer.head, pieces, remote.guard.limits.call, held.pop_all().aclose)
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

    def _link(self, remote: Remote) -> Link:
        if remote.key not in self._links:
            limits = remote.guard.limits

            def greeting() -> tuple[WireMessage, ...]:
                came_through = self._client.chain.through(self._shared.gateway_id)
                return (*self._client.greeting(remote.user), chain_call(came_through))

            link_limits = LinkLimits(limits.connect, limits.call, limits.buffered)
            self._links[remote.key] = Link(remote.open, link_limits, greeting)
        return self._links[remote.key]

    def _note(self, remote: Remote) -> None:
        breaker = remote.guard.breaker
        self._shared.remotes.note(remote)
        about = {"remote": remote.name, "breaker": breaker.state, "failure": breaker.last_failure}
        if breaker.state is BreakerState.CLOSED and breaker.failing_since is None:
            _LOG.info("a remote answers again", extra=about)
        else:
            _LOG.warning("a remote does not answer", extra=about)

    def _away(self, definition: Definition, remote: Remote) -> str:
        _, since, text = self._shared.counts.breakers.get(remote.name, (None, None, ""))
        at = "" if since is None else f" since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M:%S} UTC"
        return (
            f"remote {definition.local} ({remote.name}) is not there for now{at}: {text}. The gateway asks it again "
            f"every {remote.guard.limits.probe_every:g} s; nothing was sent"
        )


def _reads_alike(definition: Definition) -> bool:
    """True where names in a view's text mean here what they mean at the remote, as far as they are of its database."""
    return isinstance(definition, RemoteDatabase) and definition.local == definition.remote


def _view(definition: Definition) -> str:
    return (
        f"remote {definition.local} is a view there, or has one of this name: its text names databases of the remote, "
        "which are others here, or none. Ask for the tables that it reads; or make a remote database that has the same "
        "name here as there"
    )


def _failed(definition: Definition, remote: Remote, text: str) -> str:
    return f"remote {definition.local} ({remote.name}) does not answer: {text}; try again"
