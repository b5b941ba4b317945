"""What the generated bindings do not know goes to the server as it was told."""

from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolFactory
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer
from thrift.TSerialization import deserialize, serialize

from tests.unit.hive.adapters.test_thrift_json import STRUCTS
from twinhive.hive.adapters.hive.thrift_binary import bytes_of, encoded
from twinhive.hive.adapters.hive.thrift_json import tree_of


def unknown_fields(written: bytes, *ids: int) -> dict[int, bytes]:
    """Read binary fields of a struct past the bindings."""
    protocol, found = TBinaryProtocol(TMemoryBuffer(written)), {}
    while True:
        _, kind, number = protocol.readFieldBegin()
        if kind == TType.STOP:
            return found
        if number in ids:
            found[number] = protocol.readBinary()
        else:
            protocol.skip(kind)


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: type(struct).__name__)
def test_a_struct_is_what_the_bindings_write(struct: Any) -> None:
    written = encoded(type(struct), tree_of(struct))
    assert deserialize(type(struct)(), written, TBinaryProtocolFactory()) == struct


def test_unknown_fields_are_carried() -> None:
    known = ttypes.LongColumnStatsData(lowValue=1, numNulls=0, numDVs=2, bitVectors=b"\x00\x7f")
    tree = tree_of(known) | {
        "6": {"str": "S0xMCg"},
        "7": {"str": "no base 64"},
        "8": {"rec": {"1": {"lst": ["str", 1, "é"]}, "2": {"dbl": "-Infinity"}}},
        "9": {"map": ["i32", "str", 1, {"5": "ü"}]},
        "10": {"set": ["tf", 2, 1, 0]},
    }
    written = encoded(ttypes.LongColumnStatsData, tree)
    assert unknown_fields(written, 6, 7) == {6: b"KLL\n", 7: b"no base 64"}
    assert deserialize(ttypes.LongColumnStatsData(), written, TBinaryProtocolFactory()) == known


def test_fields_of_another_type_than_the_bindings_know_are_unknown() -> None:
    written = encoded(ttypes.LongColumnStatsData, {"1": {"rec": {"1": {"i64": 7}}}, "3": {"i64": 0}, "4": {"i64": 1}})
    read = deserialize(ttypes.LongColumnStatsData(), written, TBinaryProtocolFactory())
    assert (read.lowValue, read.numDVs) == (None, 1)


@pytest.mark.parametrize("tree", [{"1": {"what": 1}}, {"5": {"str": "no base 64"}}, {"1": {}}])
def test_what_is_no_struct_is_refused(tree: dict) -> None:
    with pytest.raises(ValueError):
        encoded(ttypes.LongColumnStatsData, tree)


@pytest.mark.parametrize("content", [b"", b"1", b"12", b"123", b"\xff\xfe\xfd\xfc"])
def test_base64_is_read_with_and_without_padding(content: bytes) -> None:
    struct = ttypes.LongColumnStatsData(numNulls=0, numDVs=0, bitVectors=content)
    padded = tree_of(struct)["5"]["str"]
    assert bytes_of(padded) == bytes_of(padded.rstrip("=")) == content
    assert serialize(struct, TBinaryProtocolFactory()) == encoded(type(struct), tree_of(struct))
