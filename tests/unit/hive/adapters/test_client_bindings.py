"""What the generated code reads, with the decoder in C and without it."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer

import twinhive.hive.adapters.hive.thrift_connection  # noqa: F401  it mends them
from twinhive.core.model.tjson import from_text, to_text
from twinhive.hive.adapters.hive.client_bindings import read_lists_that_are_keys
from twinhive.hive.adapters.hive.thrift_json import struct_of, tree_of

PLACES = {("é", 'a"]:'): "hdfs://east/w/t/a=1", ("2",): "hdfs://east/w/t/a=2", (): "hdfs://east/w/t/none"}
PROTOCOLS = [TBinaryProtocol, TBinaryProtocolAccelerated]
_BY_HASH = (TType.STRING, TType.I16, TType.I32, TType.I64)


def a_result() -> Any:
    skewed = ttypes.SkewedInfo(["a", "b"], [list(values) for values in PLACES], PLACES)
    one = ttypes.Partition(["1"], "d", "t", sd=ttypes.StorageDescriptor(location="hdfs://east/w/t", skewedInfo=skewed))
    answer = ttypes.GetPartitionsByNamesResult([one, ttypes.Partition(["2"], "d", "t")])
    return ThriftHiveMetastore.get_partitions_by_names_req_result(success=answer)


@pytest.mark.parametrize("writing", PROTOCOLS)
@pytest.mark.parametrize("reading", PROTOCOLS)
def test_lists_that_are_keys_are_read_as_they_were_written(reading: Any, writing: Any) -> None:
    written = TMemoryBuffer()
    a_result().write(writing(written))
    found = ThriftHiveMetastore.get_partitions_by_names_req_result()
    found.read(reading(TMemoryBuffer(written.getvalue())))
    assert found == a_result()
    assert found.success.partitions[0].sd.skewedInfo.skewedColValueLocationMaps == PLACES


def test_they_pass_through_text() -> None:
    (one, _) = a_result().success.partitions
    assert struct_of(ttypes.Partition, from_text(to_text(tree_of(one)))) == one


def test_no_other_map_has_keys_that_cannot_be_read() -> None:
    """A version of the bindings with another such map makes this fail: it needs the same mend."""
    read_lists_that_are_keys()  # twice is once
    assert [name for name, inner in _maps(ttypes, ThriftHiveMetastore) if not _is_readable(*inner[:2])] == []


def _maps(*modules: ModuleType) -> Iterator[tuple[str, Any]]:
    for module in modules:
        for name, struct in vars(module).items():
            for field in filter(None, getattr(struct, "thrift_spec", None) or ()):
                yield from ((f"{name}.{field[2]}", inner) for inner in _within(field[1], field[3]))


def _within(kind: int, inner: Any) -> Iterator[Any]:
    if kind == TType.MAP:
        yield inner
        yield from _within(inner[0], inner[1])
        yield from _within(inner[2], inner[3])
    elif kind in (TType.LIST, TType.SET):
        yield from _within(inner[0], inner[1])


def _is_readable(kind: int, inner: Any) -> bool:
    return kind in _BY_HASH or (kind == TType.LIST and inner[0] in _BY_HASH and inner[2])
