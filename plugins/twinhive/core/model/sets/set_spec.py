"""Name a set of a table's partitions: `key=value` pairs in one order, so that names compare as strings (seed 003)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import DEFAULT_PARTITION, escape_path_name, unescape_path_name
from twinhive.core.model.sets.value_forms import expected_form

WHOLE = "*"
"""The set of everything in a table, the only one of a table without partitions."""
MOST_BYTES = 249
"""HDFS allows names of 255 bytes, and a set's directory is named `spec=<set, escaped once more>`."""
MOST_CHARACTERS = 250
"""Airflow's limit for the key of a partition; the metastore's for a partition's value is 256."""
_MOST_BROADER = 6
"""Keys from which on not all broader sets are looked for by name: 2**6 are 64 names."""

Keys = Mapping[str, str]
"""A table's partition keys in their order, with their types as Hive writes them."""


@dataclass(frozen=True)
class SetSpec:
    """All partitions whose keys have these values, also those still to come; no pairs: the whole table.

    Keys are in lower case and sorted lexically, whatever their order in the table.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, mapping: Mapping[str, str], keys: Keys) -> "SetSpec":
        """Return the set of these values. Raises InvalidSettings for keys and values that the table cannot have."""
        types = {key.lower(): kind.lower() for key, kind in keys.items()}
        pairs: dict[str, str] = {}
        for given, value in mapping.items():
            key = given.lower()
            if key not in types:
                known = ", ".join(sorted(types)) or f"no keys: the table has no partitions, its only set is {WHOLE}"
                raise _wrong(f"{given!r} is no partition key of the table", found=given, expected=known)
            if key in pairs:
                raise _wrong(f"{key} is given twice", found=f"{pairs[key]!r} and {value!r}", expected="one value")
            _check_value(key, value, types[key])
            pairs[key] = value
        spec = cls(tuple(sorted(pairs.items())))
        spec._check_length()
        return spec

    @classmethod
    def parse(cls, text: str, keys: Keys) -> "SetSpec":
        """Read `key=value/key=value`, in any order, values escaped as Hive escapes names of directories, or `*`."""
        return cls.of(_pairs_of(text), keys)

    @classmethod
    def unchecked(cls, text: str) -> "SetSpec":
        """Read a set whose table is not asked whether it can have it. Raises InvalidSettings for what is no set."""
        return cls(tuple(sorted(_pairs_of(text).items())))

    def __str__(self) -> str:
        return "/".join(f"{escape_path_name(key)}={escape_path_name(value)}" for key, value in self.pairs) or WHOLE

    def matches(self, values: Sequence[str], keys: Sequence[str]) -> bool:
        """True for a partition of the set; `values` are in the order of the table's keys."""
        of_partition = dict(zip((key.lower() for key in keys), values, strict=True))
        return all(of_partition[key] == value for key, value in self.pairs)

    def broader(self) -> tuple["SetSpec", ...]:
        """Return the sets that hold this one: itself first, the whole table last.

        Of more than six keys: itself, those of one key less, of one key, and the whole table.
        """
        count = len(self.pairs)
        sizes = range(count, -1, -1) if count <= _MOST_BROADER else (count, count - 1, 1, 0)
        return tuple(SetSpec(chosen) for size in sizes for chosen in combinations(self.pairs, size))

    def prefix_values(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Return a value for each key of the table, '' where any will do, as the metastore is asked for partitions."""
        given = dict(self.pairs)
        return tuple(given.get(key.lower(), "") for key in keys)

    def _check_length(self) -> None:
        text = str(self)
        length = len(escape_path_name(text).encode())
        if length > MOST_BYTES or len(text) > MOST_CHARACTERS:
            raise _wrong(
                f"the set {text[:60]}... is too long: it is kept as the name of a directory",
                found=f"{length} bytes, escaped",
                expected=f"at most {MOST_BYTES} bytes, and {MOST_CHARACTERS} characters",
            )


def set_text(given: Mapping[str, str] | str) -> str:
    """Return a set as people write it; no values at all: the whole table."""
    if isinstance(given, str):
        return given
    return "/".join(f"{escape_path_name(key)}={escape_path_name(str(value))}" for key, value in given.items()) or WHOLE


def _pairs_of(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split("/") if text != WHOLE else ():
        escaped, equals, value = part.partition("=")
        key = unescape_path_name(escaped).lower()
        if not (key and equals):
            raise _wrong(f"{text!r} is no set", found=repr(part), expected=f"key=value/key=value, or {WHOLE}")
        if key in pairs:
            raise _wrong(f"{text!r} is no set: {key} is given twice", found=repr(part), expected="one value")
        pairs[key] = unescape_path_name(value)
    return pairs


def _check_value(key: str, value: str, kind: str) -> None:
    if not value:
        raise _wrong(f"{key} has no value", found="''", expected="a value; leave the key out where any will do")
    if value == DEFAULT_PARTITION:
        return
    expected = expected_form(value, kind)
    if expected is not None:
        raise _wrong(f"{key}={value} cannot be a partition: {key} is of type {kind}", found=value, expected=expected)


def _wrong(what: str, *, found: str, expected: str) -> InvalidSettings:
    return InvalidSettings(
        what, found=found, expected=expected, next_step="correct the set: key=value/key=value, or * for the whole table"
    )
