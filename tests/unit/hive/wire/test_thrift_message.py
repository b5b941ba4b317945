"""Heads, replies and declared errors are what Thrift's own classes read."""

import pytest
from hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TMemoryBuffer

from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.thrift_message import (
    Head,
    MessageKind,
    WireError,
    application_error,
    call,
    declared_error,
    message_of,
    reply,
)


def received(method: str, raw: bytes):
    """Read a reply as a client does, and return what it makes of it."""
    client = ThriftHiveMetastore.Client(TBinaryProtocol(TMemoryBuffer(raw), strictRead=True))
    return getattr(client, f"recv_{method}")()


def test_a_head_is_read_as_it_is_written() -> None:
    message = call("get_table_req", -5, b"\x00")
    assert message_of(message.raw) == message
    assert message.head == Head(MessageKind.CALL, "get_table_req", -5)
    assert TBinaryProtocol(TMemoryBuffer(message.raw)).readMessageBegin() == ("get_table_req", 1, -5)
    assert message.body == b"\x00"
    with pytest.raises(WireError):
        message_of(b"\x80\x01")


def test_only_what_has_no_answer_is_sent_one_way() -> None:
    assert call("shutdown", 1).head.kind is MessageKind.ONEWAY
    assert call("get_all_databases", 1).head.kind is MessageKind.CALL


def test_an_answer_of_nothing_is_read() -> None:
    assert received("drop_table", reply("drop_table", 1).raw) is None


def test_an_error_is_one_that_the_method_declares() -> None:
    with pytest.raises(ThriftHiveMetastore.MetaException) as meta:
        received("get_table_req", declared_error("get_table_req", 1, "remote is down").raw)
    assert meta.value.message == "remote is down"
    with pytest.raises(ThriftHiveMetastore.NoSuchObjectException):
        received("get_table_req", declared_error("get_table_req", 1, "no", "NoSuchObjectException").raw)
    with pytest.raises(ThriftHiveMetastore.NoSuchTxnException):
        received("abort_txn", declared_error("abort_txn", 1, "é", "NoSuchTxnException").raw)


@pytest.mark.parametrize(("method", "reason"), [("open_txns", 6), ("abort_txn", 6), ("unheard_of", 1)])
def test_a_method_that_declares_none_that_fits_gets_thrifts_own(method: str, reason: int) -> None:
    reader = TBinaryProtocol(TMemoryBuffer(declared_error(method, 3, "refused").raw))
    assert reader.readMessageBegin() == (method, MessageKind.EXCEPTION, 3)
    error = TApplicationException()
    error.read(reader)
    assert (error.type, error.message) == (reason, "refused")


def test_every_method_has_an_error_that_its_client_knows() -> None:
    for name, method in METHODS.items():
        if hasattr(ThriftHiveMetastore, f"{name}_result") and method.exceptions:
            result = getattr(ThriftHiveMetastore, f"{name}_result")()
            answer = declared_error(name, 1, "no")
            if answer.head.kind is MessageKind.EXCEPTION:
                continue  # which every client knows
            result.read(TBinaryProtocol(TMemoryBuffer(answer.body)))
            assert [one for one in vars(result).values() if isinstance(one, Exception)], name


def test_thrifts_own_error_says_unknown_method() -> None:
    assert application_error("x", 1, "no").head.kind is MessageKind.EXCEPTION
