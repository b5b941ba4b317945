"""Which fields of a struct to look into for names of some roles, and how names of one struct belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from twinhive.hive.wire.method_table import STRING, STRUCTS, Field, Struct
from twinhive.hive.wire.roles import Role

_BESIDE = frozenset({Role.DATABASE, Role.CATALOG})


@dataclass(slots=True)
class FoundText:
    """A text with a role: its field, where its length stands, what it is, and what stands beside it.

    `database` is that of a table or a function, `tables` are those of a database.
    """

    field: Field
    at: int
    text: bytes
    database: bytes | None = None
    catalog: bytes | None = None
    tables: tuple[bytes, ...] = ()


@cache
def looked_into(struct: Struct, roles: frozenset[Role]) -> Mapping[int, Field]:
    """Return the fields to look into, by number. Databases and catalogs are: what is beside them belongs to them."""
    return {field.number: field for field in struct.fields if _is_wanted(field, roles | _BESIDE)}


def _is_wanted(field: Field, roles: frozenset[Role]) -> bool:
    below = STRUCTS.get(field.kind.inner.struct)
    return field.role in roles or (below is not None and bool(roles & _roles_in(below)))


@cache
def _roles_in(struct: Struct) -> frozenset[Role]:
    found: set[Role] = set()
    seen, left = set(), [struct]
    while left:
        one = left.pop()
        if one.name not in seen:
            seen.add(one.name)
            found |= {field.role for field in one.fields if field.role is not None}
            left += [STRUCTS[field.kind.inner.struct] for field in one.fields if field.kind.inner.struct in STRUCTS]
    return frozenset(found)


def relate(own: Sequence[FoundText]) -> None:
    """Tell the names of one struct which database and catalog they are in, and databases their tables."""
    databases = {one.field.number: one for one in own if one.field.role is Role.DATABASE and _is_plain(one)}
    catalog = next((one.text for one in own if one.field.role is Role.CATALOG and _is_plain(one)), None)
    tables: dict[int, list[bytes]] = {number: [] for number in databases}
    for one in own:
        one.catalog = catalog
        if one.field.of in databases:
            one.database = databases[one.field.of].text
            if one.field.role is Role.TABLE:
                tables[one.field.of].append(one.text)
    for number, database in databases.items():
        database.tables = tuple(tables[number])


def _is_plain(one: FoundText) -> bool:
    return one.field.kind.code == STRING
