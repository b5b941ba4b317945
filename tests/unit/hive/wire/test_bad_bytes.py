"""Bytes that are no message end in an error value, soon and with little memory, whatever they are."""

import asyncio
import os
import struct
import time
import tracemalloc
from random import Random

import pytest

from tests.support.seeds import seeds
from tests.support.wire.wire_messages import random_message, request
from twinhive.hive.wire import scanning
from twinhive.hive.wire.message_renaming import names_of, renamed
from twinhive.hive.wire.method_table import LIST, MAP, SET, STRING, STRUCT
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.stream_reader import MessageReader, NotStrictBinary
from twinhive.hive.wire.thrift_message import Spoken, WireError, WireMessage, call, message_of, spoken
from twinhive.hive.wire.thrift_skip import Short, end_of

MUTATED = int(os.environ.get("TWINHIVE_WIRE_MUTATIONS", "2000"))
RENAMES = Renames({"shop": "flights_west"}, {("east", "planes"): ("west", "aircraft")})
INTERESTING = [
    b"\x00",
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\x0b",
    b"\x0c",
    b"\x0d",
    b"\x0e",
    b"\x0f",
]
LENGTHS = [0, 1, 127, 65_535, 1 << 20, (1 << 31) - 1, -1, -(1 << 31)]


def stream_of(raw: bytes) -> asyncio.StreamReader:
    stream = asyncio.StreamReader()
    stream.feed_data(raw)
    stream.feed_eof()
    return stream


async def read_all(raw: bytes, most_bytes: int = 1 << 20) -> list[WireMessage]:
    reader = MessageReader(stream_of(raw), most_bytes)
    messages = []
    while message := await reader.read():
        messages.append(message)
        names_of(message)
        renamed(message, RENAMES)
    return messages


def mutated(random: Random, raw: bytes) -> bytes:
    """Change some bytes, cut some out, repeat some, or put a length where there was none."""
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(raw) + 1)
        new = random.choice(
            [random.randbytes(random.randrange(1, 9)), *INTERESTING, struct.pack("!i", random.choice(LENGTHS))]
        )
        match random.randrange(4):
            case 0:
                raw = raw[:at] + new + raw[at + len(new) :]
            case 1:
                raw = raw[:at] + new + raw[at:]
            case 2:
                raw = raw[:at] + raw[at + random.randrange(1, 40) :]
            case 3:
                raw = raw[:at] + raw[at : at + 30] * random.randrange(2, 20) + raw[at:]
    return raw


@pytest.mark.thorough
def test_mutated_messages_are_messages_or_errors() -> None:
    slowest = 0.0
    for seed in seeds(MUTATED, kind=32):
        random = Random(seed)
        raw = mutated(random, random_message(random).raw)
        begun = time.process_time()
        try:
            asyncio.run(read_all(raw))
        except (WireError, EOFError):
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}: {raw.hex()}") from error
        slowest = max(slowest, time.process_time() - begun)
    assert slowest < 1.0


def with_container(code: int, elements: bytes, count: int) -> bytes:
    """Return a call whose one field is a container that says it has so many elements."""
    return call("get_table", 1, struct.pack("!bh", code, 1) + elements + struct.pack("!i", count)).raw


@pytest.mark.parametrize(
    "raw",
    [
        with_container(LIST, bytes([STRUCT]), (1 << 31) - 1) + b"\0" * 1000,
        with_container(SET, bytes([2]), (1 << 31) - 1) + b"\1" * 1000,
        with_container(MAP, bytes([STRING, STRUCT]), 1 << 30),
        with_container(LIST, bytes([STRING]), -1) + b"\0" * 9,
        with_container(LIST, bytes([1]), 1 << 20) + b"\0" * 1000,
        with_container(LIST, bytes([99]), 3) + b"\0" * 1000,
        call("get_table", 1, struct.pack("!bhi", STRING, 1, (1 << 31) - 1)).raw,
        call("get_table", 1, struct.pack("!bhi", STRING, 1, -5)).raw + b"abcdefgh",
        call("get_table", 1, b"\x01\x00\x01\x00").raw,
        call("get_table", 1, b"\x0c\x00\x01" * 100_000).raw,
        call("get_table", 1, b"\x0f\x00\x01" + b"\x0f\0\0\0\1" * 100_000).raw,
        b"\x80\x01\x00\x01\x7f\xff\xff\xff",
        b"\x80\x01\x00\x01\xff\xff\xff\xff",
        b"\x80\x01\x00\x09\x00\x00\x00\x01x\0\0\0\0\0",
        b"\x80\x01\x00\x01\x00\x00\x00\x02\xc3\xa9\0\0\0\0\0",
    ],
)
def test_sizes_that_cannot_be_and_structs_without_end_are_errors_at_once(raw: bytes) -> None:
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises((WireError, EOFError)):
        asyncio.run(read_all(raw, 64 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 << 20
    assert time.process_time() - begun < 1


def test_a_message_without_end_is_cut_off_at_the_bound() -> None:
    endless = call("add_partitions", 1, struct.pack("!bhbi", LIST, 1, STRUCT, 1_000_000) + b"\x02\0\1\1\0" * 500_000)
    with pytest.raises(WireError, match="more than 1000000 bytes"):
        asyncio.run(read_all(endless.raw, 1_000_000))


def test_a_string_is_refused_before_it_is_sent() -> None:
    with pytest.raises(WireError, match="a value of 2000000 bytes, where 1000000 are allowed"):
        asyncio.run(read_all(call("get_table", 1, struct.pack("!bhi", STRING, 1, 2_000_000)).raw, 1_000_000))


def test_more_names_than_memory_should_hold_are_refused() -> None:
    """Eight million empty partitions are eight megabytes, and would be half a gigabyte of objects."""
    count = 8_000_000
    body = struct.pack("!bhbi", LIST, 1, STRUCT, count) + b"\0" * count + b"\0"
    with pytest.raises(WireError, match="more names than any real one has"):
        names_of(call("add_partitions", 1, body))


def test_a_message_that_comes_byte_by_byte_takes_time_in_proportion() -> None:
    def seconds(parts: int) -> float:
        part = b"\x0b\0\2\0\0\0\4shop\x0b\0\3\0\0\0\6orders\x0f\0\1\x0b\0\0\0\2\0\0\0\1a\0\0\0\1b\0"
        raw = call("add_partitions", 1, struct.pack("!bhbi", LIST, 1, STRUCT, parts) + part * parts + b"\0").raw

        async def trickled() -> WireMessage | None:
            stream = asyncio.StreamReader()
            reading = asyncio.ensure_future(MessageReader(stream).read())
            for at in range(0, len(raw), 50):
                stream.feed_data(raw[at : at + 50])
                await asyncio.sleep(0)
            return await reading

        begun = time.process_time()
        assert asyncio.run(trickled()).raw == raw
        return time.process_time() - begun

    assert seconds(8_000) < 20 * seconds(1_000)


@pytest.mark.parametrize(
    ("first", "named"),
    [
        (b"\x00\x00\x00\x1f\x80\x01\x00\x01", Spoken.FRAMED),
        (b"\x82\x21\x01\x09get_table", Spoken.COMPACT),
        (b"\x01\x00\x00\x00\x06GSSAPI", Spoken.SASL),
        (b"\x16\x03\x01\x02\x00", Spoken.TLS),
        (b"POST / HTTP/1.1\r\n", Spoken.HTTP),
        (b"GET / HTTP/1.1\r\n", Spoken.HTTP),
        (b"\xde\xad\xbe\xef", Spoken.UNKNOWN),
        (b"hello", Spoken.UNKNOWN),
    ],
)
def test_other_protocols_are_named_by_their_first_byte(first: bytes, named: Spoken) -> None:
    assert spoken(first[:1]) is named
    with pytest.raises(NotStrictBinary, match="and not strict binary Thrift, unframed") as caught:
        asyncio.run(read_all(first))
    assert caught.value.spoken is named


def test_a_stream_that_ends_in_the_middle_is_told_from_one_that_ends_between_messages() -> None:
    raw = request("get_all_tables", db_name="shop").raw
    assert [message.raw for message in asyncio.run(read_all(raw + raw))] == [raw, raw]
    for cut in range(1, len(raw)):
        with pytest.raises(EOFError):
            asyncio.run(read_all(raw + raw[:cut]))


def test_a_method_that_the_table_does_not_have_has_no_names() -> None:
    with pytest.raises(WireError, match="get_tables_by_moon is no method of this table"):
        names_of(call("get_tables_by_moon", 1))


def test_a_struct_that_ends_in_the_middle_is_an_error() -> None:
    message = request("get_all_tables", db_name="shop")
    with pytest.raises(Short):
        end_of(message.raw[:-1], message.at)
    with pytest.raises(WireError, match="ends in the middle"):
        names_of(message_of(message.raw[:-1]))


@pytest.mark.parametrize("size", [1, 999, 5_000])
def test_the_bound_is_the_same_wherever_the_message_is_cut(size: int) -> None:
    message = call("get_table", 1, struct.pack("!bhi", STRING, 1, 1000) + b"x" * 1000 + b"\0")

    async def read(most: int) -> WireMessage | None:
        stream = asyncio.StreamReader()
        reading = asyncio.ensure_future(MessageReader(stream, most).read())
        for at in range(0, len(message.raw), size):
            stream.feed_data(message.raw[at : at + size])
            await asyncio.sleep(0)
        stream.feed_eof()
        return await reading

    assert asyncio.run(read(len(message.body))) == message
    if size < len(message.raw):  # one that has come at once is there already
        with pytest.raises(WireError, match="where 900 are allowed"):
            asyncio.run(read(900))


@pytest.mark.parametrize(
    ("container", "code", "element"),
    [(LIST, STRUCT, b"\0"), (LIST, STRING, b"\0\0\0\0"), (SET, LIST, b"\x0b\0\0\0\0")],
    ids=["empty structs", "empty texts", "empty lists"],
)
def test_very_many_very_small_values_are_refused(
    container: int, code: int, element: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes processor time, though little where many are passed over at once; no real message is made of such."""
    monkeypatch.setattr(scanning, "_MOST_STEPS", 200)
    count = 100_000
    body = struct.pack("!bhbi", container, 1, code, count) + element * count + b"\0"

    async def read(raw: bytes) -> None:
        stream = asyncio.StreamReader()
        reading = asyncio.ensure_future(MessageReader(stream).read())
        for at in range(0, len(raw), 10_000):
            stream.feed_data(raw[at : at + 10_000])
            await asyncio.sleep(0)
        await reading

    with pytest.raises(WireError, match="more and smaller values than any real one has"):
        asyncio.run(read(call("add_partitions", 1, body).raw))


def test_a_large_message_that_the_table_does_not_describe_is_not_walked() -> None:
    count = 300_000
    body = struct.pack("!bhbi", LIST, 1, STRING, count) + b"\0\0\0\0" * count + b"\0"
    with pytest.raises(WireError, match="not what the server's classes write"):
        names_of(call("add_partitions", 1, body))
