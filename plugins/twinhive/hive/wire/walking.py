"""An exact walk over one struct: each name with its position.

What leads to no wanted name is skipped in C. The bytes must be known to be a whole struct
(`twinhive.hive.wire.thrift_skip`).
"""

from struct import Struct as Packing
from struct import error as PackingError
from typing import Final

from twinhive.hive.wire.field_roles import FoundText, looked_into, relate
from twinhive.hive.wire.method_table import LIST, MAP, STRING, STRUCT, STRUCTS, Field, Kind, Struct
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import WireError
from twinhive.hive.wire.thrift_skip import Short, end_of, end_of_value

_SHORT: Final = Packing("!h").unpack_from
_INT: Final = Packing("!i").unpack_from


def found_in(raw: bytes, at: int, struct: Struct, roles: frozenset[Role]) -> list[FoundText]:
    """List the names with one of `roles` in the struct that begins at `at`, in the order of the bytes."""
    walk = _NameWalk(raw, roles)
    try:
        walk.struct(at, struct)
    except (IndexError, PackingError, Short) as error:
        raise WireError(f"{struct.name} ends in the middle") from error
    return [one for one in walk.found if one.field.role in roles]


class _NameWalk:
    def __init__(self, raw: bytes, roles: frozenset[Role]) -> None:
        self._raw = raw
        self._roles = roles
        self.found: list[FoundText] = []

    def struct(self, at: int, struct: Struct) -> int:
        """Walk a struct's fields and return where it ends."""
        raw, fields = self._raw, looked_into(struct, self._roles)
        if not fields:
            return end_of(raw, at)
        own: list[FoundText] = []
        while code := raw[at]:
            field = fields.get(_SHORT(raw, at + 1)[0])
            if field is None or field.kind.code != code:
                at = end_of_value(raw, code, at + 3)
                continue
            begin = len(self.found)
            at = self._value(field.kind, field, at + 3)
            if field.role is not None:
                own += self.found[begin:]
        if own:
            relate(own)
        return at + 1

    def _value(self, kind: Kind, field: Field, at: int) -> int:
        raw, code = self._raw, kind.code
        if code == STRING:
            end: int = at + 4 + _INT(raw, at)[0]
            if field.role is not None:
                self.found.append(FoundText(field, at, raw[at + 4 : end]))
            return end
        if code == STRUCT:
            return self.struct(at, STRUCTS[kind.struct]) if kind.struct in STRUCTS else end_of(raw, at)
        if code == MAP:
            return self._map(kind, field, at)
        return self._list(kind, field, at)

    def _list(self, kind: Kind, field: Field, at: int) -> int:
        raw, element = self._raw, kind.parts[0]
        if raw[at] != element.code:
            return end_of_value(raw, LIST, at)
        count = _INT(raw, at + 1)[0]
        at += 5
        for _ in range(count):
            at = self._value(element, field, at)
        return at

    def _map(self, kind: Kind, field: Field, at: int) -> int:
        raw, value = self._raw, kind.parts[1]
        if raw[at + 1] != value.code:
            return end_of_value(raw, MAP, at)
        key_code, count = raw[at], _INT(raw, at + 2)[0]
        at += 6
        for _ in range(count):
            at = self._value(value, field, end_of_value(raw, key_code, at))
        return at
