"""One cluster's port: what its clients send, and what they get. All asking of servers is done in threads of its own."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import MetastoreReader
from twinhive.core.threads.daemons import DaemonThreads
from twinhive.federation.cluster_view.message_locations import PlacedObject, objects_in
from twinhive.federation.cluster_view.object_locations import Judge
from twinhive.federation.cluster_view.request_admission import (
    Entrance,
    PortCall,
    asks_servers,
    check_default_port,
    needs_check,
)
from twinhive.federation.cluster_view.visibility_rules import Sight
from twinhive.federation.cluster_view.visible_chunks import ShownPieces
from twinhive.federation.cluster_view.visible_objects import shown
from twinhive.federation.routing.freshness import Freshness
from twinhive.hive.wire.message_renaming import struct_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.stream_reader import MOST_ANSWER_BYTES, LongAnswer
from twinhive.hive.wire.thrift_message import WireError, WireMessage

MOST_CALLS: Final = 16
"""That wait for servers at one port; further ones of this port wait for these."""
MOST_WAITING: Final = 128
"""That wait for these; each may hold an answer, of 32 MB at most."""
_threads = partial(DaemonThreads, "port", MOST_CALLS, MOST_WAITING)


@dataclass(frozen=True)
class DefaultPort:
    """The gateway's own port, where several clusters share the metastore: all is handed on but places of copies."""

    metastore: MetastoreReader
    sight: Sight
    threads: DaemonThreads = field(default_factory=_threads, compare=False)

    async def admitted(self, request: PortCall) -> WireMessage:
        """Return the call, which nobody may use to write such places. Raises Refusal, WireError, and what reading the
        metastore raises.
        """
        if needs_check(request):
            await self.threads.run(check_default_port, request, self.sight, self.metastore)
        return request.message

    async def shown(self, answer: WireMessage) -> WireMessage:
        """Return the answer."""
        return answer


@dataclass(frozen=True)
class ClusterPort:
    """The port of one cluster.

    freshness  judges the copies of one answer: a new one each time, so that nothing older than the answer counts
    """

    metastore: MetastoreReader
    sight: Sight
    freshness: Callable[[], Freshness]
    threads: DaemonThreads = field(default_factory=_threads, compare=False)

    async def admitted(self, request: PortCall) -> WireMessage:
        """Return what to pass on. Raises Refusal, WireError, and what reading the metastore raises."""
        entrance = Entrance(self.metastore, self.sight)
        if asks_servers(request):
            return await self.threads.run(entrance.admitted, request)
        return entrance.admitted(request)

    async def shown(self, answer: WireMessage) -> WireMessage:
        """Return an answer as the cluster sees it. Raises WireError, and what judging copies raises."""
        if not _has_places(answer):
            return answer
        raw = await self.threads.run(self._shown, answer)
        return WireMessage(answer.head, raw, answer.at)

    async def pieces(self, answer: LongAnswer) -> AsyncIterator[bytes]:
        """Yield a long answer as the cluster sees it, as it comes. Raises WireError, in the middle."""
        judge = self._judge()
        struct = METHODS[answer.head.method].returned
        scan = ShownPieces(struct, lambda raw, objects: self._judged(judge, raw, objects), MOST_ANSWER_BYTES)

        async def taken() -> bytes:
            try:
                return await self.threads.run(scan.taken)
            except TwinhiveError as error:
                raise WireError(str(error)) from error

        async for piece in answer.changed(scan, taken):
            yield piece

    def _shown(self, answer: WireMessage) -> bytes:
        objects = objects_in(answer.raw, answer.at, struct_of(answer))
        return self._judged(self._judge(), answer.raw, objects)

    def _judge(self) -> Judge:
        return Judge(self.metastore, self.sight, self.freshness())

    def _judged(self, judge: Judge, raw: bytes, objects: Sequence[PlacedObject]) -> bytes:
        return shown(raw, objects, judge.whereabouts(objects), self.sight)


def _has_places(answer: WireMessage) -> bool:
    method = METHODS.get(answer.head.method)
    return method is not None and any(place.role is Role.LOCATION for place in method.answer)


Port = DefaultPort | ClusterPort
