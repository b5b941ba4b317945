"""The methods of the metastore's server, and where names stand in what they take and return.

Read from `hive-4.1.0.json`, which `python -m sandbox.hive.metastore_api` makes from the server's own classes; a test
compares the two. A method that is not in `METHODS` is not known: it is refused, never passed on.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from twinhive.hive.wire.roles import Role

VERSION: Final = "4.1.0"
TABLE: Final = Path(__file__).with_name(f"hive-{VERSION}.json")

BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
"""Thrift's numbers of types."""
_CODES: Final = {
    **{"void": 1, "bool": BOOL, "byte": BYTE, "double": DOUBLE, "i16": I16, "i32": I32, "i64": I64},
    **{"string": STRING, "binary": STRING, "map": MAP, "set": SET, "list": LIST},
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: Thrift's number, the struct's name, the types of what a container holds (key and value of a map)."""

    code: int
    struct: str = ""
    parts: tuple["Kind", ...] = ()

    @property
    def inner(self) -> "Kind":
        """What it holds at last: of a list its elements, of a map its values."""
        return self.parts[-1].inner if self.parts else self

    @staticmethod
    def parse(text: str) -> "Kind":
        """Read `list<Table>`."""
        head, _, rest = text.partition("<")
        if not rest:
            return Kind(_CODES[text]) if text in _CODES else Kind(STRUCT, text)
        return Kind(_CODES[head], "", tuple(Kind.parse(part) for part in _split(rest[:-1])))


@dataclass(frozen=True, slots=True)
class Field:
    """A field that names something, or leads to one that does.

    `of` is the number of the field with the database that a table or a function is in; None means the request's.
    """

    number: int
    name: str
    kind: Kind
    role: Role | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """The fields of a struct that the table keeps; there is one of each."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class NamePlace:
    """Where a name stands: `1:req/4:tables/[]/2:dbName`; `[]` is each element of a list, `{}` each value of a map."""

    path: str
    role: Role


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the server: what request and answer hold, and which exceptions it declares, by field number."""

    name: str
    asked: Struct
    returned: Struct
    exceptions: Mapping[int, str]
    oneway: bool = False
    """Nothing comes back, not even an empty answer."""

    @property
    def request(self) -> tuple[NamePlace, ...]:
        """Where names stand in the request; a struct inside a struct of its own kind is not followed."""
        return places_of(self.asked)

    @property
    def answer(self) -> tuple[NamePlace, ...]:
        """Where names stand in the answer."""
        return places_of(self.returned)

    @property
    def success(self) -> Kind | None:
        """What it returns, None for nothing."""
        return next((field.kind for field in self.returned.fields if field.number == 0), None)

    def asks_for(self, *roles: Role) -> bool:
        """Say whether one of these roles stands in the request."""
        return any(place.role in roles for place in self.request)


@cache
def places_of(struct: Struct) -> tuple[NamePlace, ...]:
    """List where names stand in a struct and in what it holds."""
    return tuple(_places(struct, "", frozenset()))


def _places(struct: Struct, path: str, above: frozenset[str]) -> Iterator[NamePlace]:
    if struct.name in above:
        return
    for field in struct.fields:
        inner, steps = field.kind, f"{path}{field.number}:{field.name}"
        while inner.parts:
            steps += "/{}" if inner.code == MAP else "/[]"
            inner = inner.parts[-1]
        if field.role is not None:
            yield NamePlace(steps, field.role)
        elif inner.struct in STRUCTS:
            yield from _places(STRUCTS[inner.struct], f"{steps}/", above | {struct.name})


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for one in text:
        depth += (one == "<") - (one == ">")
        if one == "," and not depth:
            parts.append("")
        else:
            parts[-1] += one
    return parts


def _struct(name: str, rows: list[list[str]]) -> Struct:
    roles = {int(row[0]): Role(row[3]) if len(row) > 3 else None for row in rows}
    databases = {row[1]: int(row[0]) for row in rows if roles[int(row[0])] is Role.DATABASE}

    def of(number: int, field: str) -> int | None:
        if roles[number] not in (Role.TABLE, Role.TABLE_PATTERN, Role.FUNCTION, Role.FUNCTION_PATTERN):
            return None
        return _database_of(field, databases)

    return Struct(
        name,
        tuple(Field(int(n), field, Kind.parse(kind), roles[int(n)], of(int(n), field)) for n, field, kind, *_ in rows),
    )


def _database_of(field: str, databases: Mapping[str, int]) -> int | None:
    """Find the database of a table in the same struct: of several the one that begins alike (`fktable_`, `source_`)."""
    if len(databases) < 2:
        return next(iter(databases.values()), None)
    return next(number for name, number in databases.items() if name.split("_")[0] == field.split("_")[0])


def _method(name: str, entry: Mapping[str, list[list[str]]]) -> Method:
    asked, returned = _struct(f"{name}_args", entry["request"]), _struct(f"{name}_result", entry["answer"])
    exceptions = {int(number): kind for number, kind in entry["exceptions"]}
    return Method(name, asked, returned, exceptions, "oneway" in entry)


_READ = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {"structs": {}, "methods": {}}
NO_FIELDS: Final = Struct("", ())
"""A struct of which only the end is looked for."""
STRUCTS: Final[Mapping[str, Struct]] = {name: _struct(name, rows) for name, rows in _READ["structs"].items()}
METHODS: Final[Mapping[str, Method]] = {name: _method(name, entry) for name, entry in _READ["methods"].items()}
