"""What a gateway itself takes for an answer: recorded bytes in memory, no server, no socket; processor time alone.

python -m benchmarks.gateway.recorded --partitions 1000 [--runs 7] [--seconds 0.5]

A session of the gateway gets a call, and its remote's answer in pieces as Java's sockets send them. Each figure is the
median of several runs, the cases in turn; beside it is what the same bytes take without a gateway. Two checkouts are
compared by running it in each in turn.
"""

import argparse
import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import uvloop
from hive_metastore import ThriftHiveMetastore, ttypes
from rich.console import Console
from rich.table import Table as Rows
from thrift.protocol.TBinaryProtocol import TBinaryProtocol

from benchmarks.gateway.made import OTHER, SAME, messages, table_of
from benchmarks.measuring import machine
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.isolation import RemoteLimits
from twinhive.federation.gateway.remote_definitions.definition_cache import DefinitionCache
from twinhive.federation.gateway.remote_pool import ReachedRemote, RemotePool
from twinhive.federation.gateway.session import Session
from twinhive.hive.wire.thrift_message import Head, MessageKind, read_head

_PIECE: Final = 8_192
_MILLI: Final = 1_000
_COLLECTED: Final = (20_000, 10, 50)
"""As `twinhive gateway` has it."""
_AT_ONCE: Final = 5
_QUIET: Final = 0.1
_COLUMNS: Final = 5
_console = Console(width=120, highlight=False)
_IN_FORMAT: Final = "org.apache.hadoop.mapred.TextInputFormat"
_OUT_FORMAT: Final = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_SERDE: Final = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


class _JavaBuffer:
    """Cuts what is written as Java's `BufferedOutputStream` does: before a write that has no room left."""

    def __init__(self) -> None:
        self.pieces = [b""]

    def write(self, buf: bytes) -> None:
        """Take what one field has."""
        if len(self.pieces[-1]) + len(buf) > _PIECE:
            self.pieces.append(b"")
        self.pieces[-1] += buf


def _pieces(method: str, success: object) -> list[bytes]:
    """Return the body of an answer, in the pieces that a metastore sends."""
    buffer = _JavaBuffer()
    getattr(ThriftHiveMetastore, f"{method}_result")(success=success).write(TBinaryProtocol(buffer))
    return buffer.pieces


def _storage(place: str) -> ttypes.StorageDescriptor:
    columns = [ttypes.FieldSchema(f"column_{number}", "string", None) for number in range(_COLUMNS)]
    serde = ttypes.SerDeInfo(None, _SERDE, {"serialization.format": "1"})
    return ttypes.StorageDescriptor(
        *(columns, f"hdfs://west/warehouse/{SAME}.db/{place}", _IN_FORMAT, _OUT_FORMAT, False, -1, serde, [], [], {}),
        ttypes.SkewedInfo([], [], {}),
        storedAsSubDirectories=False,
    )


def _answers(count: int, version: int) -> Mapping[str, Sequence[bytes]]:
    """Return what a metastore answers, by the methods, in pieces; each version as long as the others."""
    name, changed = table_of(count), 1_700_000_000 + version
    days = [f"d{number:06}" for number in range(version, count + version)]
    parts = [
        ttypes.Partition(
            *([day], SAME, name, 1_700_000_000, 0, _storage(f"{name}/day={day}")),
            {"transient_lastDdlTime": str(changed), "numFiles": "1", "totalSize": str(number)},
            catName="hive",
            writeId=-1,
            isStatsCompliant=False,
        )
        for number, day in enumerate(days)
    ]
    keys = [ttypes.FieldSchema("day", "string", None)]
    parameters = {"EXTERNAL": "TRUE", "bucketing_version": "2", "transient_lastDdlTime": str(changed)}
    table = ttypes.Table(
        *(name, SAME, "hive", 1_700_000_000, 0, 0, _storage(name), keys, parameters, None, None, "EXTERNAL_TABLE"),
        catName="hive",
        ownerType=ttypes.PrincipalType.USER,
    )
    found = {"get_table_req": ttypes.GetTableResult(table), "get_partitions": parts}
    found["get_partition_names"] = [f"day={day}" for day in days]
    return {method: _pieces(method, success) for method, success in found.items()}


@dataclass
class _Peer(asyncio.Transport):
    """The other end of a connection of the gateway: takes what it writes."""

    taken: Callable[[bytes], None]
    link: ByteLink = field(default_factory=ByteLink)

    def __post_init__(self) -> None:
        self.link.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes."""
        self.taken(cast("bytes", data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Take any number."""

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Know nothing."""
        return default

    def close(self) -> None:
        """Be closed."""

    def abort(self) -> None:
        """Be closed."""


class _Metastore:
    """Answers calls with recorded bytes, those of each call in turn, a piece at each turn of the loop."""

    def __init__(self, *answers: Mapping[str, Sequence[bytes]]) -> None:
        self._answers, self._asked = answers, 0
        self._other = _pieces("get_config_value", "")

    async def opened(self) -> ByteLink:
        """Return a new connection to it."""
        peer = _Peer(lambda data: self.answer(peer.link.data_received, data))
        return peer.link

    def answer(self, take: Callable[[bytes], None], asked: bytes) -> None:
        """Answer a call."""
        read = read_head(asked)
        assert read is not None
        head, loop = read[0], asyncio.get_running_loop()
        self._asked += 1
        first, *rest = self._answers[self._asked % len(self._answers)].get(head.method, self._other)
        left = [Head(MessageKind.REPLY, head.method, head.sequence).encoded + first, *rest][::-1]

        def send() -> None:
            piece = left.pop()
            if left:
                loop.call_soon(send)
            take(piece)

        loop.call_soon(send)


class _Client:
    """Asks one call again and again, and waits for the whole of each answer."""

    def __init__(self, asked: bytes, connect: Callable[[_Peer], None]) -> None:
        self._asked, self._left = asked, 0
        self._done = asyncio.Event()
        self._peer = _Peer(self._take)
        connect(self._peer)
        self.size = 0

    async def first(self) -> None:
        """Ask, and see how long the answer is, which has ended when nothing comes any more."""
        self._left = 0
        self._peer.link.data_received(self._asked)
        while self.size != -self._left or not self.size:
            self.size = -self._left
            await asyncio.sleep(_QUIET)

    async def again(self) -> None:
        """Ask, and wait for as many bytes."""
        self._left = self.size
        self._done.clear()
        self._peer.link.data_received(self._asked)
        await self._done.wait()

    def _take(self, data: bytes) -> None:
        self._left -= len(data)
        if not self._left:
            self._done.set()


async def _each(client: _Client, seconds: float) -> float:
    """Return the processor time of a call."""
    count, began = 0, time.process_time()
    while (taken := time.process_time() - began) < seconds:
        for _ in range(_AT_ONCE):
            await client.again()
        count += _AT_ONCE
    return taken / count


async def _measured(rows: Rows, count: int, runs: int, seconds: float, versions: Sequence[int]) -> None:
    metastore = _Metastore(*(_answers(count, version) for version in versions))
    common = _shared(metastore)

    def bare(peer: _Peer) -> None:
        taken, peer.link.taker = peer.taken, lambda data: metastore.answer(taken, data)

    def through(peer: _Peer) -> None:
        Session(common, peer.link).begin()

    other = messages(OTHER, count)
    for what, message in messages(SAME, count).items():
        sides = [_Client(message.raw, bare), _Client(message.raw, through), _Client(other[what].raw, through)]
        for side in sides:
            await side.first()
        times: list[list[float]] = [[] for _ in sides]
        for _ in range(runs):
            for side, own in zip(sides, times, strict=True):
                own.append(await _each(side, seconds))
        name = what if len(versions) == 1 else f"{what}, another answer each time"
        rows.add_row(name, f"{sides[0].size:,}", *(f"{statistics.median(own) * _MILLI:.3f}" for own in times))


def _shared(metastore: _Metastore) -> Shared:
    def reached(definition: Definition) -> ReachedRemote:
        return ReachedRemote(definition.local, "recorded", None, metastore.opened)

    counts = CallCounts()
    defined = Definitions({}, {name: RemoteDatabase(name, SAME) for name in (SAME, OTHER)})
    remotes = RemotePool(reached, RemoteLimits(), counts, time.monotonic, time.time)
    cache = DefinitionCache(lambda: defined, time.monotonic)
    return Shared("recorded", metastore.opened, cache, remotes, counts, time.monotonic)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1_000])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of processor time, for each case of a run")
    given = parser.parse_args()
    gc.freeze()
    gc.set_threshold(*_COLLECTED)
    rows = Rows("call, partitions", "bytes", "no gateway", "same name", "other name")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for count in given.partitions:
            for versions in ((0,), (0, 1)):
                runner.run(_measured(rows, count, given.runs, given.seconds, versions))
    _console.print(rows)
    _console.print(f"milliseconds of processor time for an answer; {machine()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
