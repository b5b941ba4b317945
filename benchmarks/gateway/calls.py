"""Time single calls, one after the other, at several sides in turn."""

import os
import socket
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from twinhive.hive.wire.thrift_message import WireMessage, read_head
from twinhive.hive.wire.thrift_skip import Short, end_of

_CHUNK = 1 << 18
_MILLI = 1_000
_PAUSE_SECONDS = 0.3


class Caller:
    """One connection that sends calls and reads answers to their end, with as little work of its own as can be."""

    def __init__(self, port: int) -> None:
        self._sock = socket.create_connection(("127.0.0.1", port))
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._into = bytearray(_CHUNK)

    def close(self) -> None:
        """Hang up."""
        self._sock.close()

    def answer(self, message: WireMessage) -> bytes:
        """Return the whole answer, whose end is looked for whenever nothing has come for a moment."""
        self._sock.sendall(message.raw)
        self._sock.settimeout(_PAUSE_SECONDS)
        raw = b""
        while True:
            try:
                raw += self._sock.recv(_CHUNK) or self._broken()
            except TimeoutError:
                if _is_whole(raw):
                    self._sock.settimeout(None)
                    return raw

    def seconds(self, message: WireMessage, size: int) -> float:
        """Return how long a call takes whose answer has so many bytes."""
        into, sock = self._into, self._sock
        began = time.perf_counter()
        sock.sendall(message.raw)
        left = size
        while left:
            count = sock.recv_into(into)
            left -= count or len(self._broken())
        return time.perf_counter() - began

    def _broken(self) -> bytes:
        raise ConnectionError("the answer broke off")


def _is_whole(raw: bytes) -> bool:
    head = read_head(raw)
    try:
        return head is not None and end_of(raw, head[1]) == len(raw)
    except Short:
        return False


@dataclass(frozen=True)
class Side:
    """Where a call is made, by which name, and the process between client and metastore whose CPU is counted."""

    name: str
    port: int
    message: WireMessage
    pid: int | None = None


@dataclass
class Times:
    """Seconds of each round, and of CPU in all."""

    rounds: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def median(self) -> float:
        """Of the rounds, in milliseconds."""
        return statistics.median(self.rounds) * _MILLI

    @property
    def least(self) -> float:
        """Of the rounds, in milliseconds."""
        return min(self.rounds) * _MILLI

    @property
    def cpu_each(self) -> float:
        """Milliseconds of a round."""
        return self.cpu / len(self.rounds) * _MILLI


def timed(sides: Sequence[Side], rounds: int) -> tuple[Mapping[str, Times], int]:
    """Call at all sides once a round, another one first each time; return the times, and the bytes of an answer.

    Each side is warmed up by three calls, the first of which says how long its answers are.
    """
    callers = {side.name: Caller(side.port) for side in sides}
    sizes = {side.name: len(callers[side.name].answer(side.message)) for side in sides}
    times = {side.name: Times() for side in sides}
    for number in range(-2, rounds):
        for place in range(len(sides)):
            side = sides[(number + place) % len(sides)]
            before = cpu_seconds(side.pid)
            seconds = callers[side.name].seconds(side.message, sizes[side.name])
            if number >= 0:
                times[side.name].rounds.append(seconds)
                times[side.name].cpu += cpu_seconds(side.pid) - before
    for caller in callers.values():
        caller.close()
    return times, sizes[sides[0].name]


def cpu_seconds(pid: int | None) -> float:
    """Return the processor time of all threads of a process, its own and the system's for it, to the nanosecond."""
    if pid is None:
        return 0.0
    threads = Path(f"/proc/{pid}/task")
    return sum(int((one / "schedstat").read_text().split()[0]) for one in threads.iterdir()) / 1e9


def resident_mib(pid: int) -> float:
    """Return the memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
