"""A long answer is handed on by callbacks: whoever takes it may be full at any piece, and its stream may end at any."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hive_metastore import ttypes

from tests.support.wire.wire_messages import answer
from twinhive.federation.connector_api.byte_links import ByteLink
from twinhive.federation.gateway import streamed_answers
from twinhive.federation.gateway.streamed_answers import PassingOn
from twinhive.hive.wire import scanning
from twinhive.hive.wire.message_renaming import renamed
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.stream_reader import LongAnswer, MessageReader
from twinhive.hive.wire.thrift_message import WireError

BACK = Renames({"shop": "far"})
MESSAGE = answer("get_partitions", [ttypes.Partition([str(day)], "shop", "t", parameters={}) for day in range(3_000)])
PIECE = 1_000


@dataclass
class Sink:
    """Full after each so many pieces, until the test says otherwise."""

    most: int
    got: bytes = b""
    is_full: bool = False
    pieces: int = field(default=0)

    def write(self, data: bytes) -> None:
        """Take a piece; more than it is full of is a mistake of whoever gives it."""
        assert not self.is_full
        self.got += data
        self.pieces += 1
        self.is_full = self.pieces % self.most == 0


async def _passed(sink: Sink, renames: Renames, send: Callable[[ByteLink], None], seconds: float = 30.0) -> bytes:
    """Hand an answer on of which a part has come; return what came behind it."""
    link = ByteLink()
    link.data_received(MESSAGE.raw[: 2 * PIECE])
    reader = MessageReader(link)
    long = await reader.read_answer(PIECE)
    assert isinstance(long, LongAnswer)
    passing = PassingOn(link, long.coming(renames), seconds)
    sending = asyncio.get_running_loop().call_soon(send, link)
    while not await passing.some(sink):
        sink.is_full = False
        await asyncio.sleep(0)
    sending.cancel()
    assert link.taker is None
    return reader.held + link.held()


def _in_pieces(link: ByteLink, raw: bytes = MESSAGE.raw + b"\x80") -> None:
    """Send the rest, a piece at each turn of the loop, and the beginning of something else with the last one."""
    loop = asyncio.get_running_loop()

    def send(at: int) -> None:
        link.data_received(raw[at : at + PIECE])
        if at + PIECE < len(raw):
            loop.call_soon(send, at + PIECE)

    send(2 * PIECE)


@pytest.mark.parametrize("renames", [BACK, Renames()], ids=["renamed", "as it is"])
@pytest.mark.parametrize("most", [1, 2, 7, 1_000_000])
def test_nothing_is_lost_or_doubled_however_often_the_taker_is_full(most: int, renames: Renames) -> None:
    sink = Sink(most)
    behind = asyncio.run(_passed(sink, renames, _in_pieces))
    assert sink.got == renamed(MESSAGE, renames).raw
    assert behind == b"\x80"


@pytest.mark.parametrize("renames", [BACK, Renames()], ids=["renamed", "as it is"])
def test_small_pieces_are_looked_at_together_and_the_last_one_at_once(
    renames: Renames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_answers, "_HELD_SECONDS", 100.0)
    monkeypatch.setattr(scanning, "_MANY", 10 * PIECE)
    sink = Sink(1_000_000)
    behind = asyncio.run(_passed(sink, renames, lambda link: _in_pieces(link, MESSAGE.raw), seconds=3.0))
    assert (sink.got, behind) == (renamed(MESSAGE, renames).raw, b"")
    assert sink.pieces < len(MESSAGE.raw) // PIECE // 2


def test_all_of_it_may_have_come_before() -> None:
    sink = Sink(1_000_000)
    assert asyncio.run(_passed(sink, BACK, lambda link: link.data_received(MESSAGE.raw[2 * PIECE :]))) == b""
    assert sink.got == renamed(MESSAGE, BACK).raw


def test_a_stream_that_ends_before_the_answer_is_an_error() -> None:
    def cut(link: ByteLink) -> None:
        link.data_received(MESSAGE.raw[2 * PIECE : -1])
        link.eof_received()

    with pytest.raises(EOFError):
        asyncio.run(_passed(Sink(1_000_000), BACK, cut))


def test_what_has_ended_the_connection_is_told() -> None:
    with pytest.raises(ConnectionResetError, match="gone"):
        asyncio.run(_passed(Sink(1_000_000), BACK, lambda link: link.connection_lost(ConnectionResetError("gone"))))


def test_broken_bytes_are_an_error_of_the_answer() -> None:
    with pytest.raises(WireError, match="no struct of binary Thrift"):
        asyncio.run(_passed(Sink(1_000_000), BACK, lambda link: link.data_received(b"\xff" * PIECE)))


def test_where_nothing_more_comes_it_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(_passed(Sink(1_000_000), BACK, lambda _: None, seconds=0.1))
