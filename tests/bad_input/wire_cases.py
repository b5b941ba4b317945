"""What may come to a gateway's port that is no call of a metastore: each is one line of the log; nobody is asked."""

import struct

from twinhive.hive.wire.thrift_message import Head as MessageHead
from twinhive.hive.wire.thrift_message import MessageKind, call, message_with, reply

WireCase = tuple[str, bytes, str]

_LONGEST = (1 << 31) - 1


def _field(code: int, value: bytes) -> bytes:
    return call("get_table_req", 1, struct.pack("!bh", code, 1) + value).raw


WIRE_CASES: tuple[WireCase, ...] = (
    ("framed Thrift", struct.pack("!i", 40) + call("get_all_databases", 1, b"\0").raw, "framed Thrift"),
    ("compact Thrift", b"\x82\x21\x01\x11get_all_databases\x00", "compact Thrift"),
    ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "TLS"),
    ("SASL", b"\x01\x00\x00\x00\x06GSSAPI", "SASL"),
    ("HTTP", b"POST /cliservice HTTP/1.1\r\nHost: gate\r\n\r\n", "HTTP"),
    ("garbage", bytes(range(255, 127, -1)) * 8, "none of the protocols"),
    ("a method with a name without end", b"\x80\x01\x00\x01" + struct.pack("!i", _LONGEST), "name"),
    ("a method with a name of other characters", b"\x80\x01\x00\x01\0\0\0\x02\xc3\xa9\0\0\0\0\0", ""),
    ("a kind of message that is none", b"\x80\x01\x00\x09\0\0\0\x01x\0\0\0\0\0", ""),
    ("an answer where a call was expected", reply("get_all_databases", 1).raw, "REPLY"),
    ("an exception where a call was expected", message_with(MessageHead(MessageKind.EXCEPTION, "a", 1), b"\0").raw, ""),
    ("a text without end", _field(11, struct.pack("!i", _LONGEST)), ""),
    ("a text of less than nothing", _field(11, struct.pack("!i", -5)), ""),
    ("a list without end", _field(15, b"\x0c" + struct.pack("!i", _LONGEST)), ""),
    ("structs inside each other without end", _field(12, b"\x0c\x00\x01" * 50_000), ""),
    ("a type that is none", _field(99, b"\0" * 20), ""),
    ("a client that stops in the middle", call("get_all_databases", 1, b"\x0b\x00\x01").raw, "not whole after"),
    ("a client that stops in the head", b"\x80\x01\x00\x01\0\0\0\x09get", "not whole after"),
)
