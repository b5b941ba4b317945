"""Say how two states of a leaf differ, in words and values of both sides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from twinhive.replication.comparison.hash_tree import DifferenceKind
from twinhive.replication.comparison.leaf_reader import LeafState
from twinhive.replication.comparison.leaf_records import OWN_LEAF

_NAMED = 20
ValuePairs = Mapping[str, tuple[Any, Any]]
"""What differs: a field or a file, with the source's value and the replica's; None for what is not there."""


@dataclass(frozen=True)
class LeafDifference:
    """A leaf that is not equal. `mark` stands for what both sides were: equal marks mean that neither has changed."""

    table: str
    leaf: str
    kind: DifferenceKind
    values: ValuePairs = field(default_factory=dict)
    mark: str = ""

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"{self.table} {self.leaf}" if self.leaf != OWN_LEAF else self.table

    def __str__(self) -> str:
        said = "; ".join(f"{what}: source {here!r}, replica {there!r}" for what, (here, there) in self.values.items())
        return f"{self.name}: {self.kind.value}" + (f" ({said})" if said else "")


def difference(table: str, leaf: str, here: LeafState | None, there: LeafState | None) -> LeafDifference | None:
    """Compare two states of a leaf; None where they are equal, as far as both are known.

    Their checksums have to be of one type (`comparable_checksums`).
    """
    if here is None or there is None:
        kind = DifferenceKind.MISSING if there is None else DifferenceKind.EXTRA
        return None if here is there else LeafDifference(table, leaf, kind, {}, _mark(leaf, here, there))
    for kind, values in (
        (DifferenceKind.META, _apart(here.form, there.form)),
        (DifferenceKind.NAMES, _names_apart(here.lengths, there.lengths)),
        (DifferenceKind.LENGTH, _values_apart(here.lengths, there.lengths)),
        (DifferenceKind.CONTENT, _values_apart(here.checksums or {}, there.checksums or {})),
    ):
        if values:
            return LeafDifference(table, leaf, kind, dict(list(values.items())[:_NAMED]), _mark(leaf, here, there))
    return None


def _mark(leaf: str, here: LeafState | None, there: LeafState | None) -> str:
    return "/".join("-" if state is None else state.record(leaf).packed()[16:].hex() for state in (here, there))


def _names_apart(here: Mapping[str, Any], there: Mapping[str, Any]) -> ValuePairs:
    return {name: (here.get(name), there.get(name)) for name in sorted(here.keys() ^ there.keys())}


def _values_apart(here: Mapping[str, Any], there: Mapping[str, Any]) -> ValuePairs:
    both = sorted(here.keys() & there.keys())
    return {name: (here[name], there[name]) for name in both if here[name] != there[name]}


def _apart(here: Mapping[str, Any], there: Mapping[str, Any]) -> ValuePairs:
    ours, theirs = dict(_flat(here)), dict(_flat(there))
    names = sorted(ours.keys() | theirs.keys())
    return {name: (ours.get(name), theirs.get(name)) for name in names if ours.get(name) != theirs.get(name)}


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten what is nested; a key may hold any character, so the path is for people alone."""
    some: Iterator[tuple[str, Any]]
    match value:
        case dict():
            some = ((f"{path}.{name}" if path else name, one) for name, one in value.items())
        case list():
            some = ((f"{path}[{number}]", one) for number, one in enumerate(value))
        case _:
            yield path, value
            return
    for name, one in some:
        yield from _flat(one, name)
