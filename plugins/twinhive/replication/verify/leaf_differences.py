"""Say how two states of a leaf differ, in words and values of both sides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from twinhive.core.model.errors import Missing
from twinhive.replication.comparison.hash_tree import DifferenceKind
from twinhive.replication.comparison.leaf_reader import LeafState, Side
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


def difference(
    sides: tuple[Side, Side], table: str, leaf: str, here: LeafState | None, there: LeafState | None
) -> LeafDifference | None:
    """Compare two states of a leaf; None where they are equal, or are not comparable beyond the files' lengths."""
    if here is None or there is None:
        kind = DifferenceKind.MISSING if there is None else DifferenceKind.EXTRA
        return None if here is there else LeafDifference(table, leaf, kind, {}, _mark(leaf, here, there))
    for kind, values in (
        (DifferenceKind.META, _apart(here.form, there.form)),
        (DifferenceKind.NAMES, _names_apart(here.lengths, there.lengths)),
        (DifferenceKind.LENGTH, _values_apart(here.lengths, there.lengths)),
        (DifferenceKind.CONTENT, _content_apart(sides, here, there)),
    ):
        if values:
            return LeafDifference(table, leaf, kind, dict(list(values.items())[:_NAMED]), _mark(leaf, here, there))
    return None


def not_comparable(sides: tuple[Side, Side], here: LeafState, there: LeafState) -> bool:
    """True for files that both sides guard by checksums of different types: these say nothing of each other."""
    if here.checksums is None or there.checksums is None:
        return False
    names = here.checksums.keys() & there.checksums.keys()
    return any(here.checksums[name] != there.checksums[name] for name in names) and not _content_apart(
        sides, here, there
    )


def _content_apart(sides: tuple[Side, Side], here: LeafState, there: LeafState) -> ValuePairs:
    if here.checksums is None or there.checksums is None:
        return {}
    apart = _values_apart(here.checksums, there.checksums)
    return {
        name: values
        for name, values in apart.items()
        if _can_be_compared(sides, here.files[name].path, there.files[name].path)
    }


def _can_be_compared(sides: tuple[Side, Side], here: str, there: str) -> bool:
    """True for files whose checksums are of one type; also for one that is gone since: its leaf is looked at again."""
    source, replica = sides
    try:
        return _guard(source.files.checksum_type(here)) == _guard(replica.files.checksum_type(there))
    except Missing:
        return True


def _guard(checksum_type: str) -> str:
    """Return the type without the bytes that one checksum covers: whole files compare whatever that is."""
    return checksum_type.partition("/")[0]


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
