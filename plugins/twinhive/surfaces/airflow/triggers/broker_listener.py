"""Hear messages of a broker from inside an event loop, whatever becomes of the broker meanwhile."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import closing
from threading import Event, Thread
from typing import Any

from twinhive.core.ports import MessageBroker
from twinhive.publishing.messages.listening import LISTENING, said

_SECONDS = 0.5
_MOST_SECONDS = 30.0

_log = logging.getLogger(__name__)
Heard = dict[str, Any] | None
"""A message's body with its `topic`; `{"listening": [...]}` when it is listened anew, and the store is to be looked at;
None when the broker is lost."""


class Ear:
    """Listen in a thread of its own, that keeps no process alive: a subscription blocks.

    open_broker  connects as who may read; called again after each loss: the address may be another by now
    tell         is called with each `Heard`, in the event loop
    """

    def __init__(
        self,
        open_broker: Callable[[], MessageBroker],
        topics: Collection[str],
        kinds: Collection[str],
        tell: Callable[[Heard], object],
    ) -> None:
        self._open, self._topics, self._kinds, self._tell = open_broker, list(topics), list(kinds), tell
        self._loop = asyncio.get_running_loop()
        self._over = Event()
        self._failures = 0
        Thread(target=self._listen, name="ear", daemon=True).start()

    def leave(self) -> None:
        """Listen no more; what is heard from now on is not told."""
        self._over.set()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                self._hear()
            except Exception as error:  # nothing but `leave` may end it
                self._lost(error)
                self._over.wait(min(_MOST_SECONDS, 2.0 ** min(self._failures, 16)))

    def _hear(self) -> None:
        with (
            closing(self._open()) as broker,
            closing(broker.subscribe(self._topics, self._kinds)) as subscription,
        ):
            if self._failures:
                _log.info("the broker is heard again")
            self._failures = 0
            self._say({LISTENING: self._topics})
            while not self._over.is_set():
                message = subscription.receive(_SECONDS)
                if message is not None:
                    self._say(said(message))

    def _lost(self, error: Exception) -> None:
        self._failures += 1
        if self._failures == 1:
            _log.warning("a broker cannot be heard, it is tried again: %s", error)
            self._say(None)

    def _say(self, heard: Heard) -> None:
        if not self._over.is_set() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, heard)


async def heard(
    open_broker: Callable[[], MessageBroker], topics: Collection[str], kinds: Collection[str] = ()
) -> AsyncGenerator[dict[str, Any]]:
    """Yield messages, and `{"listening": [...]}` whenever it is listened anew, for ever."""
    told: asyncio.Queue[Heard] = asyncio.Queue()
    ear = Ear(open_broker, topics, kinds, told.put_nowait)
    try:
        while True:
            if (one := await told.get()) is not None:
                yield one
    finally:
        ear.leave()
