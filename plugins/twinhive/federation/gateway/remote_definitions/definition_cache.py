"""Know the remotes that are defined in the local metastore, as they were some seconds ago at most."""

import asyncio
import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from twinhive.core.threads.daemons import DaemonThreads

_LOG = logging.getLogger(__name__)
MOST_AGE = 5.0
"""Seconds; what another gateway or client has defined is known after that."""
Read = TypeVar("Read")


class DefinitionCache(Generic[Read]):
    """Read with a blocking function in threads of its own, once for all who wait.

    Reading takes the local metastore one part in `read_share` of the time: where it takes long, it is done less often.
    """

    def __init__(
        self,
        read: Callable[[], Read],
        clock: Callable[[], float],
        most_age: float = MOST_AGE,
        read_share: Callable[[], float] = lambda: 20.0,
    ) -> None:
        self._read, self._clock, self._most_age, self._share = read, clock, most_age, read_share
        self._known: Read | None = None
        self._read_at = self._fresh_until = float("-inf")
        self._failed_at = float("-inf")
        self._reading: asyncio.Task[Read] | None = None
        self._took = 0.0
        self._threads = DaemonThreads("definitions", 2)

    def forget(self) -> None:
        """Read again before the next answer: something has just been defined or dropped here."""
        self._read_at = self._fresh_until = float("-inf")
        self._reading = None

    def known(self) -> Read | None:
        """Return what is defined if nobody has to wait for it, None otherwise; reads anew when it gets old."""
        now = self._clock()
        if now < self._fresh_until:
            return self._known
        if self._known is None:
            return None
        self._begin()
        is_usable = now - self._read_at < self._age_allowed() or now - self._failed_at < self._most_age
        return self._known if is_usable else None

    def _age_allowed(self) -> float:
        return max(self._most_age, self._took * self._share())

    async def current(self) -> Read:
        """Return what is defined. Raises what reading raises, when nothing was ever read.

        While the local metastore does not answer, what it said last holds.
        """
        if (known := self.known()) is not None:
            return known
        try:
            return await asyncio.shield(self._begin())
        except Exception as error:
            self._failed_at = self._clock()
            if self._known is None:
                raise
            _LOG.warning("the definitions of remotes cannot be read", extra={"error": str(error)})
            return self._known

    def _begin(self) -> asyncio.Task[Read]:
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_once())
            self._reading.add_done_callback(_retrieved)
        return self._reading

    async def _read_once(self) -> Read:
        began = self._clock()
        reading = asyncio.current_task()
        known = await self._threads.run(self._read)
        self._took = self._clock() - began
        if self._reading is reading:  # not forgotten meanwhile: another one reads what is newer
            self._known, self._read_at = known, began
            self._fresh_until = began + self._age_allowed() / 2
        return known


def _retrieved(task: "asyncio.Task[Read]") -> None:
    if not task.cancelled():
        task.exception()
