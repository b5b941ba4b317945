"""Answers are read from a stream in renamed pieces, large ones without holding them."""

import asyncio
import gc
import struct
import tracemalloc

import pytest
from hive_metastore import ThriftHiveMetastore
from hive_metastore.ttypes import (
    GetTablesResult,
    Partition,
    PartitionListComposingSpec,
    PartitionSpec,
    StorageDescriptor,
    Table,
)

from tests.support.wire.wire_messages import answer, decoded
from twinhive.hive.wire.message_renaming import renamed
from twinhive.hive.wire.method_table import LIST, STRUCT
from twinhive.hive.wire.renamed_chunks import renamed_pieces
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.stream_reader import LongAnswer, MessageReader
from twinhive.hive.wire.thrift_message import STOP, WireError, WireMessage, reply

BACK = Renames({"shop": "flights_west"}, {("store", "t"): ("local", "orders")})
CHUNK = 1 << 16


async def sent_in_pieces(stream: asyncio.StreamReader, raw: bytes) -> None:
    for at in range(0, len(raw), CHUNK):
        stream.feed_data(raw[at : at + CHUNK])
        await asyncio.sleep(0)
        await asyncio.sleep(0)


async def read_from(reader: MessageReader, renames: Renames, buffered: int) -> list[bytes]:
    """Return an answer with other names, in the pieces that it comes in."""
    read = await reader.read_answer(buffered)
    return (
        [renamed(read, renames).raw] if isinstance(read, WireMessage) else [one async for one in read.pieces(renames)]
    )


def pieces_of(message: WireMessage, renames: Renames, buffered: int, behind: bytes = b"") -> list[bytes]:
    async def both() -> list[bytes]:
        stream = asyncio.StreamReader(limit=CHUNK)
        reader = MessageReader(stream, 1 << 30)
        _, pieces = await asyncio.gather(
            sent_in_pieces(stream, message.raw + behind), read_from(reader, renames, buffered)
        )
        stream.feed_eof()
        assert reader.held + await stream.read() == behind
        return pieces

    return asyncio.run(both())


def partitions(count: int, database: str = "shop", table: str = "t") -> list[Partition]:
    cells = [StorageDescriptor([], f"hdfs://west/{database}/{day}") for day in range(10)]
    return [Partition([str(day), "shop"], database, table, sd=cells[day % 10]) for day in range(count)]


def test_a_small_answer_is_one_piece() -> None:
    message = answer("get_partitions", partitions(3))
    assert pieces_of(message, BACK, 0, b"\x80") == [renamed(message, BACK).raw]


def test_a_large_answer_is_held_until_it_is_whole() -> None:
    message = answer("get_partitions", partitions(3_000))
    assert pieces_of(message, BACK, 32 << 20, b"\x80") == [renamed(message, BACK).raw]


@pytest.mark.parametrize("renames", [BACK, Renames()], ids=["renamed", "as it is"])
def test_one_that_is_larger_than_may_be_held_comes_in_pieces(renames: Renames) -> None:
    message = answer("get_partitions", partitions(5_000))
    pieces = pieces_of(message, renames, 100_000, b"\x80")
    assert len(pieces) > 3
    assert b"".join(pieces) == renamed(message, renames).raw


def test_a_spec_that_holds_the_partitions_is_renamed_with_them() -> None:
    """Its own names come before the list, and are sent before its end is known."""
    spec = PartitionSpec(
        "store", "t", "hdfs://west/t", partitionList=PartitionListComposingSpec(partitions(20_000, "store"))
    )
    message = answer("get_partitions_pspec", [spec])
    raw = b"".join(pieces_of(message, BACK, 0))
    (read,) = decoded(ThriftHiveMetastore.get_partitions_pspec_result, raw[message.at :]).success
    assert (read.dbName, read.tableName) == ("local", "orders")
    assert {(one.dbName, one.tableName) for one in read.partitionList.partitions} == {("local", "orders")}


def test_a_table_that_is_larger_than_a_piece_is_renamed() -> None:
    wide = Table(
        "t", "store", parameters={f"k{number}": "shop" * 100 for number in range(5_000)}, viewOriginalText="shop"
    )
    message = answer("get_table_objects_by_name_req", GetTablesResult([wide, Table("t", "shop")]))
    raw = b"".join(pieces_of(message, BACK, 0))
    read = decoded(ThriftHiveMetastore.get_table_objects_by_name_req_result, raw[message.at :]).success.tables
    assert [(one.dbName, one.tableName) for one in read] == [("local", "orders"), ("flights_west", "t")]
    assert read[0].parameters == wide.parameters


def test_a_name_that_comes_after_what_it_decides_was_sent_breaks_the_answer_off() -> None:
    """No server writes a table's name behind a megabyte of its database's partitions; who does gets no wrong name."""
    name = b"\x0b\0\2\0\0\0\1t"
    spec = b"\x0b\0\1\0\0\0\5store" + b"\x0f\0\x09\x0b\0\0\0\x14" + (b"\0\1\0\0" + b"x" * 65_536) * 20 + name + b"\0"
    body = b"\x0f\0\0\x0c\0\0\0\1" + spec + b"\0"
    message = answer("get_partitions_pspec", []).with_body(body)
    with pytest.raises(WireError, match="by what came after it"):
        pieces_of(message, BACK, 0)


@pytest.mark.thorough
def test_a_large_answer_takes_little_memory() -> None:
    part, count = answer("get_partitions", partitions(1)).body[8:-1], 300_000
    message = reply("get_partitions", 1, struct.pack("!bhbi", LIST, 0, STRUCT, count) + part * count + STOP)
    assert len(message.raw) > 20 << 20

    async def passed() -> int:
        stream = asyncio.StreamReader(limit=CHUNK)
        feeding = asyncio.ensure_future(sent_in_pieces(stream, message.raw))
        answer = await MessageReader(stream, 1 << 30).read_answer(100_000)
        assert isinstance(answer, LongAnswer)
        lengths = [len(piece) async for piece in answer.pieces(BACK)]
        await feeding
        return sum(lengths)

    gc.disable()  # who leaves pieces to the collector holds them for as long as it likes
    tracemalloc.start()
    try:
        assert asyncio.run(passed()) > len(message.raw)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert peak < 8 << 20


@pytest.mark.parametrize("buffered", [0, 1 << 30])
def test_an_answer_that_ends_in_the_middle_is_an_error(buffered: int) -> None:
    message = answer("get_partitions", partitions(3_000))

    async def read() -> None:
        stream = asyncio.StreamReader()
        stream.feed_data(message.raw[:-1])
        stream.feed_eof()
        await read_from(MessageReader(stream), BACK, buffered)

    with pytest.raises(EOFError):
        asyncio.run(read())


def test_one_that_is_held_can_be_renamed_in_pieces_too() -> None:
    message = answer("get_partitions", partitions(10_000))
    pieces = list(renamed_pieces(message, BACK))
    assert len(pieces) > 3
    assert b"".join(pieces) == renamed(message, BACK).raw
