"""Catalogs that are reached like metastores: bytes in, bytes out, in this process."""

import asyncio
import logging
import socket
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from twinhive.core.model.errors import InvalidSettings, TryAgain, TwinhiveError
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.connector_api.catalogs import CatalogConnector, Connector, ConnectorPlace
from twinhive.federation.connectors.blocking_calls import BlockingCalls
from twinhive.federation.connectors.responder import Responder
from twinhive.hive.wire.stream_reader import MessageReader
from twinhive.hive.wire.thrift_message import WireError, WireMessage

_log = logging.getLogger(__name__)
MOST_CATALOGS: Final = 256
MOST_REQUEST_BYTES: Final = 16 << 20
MAKING_SECONDS: Final = 60.0
"""For a catalog to be made: its callers wait less each, and find it when it is there."""


def place_of(connector: Connector | CatalogConnector, properties: Mapping[str, str]) -> ConnectorPlace:
    """Say where a definition leads. Raises InvalidSettings whatever a connector of one's own raises or returns."""
    try:
        place: object = connector.place(properties)
    except TwinhiveError:
        raise
    except Exception as error:
        raise _unplaced(f"{type(error).__name__}: {error}") from error
    if not isinstance(place, ConnectorPlace):
        raise _unplaced(f"{type(place).__name__} from its method place, which returns a ConnectorPlace")
    return place


def _unplaced(found: str) -> InvalidSettings:
    return InvalidSettings(
        "a remote's connector cannot read its properties",
        found=found,
        expected="the properties that the connector needs",
        next_step="create the remote again with them (docs/connectors.md)",
    )


class _Answering:
    """One catalog, made when it is first needed, with the threads that its calls run in."""

    def __init__(self, connector: CatalogConnector, properties: Mapping[str, str], name: str) -> None:
        self._connector, self._properties, self._name = connector, dict(properties), name
        self._calls = BlockingCalls(name)
        self.making: asyncio.Task[Responder] | None = None

    async def ready(self) -> Responder:
        """Return what answers. Who stops waiting does not end its making for others."""
        if self.making is None or (self.making.done() and self._has_failed(self.making)):
            self.making = asyncio.create_task(self._made())
            self.making.add_done_callback(self._has_failed)
        return await asyncio.shield(self.making)

    async def answer(self, message: WireMessage) -> WireMessage:
        responder = await self.ready()
        return await self._calls.run(lambda: responder.answer(message))

    async def _made(self) -> Responder:
        try:
            async with asyncio.timeout(MAKING_SECONDS):
                return Responder(await self._calls.run(lambda: self._connector.catalog(self._properties)))
        except TimeoutError as error:
            raise ConnectionError(f"{self._name}: no catalog within {MAKING_SECONDS:g} s") from error

    @staticmethod
    def _has_failed(making: "asyncio.Task[Responder]") -> bool:
        """Look at how it ended, which perhaps nobody waits for any more."""
        return making.cancelled() or making.exception() is not None


class AnsweringConnector:
    """Open connections to catalogs. Each is served by a task; closing one gives up what it waits for."""

    def __init__(self, connector: CatalogConnector) -> None:
        self._connector = connector
        self._answering: OrderedDict[str, _Answering] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say where a definition leads. Raises InvalidSettings."""
        return place_of(self._connector, properties)

    async def open(self, properties: Mapping[str, str]) -> ByteLink:
        """Open a connection to the catalog of a definition. Raises ConnectionError, InvalidSettings."""
        answering = self._of(properties)
        try:
            await answering.ready()
        except OSError:
            raise
        except Exception as error:
            raise ConnectionError(str(error) or type(error).__name__) from error
        ours, theirs = socket.socketpair()
        link = await _link_of(theirs)
        task = asyncio.create_task(_serve(answering, ours, link))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return link

    async def close(self) -> None:
        """End all connections, and what is still being made."""
        makings = [one.making for one in self._answering.values() if one.making is not None]
        tasks = [*self._tasks, *makings]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _of(self, properties: Mapping[str, str]) -> _Answering:
        place = self.place(properties)
        found = self._answering.get(place.key)
        if found is None:
            found = self._answering[place.key] = _Answering(self._connector, properties, place.name)
            if len(self._answering) > MOST_CATALOGS:
                self._answering.popitem(last=False)
        self._answering.move_to_end(place.key)
        return found


async def _link_of(sock: socket.socket) -> ByteLink:
    _, link = await asyncio.get_running_loop().create_connection(ByteLink, sock=sock)
    return link


async def _serve(answering: _Answering, ours: socket.socket, theirs: ByteLink) -> None:
    """Answer one connection until it is closed. Who is asked and cannot be reached ends it, with the reason."""
    link = await _link_of(ours)
    try:
        await _answer_all(answering, MessageReader(link, MOST_REQUEST_BYTES), link)
    except (OSError, EOFError, WireError, TryAgain) as error:
        theirs.end(ConnectionResetError(str(error)))
    except Exception as error:
        _log.exception("A connection to a catalog has ended")
        theirs.end(ConnectionResetError(f"{type(error).__name__}: {error}"))
    finally:
        link.close()


async def _answer_all(answering: _Answering, messages: MessageReader, link: ByteLink) -> None:
    upcoming = asyncio.create_task(messages.read())
    try:
        while (message := await upcoming) is not None:
            upcoming = asyncio.create_task(messages.read())
            answer = await _answer_unless_closed(answering, message, upcoming)
            if answer is None:
                return
            link.write(answer.raw)
            await link.flush()
    finally:
        upcoming.cancel()


async def _answer_unless_closed(
    answering: _Answering, message: WireMessage, upcoming: "asyncio.Task[WireMessage | None]"
) -> WireMessage | None:
    """Return the answer, or None when the caller has closed the connection before."""
    answer = asyncio.create_task(answering.answer(message))
    try:
        await asyncio.wait({answer, upcoming}, return_when=asyncio.FIRST_COMPLETED)
        has_left = upcoming.done() and (upcoming.exception() is not None or upcoming.result() is None)
        return None if has_left and not answer.done() else await answer
    finally:
        answer.cancel()
