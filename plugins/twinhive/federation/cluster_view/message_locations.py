"""What has a place in a message: tables, partitions, databases, with their locations and parameters, by position.

Where locations stand is read from the table of the server's methods. Parameters have no names and are not in it: the
numbers of their fields are those of Hive's `hive_metastore.thrift`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from struct import Struct as Packing
from struct import error as PackingError
from typing import Final

from twinhive.hive.wire.field_roles import looked_into
from twinhive.hive.wire.method_table import BOOL, LIST, MAP, STRING, STRUCT, STRUCTS, Kind, Method, Struct
from twinhive.hive.wire.roles import Role
from twinhive.hive.wire.thrift_message import WireError
from twinhive.hive.wire.thrift_skip import Short, StructRun, end_of, end_of_value

_SHORT: Final = Packing("!h").unpack_from
_INT: Final = Packing("!i").unpack_from
PLACES: Final = frozenset({Role.LOCATION})
SPECIFICATION: Final = "PartitionSpec"
"""Partitions as paths below one that they share."""


class ObjectKind(Enum):
    """What has the places."""

    TABLE = "table"
    PARTITION = "partition"
    DATABASE = "database"
    OTHER = "other"
    """Nothing that belongs to a cluster: resources of functions, files of an insert, catalogs."""


@dataclass(frozen=True, slots=True)
class TextSpot:
    """A text, and where it stands with its length."""

    begin: int
    end: int
    text: str

    def moved(self, by: int) -> "TextSpot":
        """Return the same so much further behind."""
        return TextSpot(self.begin + by, self.end + by, self.text)


@dataclass(frozen=True, slots=True)
class MapSpot:
    """A map of texts, and where it stands with its head."""

    begin: int
    end: int
    entries: Mapping[str, str]

    def moved(self, by: int) -> "MapSpot":
        """Return the same so much further behind."""
        return MapSpot(self.begin + by, self.end + by, self.entries)


@dataclass(slots=True)
class PlacedObject:
    """One of them.

    fields     where the first field of the struct stands
    sd_fields  likewise of its storage descriptor, None without one
    location   its own place, the last one that is said
    others     further places
    parameters its own, `inner` those of storage descriptor and serde
    """

    kind: ObjectKind
    fields: int
    database: str = ""
    table: str = ""
    catalog: str = ""
    table_type: str = ""
    values: tuple[str, ...] | None = None
    sd_fields: int | None = None
    location: TextSpot | None = None
    others: list[TextSpot] = field(default_factory=list)
    parameters: MapSpot | None = None
    inner: list[MapSpot] = field(default_factory=list)

    @property
    def entries(self) -> Mapping[str, str]:
        """Its own parameters."""
        return {} if self.parameters is None else self.parameters.entries

    @property
    def says_location(self) -> bool:
        """True where its own place is said; the metastore takes an empty text for none."""
        return self.location is not None and bool(self.location.text)

    def moved(self, by: int) -> "PlacedObject":
        """Return the object where its bytes stand so much further behind."""
        return replace(
            self,
            fields=self.fields + by,
            sd_fields=None if self.sd_fields is None else self.sd_fields + by,
            location=None if self.location is None else self.location.moved(by),
            others=[spot.moved(by) for spot in self.others],
            parameters=None if self.parameters is None else self.parameters.moved(by),
            inner=[spot.moved(by) for spot in self.inner],
        )

    def place(self, spot: TextSpot) -> None:
        """Take a place of its own; what was said before counts no more, and is a place all the same."""
        if self.location is not None:
            self.others.append(self.location)
        self.location = spot


_OWN: Final = {
    "Table": (
        ObjectKind.TABLE,
        {1: "table", 2: "database", 7: "sd", 9: "parameters", 12: "table_type", 17: "catalog"},
    ),
    "Partition": (
        ObjectKind.PARTITION,
        {1: "values", 2: "database", 3: "table", 6: "sd", 7: "parameters", 9: "catalog"},
    ),
    "Database": (ObjectKind.DATABASE, {1: "database", 3: "location", 4: "parameters", 8: "catalog"}),
    "CreateDatabaseRequest": (ObjectKind.DATABASE, {1: "database", 3: "location", 4: "parameters", 8: "catalog"}),
}
"""By the struct's name: what it is, and what its fields are. Other fields with places are `others`."""
OWN_STRUCTS: Final = frozenset(_OWN)
_TEXTS: Final = ("table", "database", "table_type", "catalog")
_SD_LOCATION, _SD_SERDE, _SD_PARAMETERS, _SERDE_PARAMETERS = 2, 7, 10, 3


def structs_below(method_struct: Struct) -> frozenset[str]:
    """Return the names of the structs with places that a request or an answer may hold."""
    seen: set[str] = set()
    left = [method_struct]
    while left:
        for one in looked_into(left.pop(), PLACES).values():
            name = one.kind.inner.struct
            if name in STRUCTS and name not in seen and _has_places(STRUCTS[name]):
                seen.add(name)
                left.append(STRUCTS[name])
    return frozenset(seen)


def asks_with_places(method: Method) -> bool:
    """True where a request may hold a location."""
    return method.asks_for(Role.LOCATION)


def _has_places(struct: Struct) -> bool:
    return any(
        one.role is Role.LOCATION or (one.kind.inner.struct in STRUCTS and one.role is None)
        for one in looked_into(struct, PLACES).values()
    )


def is_true(raw: bytes, at: int, path: Sequence[int]) -> bool:
    """Read a truth value by the numbers of the fields that lead to it; False where it is not said. Raises WireError."""
    number, *below = path
    found = False
    for one, code, begin, _ in _Walk(raw).fields(at):
        if one == number and below and code == STRUCT:
            found = found or is_true(raw, begin, below)
        elif one == number and not below and code == BOOL:
            found = found or raw[begin] != 0
    return found


def objects_in(raw: bytes, at: int, struct: Struct) -> list[PlacedObject]:
    """List what has a place in the whole struct that begins at `at`. Raises WireError."""
    walk = _Walk(raw)
    try:
        walk.any(at, struct)
    except (IndexError, PackingError, Short, UnicodeDecodeError) as error:
        raise WireError(f"{struct.name} ends in the middle") from error
    return walk.found


def objects_of_run(raw: bytes, at: int, struct: Struct, count: int) -> list[PlacedObject]:
    """List likewise what is in so many structs that follow each other. Raises WireError."""
    walk = _Walk(raw)
    try:
        for _ in range(count):
            at = walk.any(at, struct)
    except (IndexError, PackingError, Short, UnicodeDecodeError) as error:
        raise WireError(f"{struct.name} ends in the middle") from error
    return walk.found


class _Walk:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._run = StructRun()
        self.found: list[PlacedObject] = []

    def any(self, at: int, struct: Struct) -> int:
        """Walk a struct, and return where it ends."""
        if struct.name in _OWN:
            return self._object(at, struct)
        for number, code, begin, end in self.fields(at):
            self._known(struct, number, code, begin, None)
            at = end
        return at + 1

    def _object(self, at: int, struct: Struct) -> int:
        kind, known = _OWN[struct.name]
        one = PlacedObject(kind, at)
        self.found.append(one)
        for number, code, begin, end in self.fields(at):
            name = known.get(number, "")
            if name == "sd" and code == STRUCT:
                self._descriptor(begin, one)
            elif name == "location" and code == STRING:
                one.place(self._text(begin, end))
            elif name == "parameters" and code == MAP:
                one.parameters = self._only_map(one.parameters, self._map(begin, end))
            elif name == "values" and code == LIST:
                one.values = self._list(begin)
            elif name in _TEXTS and code == STRING:
                setattr(one, name, self._text(begin, end).text)
            else:
                self._known(struct, number, code, begin, one)
            at = end
        return at + 1

    def _descriptor(self, at: int, one: PlacedObject) -> None:
        one.sd_fields = at
        for number, code, begin, end in self.fields(at):
            if number == _SD_LOCATION and code == STRING:
                one.place(self._text(begin, end))
            elif number == _SD_SERDE and code == STRUCT:
                one.inner += [
                    self._map(first, last)
                    for inner, kind, first, last in self.fields(begin)
                    if inner == _SERDE_PARAMETERS and kind == MAP
                ]
            elif number == _SD_PARAMETERS and code == MAP:
                one.inner.append(self._map(begin, end))
            else:
                self._known(STRUCTS["StorageDescriptor"], number, code, begin, one)

    def _known(self, struct: Struct, number: int, code: int, at: int, one: PlacedObject | None) -> None:
        """Go on into a field that leads to places; what belongs to no object is one of its own."""
        place = looked_into(struct, PLACES).get(number)
        if place is not None and place.kind.code == code and place.role in (None, Role.LOCATION):
            self._value(place.kind, place.role is Role.LOCATION, at, one)

    def _value(self, kind: Kind, is_place: bool, at: int, one: PlacedObject | None) -> int:
        raw, code = self._raw, kind.code
        if code == STRING:
            end = end_of_value(raw, STRING, at)
            if is_place:
                self._other(self._text(at, end), one)
            return end
        if code == STRUCT:
            if kind.struct not in STRUCTS:
                return end_of(raw, at)
            return (
                self.any(at, STRUCTS[kind.struct]) if one is None or kind.struct in _OWN else self._part(at, kind, one)
            )
        if not kind.parts:
            return end_of_value(raw, code, at)
        return self._container(kind, is_place, at, one)

    def _part(self, at: int, kind: Kind, one: PlacedObject) -> int:
        """Walk a struct that is a part of an object."""
        for number, code, begin, end in self.fields(at):
            self._known(STRUCTS[kind.struct], number, code, begin, one)
            at = end
        return at + 1

    def _container(self, kind: Kind, is_place: bool, at: int, one: PlacedObject | None) -> int:
        raw, codes = self._raw, len(kind.parts)
        count = _INT(raw, at + codes)[0]
        if tuple(raw[at : at + codes]) != tuple(part.code for part in kind.parts):
            return end_of_value(raw, kind.code, at)
        at += codes + 4
        for _ in range(count):
            if codes == 2:
                at = end_of_value(raw, kind.parts[0].code, at)
            at = self._value(kind.parts[-1], is_place, at, one)
        return at

    def _other(self, spot: TextSpot, one: PlacedObject | None) -> None:
        if one is None:
            one = PlacedObject(ObjectKind.OTHER, spot.begin)
            self.found.append(one)
        one.others.append(spot)

    def fields(self, at: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield number, type, begin and end of the fields of a struct."""
        raw = self._raw
        while code := raw[at]:
            end = self._end(code, at + 3)
            yield _SHORT(raw, at + 1)[0], code, at + 3, end
            at = end

    def _end(self, code: int, at: int) -> int:
        """Return where a value ends; of structs in a list, such as columns, all in one go."""
        if code != LIST or self._raw[at] != STRUCT:
            return end_of_value(self._raw, code, at)
        count = _INT(self._raw, at + 1)[0]
        passed, end = self._run.passed(self._raw, at + 5, count)
        if passed < count:
            raise Short
        return end

    def _text(self, begin: int, end: int) -> TextSpot:
        return TextSpot(begin, end, self._raw[begin + 4 : end].decode("utf-8", "surrogateescape"))

    def _list(self, at: int) -> tuple[str, ...]:
        raw = self._raw
        if raw[at] != STRING:
            return ()
        texts, count = [], _INT(raw, at + 1)[0]
        at += 5
        for _ in range(count):
            end = end_of_value(raw, STRING, at)
            texts.append(self._text(at, end).text)
            at = end
        return tuple(texts)

    def _map(self, begin: int, end: int) -> MapSpot:
        raw, at = self._raw, begin + 6
        count = _INT(raw, begin + 2)[0]
        if count and raw[begin : begin + 2] != bytes((STRING, STRING)):
            raise WireError("parameters that are no texts")
        entries = {}
        for _ in range(count):
            middle = end_of_value(raw, STRING, at)
            last = end_of_value(raw, STRING, middle)
            entries[self._text(at, middle).text] = self._text(middle, last).text
            at = last
        return MapSpot(begin, end, entries)

    @staticmethod
    def _only_map(before: MapSpot | None, now: MapSpot) -> MapSpot:
        if before is not None:
            raise WireError("an object that says its parameters twice")
        return now
