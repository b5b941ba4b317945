"""Write trees of TJSON in Thrift's binary form, with the fields that the generated bindings do not know.

The bindings leave those out: a server of a later version would get less than its twin has sent.
"""

import base64
import json
from typing import Any

from hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer

from twinhive.core.model.tjson import Tree

_KINDS: dict[str, int] = {
    "tf": TType.BOOL,
    "i8": TType.BYTE,
    "i16": TType.I16,
    "i32": TType.I32,
    "i64": TType.I64,
    "dbl": TType.DOUBLE,
    "str": TType.STRING,
    "rec": TType.STRUCT,
    "lst": TType.LIST,
    "set": TType.SET,
    "map": TType.MAP,
}
_UNKNOWN: Any = (None, None, None, None)


def bytes_of(text: str) -> bytes:
    """Read Base64 as TJSON has it: Java writes no padding. Raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def arguments_of(method: str, argument: Tree) -> bytes:
    """Write the arguments of a method whose one is a struct, given as a tree. Raises ValueError as `encoded` does."""
    return encoded(getattr(ThriftHiveMetastore, f"{method}_args"), {"1": {"rec": argument}})


def call_with(client: Any, method: str, arguments: bytes) -> Any:
    """Call a method of a generated client."""
    out = client._oprot
    out.writeMessageBegin(method, TMessageType.CALL, client._seqid)
    out.trans.write(arguments)
    out.writeMessageEnd()
    out.trans.flush()
    return getattr(client, f"recv_{method}")()


def encoded(struct_class: Any, tree: Tree) -> bytes:
    """Write a tree. Raises ValueError for one that is no struct of TJSON."""
    buffer = TMemoryBuffer()
    _Writer(TBinaryProtocol(buffer)).struct(struct_class, tree)
    written: bytes = buffer.getvalue()
    return written


class _Writer:
    """Write value by value. `inner` is what the bindings say of a kind, None for what they do not know."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._plain = {
            "tf": lambda value: protocol.writeBool(bool(value)),
            "i8": protocol.writeByte,
            "i16": protocol.writeI16,
            "i32": protocol.writeI32,
            "i64": protocol.writeI64,
            # TJSON spells what JSON has no numbers for.
            "dbl": lambda value: protocol.writeDouble(float(value)),
        }

    def struct(self, struct_class: Any, tree: Tree) -> None:
        """Write a struct; without its class all fields are unknown."""
        known = {str(field[0]): field for field in filter(None, getattr(struct_class, "thrift_spec", ()))}
        for number, typed in tree.items():
            ((kind, value),) = typed.items()
            _, expected, _, inner, *_ = known.get(number, _UNKNOWN)
            self._protocol.writeFieldBegin("", _kind(kind), int(number))
            self._value(kind, inner if expected == _kind(kind) else None, value)
        self._protocol.writeFieldStop()

    def _value(self, kind: str, inner: Any, value: Any) -> None:
        match kind:
            case "str":
                self._text(inner, value)
            case "rec":
                self.struct(inner[0] if inner else None, value)
            case "lst" | "set":
                self._sequence(kind, inner, value)
            case "map":
                self._map(inner, value)
            case _:
                self._plain[kind](value)

    def _text(self, inner: Any, value: str) -> None:
        if inner == "UTF8":
            self._protocol.writeString(value)
            return
        try:
            self._protocol.writeBinary(bytes_of(value))
        except ValueError:
            if inner == "BINARY":
                raise
            # TJSON does not tell texts from bytes: what is no Base64 can only be a text.
            self._protocol.writeString(value)

    def _sequence(self, kind: str, inner: Any, value: list[Any]) -> None:
        item_kind, length, *items = value
        begin = self._protocol.writeListBegin if kind == "lst" else self._protocol.writeSetBegin
        begin(_kind(item_kind), length)
        for item in items:
            self._value(item_kind, inner[1] if inner else None, item)

    def _map(self, inner: Any, value: list[Any]) -> None:
        key_kind, value_kind, length, pairs = value
        of_keys, of_values = (inner[1], inner[3]) if inner else (None, None)
        self._protocol.writeMapBegin(_kind(key_kind), _kind(value_kind), length)
        for key, item in pairs.items():
            self._value(key_kind, of_keys, key if key_kind == "str" else json.loads(key))
            self._value(value_kind, of_values, item)


def _kind(name: str) -> int:
    try:
        return _KINDS[name]
    except KeyError as error:
        raise ValueError(f"{name!r} is no type of TJSON") from error
