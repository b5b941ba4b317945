"""What one message may take of the processor, in steps and not in seconds, and who goes on meanwhile."""

import asyncio
import struct
from collections.abc import Callable
from itertools import pairwise

import pytest
from hive_metastore import ttypes

from tests.support.wire.wire_messages import request
from twinhive.hive.wire import scanning
from twinhive.hive.wire.message_renaming import names_of
from twinhive.hive.wire.method_table import BOOL, BYTE, LIST, NO_FIELDS, STRING, STRUCT
from twinhive.hive.wire.renamed_chunks import PassedPieces
from twinhive.hive.wire.scanning import STEPS_AT_ONCE
from twinhive.hive.wire.stream_reader import MOST_REQUEST_BYTES, MessageReader
from twinhive.hive.wire.thrift_message import WireError, WireMessage, call
from twinhive.hive.wire.thrift_skip import end_of_value

SMALL = 20_000
"""Steps that any message may take: a fifteenth of a second."""


def columns(count: int) -> ttypes.StorageDescriptor:
    fields = [ttypes.FieldSchema(f"c{number}", "decimal(10,2)", "") for number in range(count)]
    serde = ttypes.SerDeInfo(name="s", serializationLib="lib", parameters={"serialization.format": "1"})
    return ttypes.StorageDescriptor(cols=fields, location="hdfs://east/w/x", serdeInfo=serde, parameters={})


def partitions(count: int) -> WireMessage:
    parts = [
        ttypes.Partition(
            values=[f"2020-{number}", str(number)],
            dbName="shop",
            tableName="orders",
            sd=columns(5),
            parameters={"numRows": "1", "totalSize": "5"},
        )
        for number in range(count)
    ]
    return request("add_partitions", new_parts=parts)


def names(count: int) -> WireMessage:
    texts = [f"day=2020-01-01/n={number}" for number in range(count)]
    return request("get_partitions_by_names", db_name="shop", tbl_name="orders", names=texts)


def wide_table() -> WireMessage:
    """Return a call about a table with very many columns, parameters and skewed values, each in a place of its own."""
    table = ttypes.Table("orders", "shop", sd=columns(10_000), parameters={f"k{n}": "v" * 40 for n in range(10_000)})
    pairs = [[str(number), "x"] for number in range(2_000)]
    table.sd.skewedInfo = ttypes.SkewedInfo(["a", "b"], pairs, {})
    return request("create_table", tbl=table)


def many_locks() -> WireMessage:
    kinds = ttypes.LockType.SHARED_READ, ttypes.LockLevel.TABLE
    locks = [ttypes.LockComponent(*kinds, "shop", f"t{number}") for number in range(10_000)]
    return request("lock", rqst=ttypes.LockRequest(locks, user="u", hostname="h"))


def steps_of(message: WireMessage, piece: int) -> int:
    scan = PassedPieces(NO_FIELDS, MOST_REQUEST_BYTES)
    scan.is_request = True
    body = message.body
    for at in range(0, len(body), piece):
        scan.feed(body[at : at + piece])
        scan.taken()
    assert scan.ended
    return scan.steps


@pytest.mark.parametrize("piece", [1_000, 1 << 16, 1 << 18])
@pytest.mark.parametrize(
    "made",
    [lambda: partitions(1_001), lambda: names(30_000), lambda: names(300_000), wide_table, many_locks],
    ids=["1,001 partitions", "30,000 names", "300,000 names", "a wide table", "10,000 locks"],
)
def test_the_largest_real_requests_take_a_step_for_each_piece_and_few_more(
    made: Callable[[], WireMessage], piece: int
) -> None:
    message = made()
    assert steps_of(message, piece) - len(message.raw) // piece <= SMALL // 2


def test_a_real_request_of_the_most_bytes_is_read_however_small_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java's socket sends a kilobyte at a time."""
    monkeypatch.setattr(scanning, "_MOST_STEPS", 100)
    message = partitions(1_001)
    for piece in (100, 1_000, 1_460):
        assert steps_of(message, piece) > 0


def repeated(code: int, element: bytes, count: int) -> WireMessage:
    body = struct.pack("!bhbi", LIST, 99, code, count) + element * count + b"\0"
    return call("get_table_req", 1, body)


HOSTILE = {
    "empty lists": (LIST, b"\x0b\0\0\0\0"),
    "empty maps": (13, b"\x0b\x0b\0\0\0\0"),
    "lists of one bool": (LIST, b"\x02\0\0\0\1\1"),
    "lists of an empty struct": (LIST, b"\x0c\0\0\0\1\0"),
    "lists of an empty text": (LIST, b"\x0b\0\0\0\1\0\0\0\0"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_million_small_values_are_given_up_after_the_steps_of_a_fraction_of_a_second(name: str) -> None:
    code, element = HOSTILE[name]
    raw = repeated(code, element, 1_000_000).body
    scan = PassedPieces(NO_FIELDS, MOST_REQUEST_BYTES)
    scan.is_request = True
    with pytest.raises(WireError, match="more and smaller values than any real one has"):
        for at in range(0, len(raw), 1 << 18):
            scan.feed(raw[at : at + (1 << 18)])
    assert scan.steps <= SMALL + len(raw) // 1_000


def test_sixty_megabytes_of_fields_of_a_byte_are_given_up_as_soon() -> None:
    scan = PassedPieces(NO_FIELDS, MOST_REQUEST_BYTES)
    scan.is_request = True
    piece = bytes((BYTE, 0, 99, 1)) * (1 << 16)
    with pytest.raises(WireError, match="more and smaller values than any real one has"):
        for _ in range(240):
            scan.feed(piece)
    assert scan.steps <= 2 * SMALL


@pytest.mark.parametrize("name", HOSTILE)
def test_others_go_on_after_some_thousand_steps_of_one_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has come is held by the connection, so that waiting for bytes lets nobody else go on."""
    monkeypatch.setattr(scanning, "_MOST_STEPS", 10**9)
    code, element = HOSTILE[name]
    message = repeated(code, element, 100_000)
    scans: list[PassedPieces] = []
    monkeypatch.setattr(
        "twinhive.hive.wire.stream_reader.PassedPieces",
        lambda *of: scans.append(PassedPieces(*of)) or scans[-1],
    )

    class Held:
        """A stream with all of it there."""

        left = message.raw

        async def read(self, n: int = -1) -> bytes:
            part, self.left = self.left[:n], self.left[n:]
            return part

    taken = [0]

    async def reading() -> WireMessage | None:
        read = asyncio.ensure_future(MessageReader(Held()).read())
        while not read.done():
            await asyncio.sleep(0)
            taken.append(scans[0].steps if scans else 0)
        return await read

    read = asyncio.run(reading())
    assert read is not None and read.raw == message.raw
    assert max(after - before for before, after in pairwise(taken)) <= STEPS_AT_ONCE
    assert scans[0].steps > 4 * STEPS_AT_ONCE


@pytest.mark.parametrize("count", [0, 1, 256, 257, 3_000])
def test_a_list_of_structs_ends_where_it_ends(count: int) -> None:
    one = bytes((BOOL, 0, 1, 1, STRING, 0, 2, 0, 0, 0, 1, 65, 0))
    raw = b"before" + struct.pack("!bi", STRUCT, count) + one * count + b"behind"
    assert end_of_value(raw, LIST, 6) == len(raw) - len(b"behind")


def test_a_list_of_structs_that_ends_in_the_middle_is_an_error() -> None:
    raw = struct.pack("!bi", STRUCT, 3_000) + b"\0" * 2_000
    with pytest.raises(WireError, match="ends in the middle"):
        end_of_value(raw, LIST, 0)


def test_a_request_that_no_class_of_the_server_writes_is_not_walked_for_long() -> None:
    """Those are decoded in C; an exact walk takes a microsecond for each value."""

    def texts(count: int) -> WireMessage:
        body = struct.pack("!bhbi", LIST, 1, STRING, count) + b"\0\0\0\0" * count + b"\0"
        return call("add_partitions", 1, body)

    assert names_of(texts(10_000)) == ()
    with pytest.raises(WireError, match="not what the server's classes write"):
        names_of(texts(20_000))
