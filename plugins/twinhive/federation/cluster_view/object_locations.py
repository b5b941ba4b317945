"""Find out where the objects of an answer are: their primaries, and which of their copies are fresh.

Copies are judged as routing judges them, after the answer has come: so a copy that is shown was what its object is at
some moment after that. Nothing is kept from one answer to the next.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters
from twinhive.core.model.placement.copy_marks import CopyMark, mark_on, primary_of
from twinhive.core.model.placement.touches import Values
from twinhive.core.ports import MetastoreReader
from twinhive.federation.cluster_view.message_locations import ObjectKind, PlacedObject
from twinhive.federation.cluster_view.visibility_rules import Sight, Whereabouts
from twinhive.federation.routing.freshness import Freshness

_CATALOG = "hive"


@dataclass
class Judge:
    """Judges the objects of one answer. It asks servers, and waits for them."""

    metastore: MetastoreReader
    sight: Sight
    freshness: Freshness
    _tables: dict[TableName, Parameters | None] = field(default_factory=dict, init=False)

    def whereabouts(self, objects: Sequence[PlacedObject]) -> list[Whereabouts]:
        """Return where each of these is for the cluster."""
        primaries = [self._primary(one) for one in objects]
        copies = self._copies(objects, primaries)
        return [
            Whereabouts(primary, "" if one.location is None else one.location.text.rstrip("/"), copies.get(at))
            for at, (one, primary) in enumerate(zip(objects, primaries, strict=True))
        ]

    def _primary(self, one: PlacedObject) -> str | None:
        if one.catalog and one.catalog.lower() != _CATALOG:
            return None
        match one.kind:
            case ObjectKind.DATABASE:
                return primary_of(one.entries, self.sight.default)
            case ObjectKind.TABLE:
                name = _name(one)
                self._tables[name] = one.entries
                return primary_of(one.entries, self.sight.default)
            case ObjectKind.PARTITION:
                parameters = self._table(_name(one))
                return None if parameters is None else primary_of(parameters, self.sight.default)
            case ObjectKind.OTHER:
                return None

    def _table(self, name: TableName) -> Parameters | None:
        if name not in self._tables:
            table = self.metastore.table(name) if name.database and name.table else None
            self._tables[name] = None if table is None else table.parameters
        return self._tables[name]

    def _copies(self, objects: Sequence[PlacedObject], primaries: Sequence[str | None]) -> dict[int, str]:
        """Return the places of fresh copies, by the number of the object."""
        marked: dict[TableName, dict[Values, tuple[int, CopyMark]]] = defaultdict(dict)
        for at, (one, primary) in enumerate(zip(objects, primaries, strict=True)):
            if primary is None or not _is_named(one):
                continue
            if primary == self.sight.cluster and self.sight.is_here(_place(one)):
                continue  # of a table that is being moved partitions may be elsewhere already, and here as copies
            mark = mark_on(one.entries, self.sight.cluster)
            if mark is not None and self.sight.is_here(mark.location) and one.location is not None:
                marked[_name(one)][one.values] = at, mark
        return {at: place for name, found in marked.items() for at, place in self._fresh(name, found, objects)}

    def _fresh(
        self, name: TableName, found: Mapping[Values, tuple[int, CopyMark]], objects: Sequence[PlacedObject]
    ) -> list[tuple[int, str]]:
        marks = {values: mark for values, (_, mark) in found.items()}
        places = {values: _place(objects[at]) for values, (at, _) in found.items()}
        stale = self.freshness.stale(name, marks, places)
        return [(at, mark.location) for values, (at, mark) in found.items() if values not in stale]


def _is_named(one: PlacedObject) -> bool:
    """True for what is in a table that is known: the log tells of others nothing, so no copy of theirs is fresh."""
    return one.kind in (ObjectKind.TABLE, ObjectKind.PARTITION) and bool(one.database and one.table)


def _name(one: PlacedObject) -> TableName:
    return TableName(one.database.lower(), one.table.lower())


def _place(one: PlacedObject) -> str:
    return "" if one.location is None else one.location.text.rstrip("/")
