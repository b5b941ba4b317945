"""An exact walk over one struct: each name with its position, and the struct's end.

What leads to no wanted name is skipped in C. The bytes must be known to be a whole struct (`twinhive.wire.ends`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from struct import Struct as Packing
from typing import Final

from twinhive.wire.ends import end_of, end_of_value
from twinhive.wire.message import WireError
from twinhive.wire.roles import Role
from twinhive.wire.table import LIST, MAP, STRING, STRUCT, STRUCTS, Kind, Struct

_SHORT: Final = Packing("!h").unpack_from
_INT: Final = Packing("!i").unpack_from


@dataclass(slots=True)
class FoundText:
    """A text with a role: where its length stands, what it is, and what stands beside it.

    `database` is that of a table or a function, `tables` are those of a database.
    """

    at: int
    role: Role
    text: bytes
    database: bytes | None = None
    catalog: bytes | None = None
    tables: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wanted:
    number: int
    kind: Kind
    role: Role | None
    of: int | None


def found_in(raw: bytes, at: int, struct: Struct, roles: Iterable[Role]) -> list[FoundText]:
    """List the names with one of `roles` in the struct that begins at `at`, in the order of the bytes."""
    walk = _NameWalk(raw, frozenset(roles))
    try:
        walk.struct(at, struct)
    except (IndexError, ValueError) as error:
        raise WireError(f"{struct.name} ends in the middle") from error
    return walk.found


@cache
def leads_to(struct: Struct, roles: frozenset[Role]) -> bool:
    """Say whether one of the roles stands in a struct or in what it holds."""
    return any(role in roles for role in _roles_in(struct.name, struct))


@cache
def _roles_in(_: str, struct: Struct) -> frozenset[Role]:
    found: set[Role] = set()
    seen, left = set(), [struct]
    while left:
        one = left.pop()
        if one.name not in seen:
            seen.add(one.name)
            found |= {field.role for field in one.fields if field.role is not None}
            left += [STRUCTS[field.kind.inner.struct] for field in one.fields if field.kind.inner.struct in STRUCTS]
    return frozenset(found)


@cache
def _wanted(struct: Struct, roles: frozenset[Role]) -> dict[int, _Wanted]:
    """Return the fields to look into. A table's database and catalog are read with it, wanted or not."""
    kept = {}
    for field in struct.fields:
        inner = field.kind.inner
        below = STRUCTS.get(inner.struct)
        beside = field.role in (Role.DATABASE, Role.CATALOG)
        if field.role in roles or beside or (below is not None and leads_to(below, roles)):
            kept[field.number] = _Wanted(field.number, field.kind, field.role, field.of)
    return kept


class _NameWalk:
    def __init__(self, raw: bytes, roles: frozenset[Role]) -> None:
        self._raw = raw
        self._roles = roles
        self.found: list[FoundText] = []

    def struct(self, at: int, struct: Struct) -> int:
        """Walk a struct's fields and return where it ends."""
        raw, wanted = self._raw, _wanted(struct, self._roles)
        mine: list[tuple[_Wanted, int, int]] = []
        while code := raw[at]:
            field = wanted.get(_SHORT(raw, at + 1)[0])
            if field is None or field.kind.code != code:
                at = end_of_value(raw, code, at + 3)
                continue
            begin = len(self.found)
            at = self._value(field.kind, field.role, at + 3)
            mine.append((field, begin, len(self.found)))
        self._relate(mine)
        return at + 1

    def _relate(self, mine: list[tuple[_Wanted, int, int]]) -> None:
        """Give the struct's own names the database and the catalog beside them."""
        own = [entry for entry in mine if entry[0].role is not None]
        databases = {field.number: self.found[begin] for field, begin, _ in own if _is(field, Role.DATABASE)}
        catalog = next((self.found[begin].text for field, begin, _ in own if _is(field, Role.CATALOG)), None)
        for field, begin, end in own:
            database = None if field.of is None else databases.get(field.of)
            for one in self.found[begin:end]:
                one.catalog = catalog
                one.database = None if database is None else database.text
            if database is not None and field.role is Role.TABLE:
                database.tables += tuple(one.text for one in self.found[begin:end])

    def _value(self, kind: Kind, role: Role | None, at: int) -> int:
        raw, code = self._raw, kind.code
        if code == STRING:
            end: int = at + 4 + _INT(raw, at)[0]
            if role is not None:
                self.found.append(FoundText(at, role, raw[at + 4 : end]))
            return end
        if code == STRUCT:
            return self.struct(at, STRUCTS[kind.struct]) if kind.struct in STRUCTS else end_of(raw, at)
        if code == MAP:
            return self._map(kind, role, at)
        return self._list(kind, role, at)

    def _list(self, kind: Kind, role: Role | None, at: int) -> int:
        raw, element = self._raw, kind.parts[0]
        if raw[at] != element.code:
            return end_of_value(raw, LIST, at)
        count = _INT(raw, at + 1)[0]
        at += 5
        for _ in range(count):
            at = self._value(element, role, at)
        return at

    def _map(self, kind: Kind, role: Role | None, at: int) -> int:
        raw, value = self._raw, kind.parts[1]
        if raw[at + 1] != value.code:
            return end_of_value(raw, MAP, at)
        key_code, count = raw[at], _INT(raw, at + 2)[0]
        at += 6
        for _ in range(count):
            at = self._value(value, role, end_of_value(raw, key_code, at))
        return at


def _is(field: _Wanted, role: Role) -> bool:
    return field.role is role and field.kind.code == STRING
