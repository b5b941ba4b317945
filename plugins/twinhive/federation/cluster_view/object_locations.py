"""Find out where the objects of an answer are: their primaries, and which of their copies are fresh.

Copies are judged as routing judges them, after the answer has come: so a copy that is shown was what its object is at
some moment after that. Nothing is kept from one answer to the next. Marks are read after the answer, too: for tables
that belong elsewhere two calls a database, one more for each 1,000 objects, and one more where any are marked.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Parameters
from twinhive.core.model.placement.copy_marks import CopyMark, primary_of
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import MetastoreReader
from twinhive.federation.cluster_view.message_locations import ObjectKind, PlacedObject
from twinhive.federation.cluster_view.visibility_rules import Sight, Whereabouts
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.marks_table import MarksTable

_CATALOG = "hive"


@dataclass
class Judge:
    """Judges the objects of one answer. It asks servers, and waits for them."""

    metastore: MetastoreReader
    sight: Sight
    freshness: Freshness
    _tables: dict[TableName, Parameters | None] = field(default_factory=dict, init=False)
    _identities: dict[TableName, TableIdentity] = field(default_factory=dict, init=False)
    _kept: dict[str, MarksTable] = field(default_factory=dict, init=False)

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
            if table is not None:
                self._identities[name] = TableIdentity.of(table)
        return self._tables[name]

    def _copies(self, objects: Sequence[PlacedObject], primaries: Sequence[str | None]) -> dict[int, str]:
        """Return the places of fresh copies, by the number of the object."""
        asked: dict[TableName, dict[Values, int]] = defaultdict(dict)
        for at, (one, primary) in enumerate(zip(objects, primaries, strict=True)):
            if primary is None or one.location is None or not _is_named(one):
                continue
            if primary == self.sight.cluster and self.sight.is_here(_place(one)):
                continue  # of a table that is being moved partitions may be elsewhere already, and here as copies
            asked[_name(one)][one.values] = at
        marked = self._marks(asked)
        return {
            at: place for name, marks in marked.items() for at, place in self._fresh(name, marks, asked[name], objects)
        }

    def _marks(self, asked: Mapping[TableName, Mapping[Values, int]]) -> dict[TableName, dict[Values, CopyMark]]:
        """Return the marks of objects for the cluster: those of the tables that have these names now."""
        found: dict[TableName, dict[Values, CopyMark]] = defaultdict(dict)
        for database in {name.database for name in asked}:
            kept = self._kept.setdefault(database, MarksTable(self.metastore, database))
            wanted = [
                (name.table, self.sight.cluster, values)
                for name, some in asked.items()
                if name.database == database
                for values in some
            ]
            for (table, _, values), mark in kept.read(wanted).items():
                if self.sight.is_here(mark.location):
                    found[TableName(database, table)][values] = mark
        self._identify(found)
        return {
            name: same
            for name, marks in found.items()
            if (same := {at: one for at, one in marks.items() if not one.table.is_another(self._identities.get(name))})
        }

    def _identify(self, names: Iterable[TableName]) -> None:
        """Ask which tables have names: one call for each database."""
        unknown: dict[str, list[str]] = defaultdict(list)
        for name in names:
            if name not in self._identities:
                unknown[name.database].append(name.table)
        for database, some in unknown.items():
            found = self.metastore.tables(database, some)
            self._identities |= {table.name: TableIdentity.of(table) for table in found}

    def _fresh(
        self,
        name: TableName,
        marks: Mapping[Values, CopyMark],
        asked: Mapping[Values, int],
        objects: Sequence[PlacedObject],
    ) -> list[tuple[int, str]]:
        places = {values: _place(objects[asked[values]]) for values in marks}
        stale = self.freshness.stale(name, marks, places)
        return [(asked[values], mark.location) for values, mark in marks.items() if values not in stale]


def _is_named(one: PlacedObject) -> bool:
    """True for what is in a table that is known: the log tells of others nothing, so no copy of theirs is fresh."""
    return one.kind in (ObjectKind.TABLE, ObjectKind.PARTITION) and bool(one.database and one.table)


def _name(one: PlacedObject) -> TableName:
    return TableName(one.database.lower(), one.table.lower())


def _place(one: PlacedObject) -> str:
    return "" if one.location is None else one.location.text.rstrip("/")
