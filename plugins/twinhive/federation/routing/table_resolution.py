"""Find out where the tables of a statement are: views opened, partitions that are certainly not read left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from twinhive.core.model.errors import ActNow, TableMoving
from twinhive.core.model.names import TableName, partition_name, unescape_path_name
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Partition, Table, TableKind
from twinhive.core.model.placement.copy_marks import CLUSTER, CopyMark, primary_of
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.remotes.definitions import REMOTE
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.model.thrift_objects import partition_key_types, view_text
from twinhive.core.ports import MetastoreReader
from twinhive.federation.remotes.kept_remotes import NO_CONNECTORS, database_definition
from twinhive.federation.routing.cluster_choice import Nowhere, Routed, route
from twinhive.federation.routing.freshness import Freshness
from twinhive.federation.routing.marks_table import MarksTable, marks_of
from twinhive.federation.routing.predicates import Disjunction, Predicate, judge_of, not_known
from twinhive.federation.routing.residence import ClusterStorageDescriptor, ObjectResidence, TableResidence
from twinhive.federation.routing.uses import ReadTable, StatementUses, may_be_path
from twinhive.hive.views.spark_views import database_of_view

ReadView = Callable[[str, str], Sequence[ReadTable]]
"""Reads the text of a view whose names without a database are in a database."""
_DEEPEST = 32
_A_CALL = 1_000


@dataclass(frozen=True)
class Clusters:
    """The clusters of one metastore; `default` is that of tables and sessions that say nothing."""

    names: tuple[str, ...]
    default: str

    def known(self, name: str) -> str:
        """Return a cluster that a person has named. Raises ActNow."""
        if name in self.names:
            return name
        raise ActNow(
            f"there is no cluster {name}",
            found=name,
            expected=f"one of the clusters of this metastore: {', '.join(sorted(self.names))}",
            next_step="correct USE CLUSTER, or add the cluster to clusters.yaml",
        )


class ReadObjects(Sequence[ObjectResidence]):
    """Objects that are looked at when somebody asks for the first of them: mostly nobody does."""

    def __init__(self, look: Callable[[], Sequence[ObjectResidence]]) -> None:
        self._look = look
        self._found: Sequence[ObjectResidence] | None = None

    def _objects(self) -> Sequence[ObjectResidence]:
        if self._found is None:
            self._found = self._look()
        return self._found

    @overload
    def __getitem__(self, at: int) -> ObjectResidence: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ObjectResidence]: ...
    def __getitem__(self, at: int | slice) -> ObjectResidence | Sequence[ObjectResidence]:
        return self._objects()[at]

    def __len__(self) -> int:
        return len(self._objects())


@dataclass(frozen=True)
class Resolver:
    """Finds the tables of statements in one metastore."""

    metastore: MetastoreReader
    clusters: Clusters
    freshness: Freshness
    read_view: ReadView
    _tables: dict[TableName, Table | None] = field(default_factory=dict)
    _remote_databases: dict[str, bool] = field(default_factory=dict)
    _kept: dict[str, MarksTable] = field(default_factory=dict)

    def route(self, uses: StatementUses, chosen: str | None) -> Routed | Nowhere:
        """Return where a statement runs. Raises ActNow for one that touches what nobody can find."""
        if chosen is not None:
            self.clusters.known(chosen)
        elif uses.unknown:
            raise ActNow(
                "the statement cannot be routed",
                found="; ".join(uses.unknown),
                expected="tables alone, or a cluster that is named",
                next_step="name the cluster that this is on: USE CLUSTER <name>, or --cluster <name>",
            )
        outputs = [self._output(table) for name in uses.outputs if (table := self._written(name)) is not None]
        inputs = [self._residence(table, where) for table, where in self._opened(uses.inputs)]
        return route(outputs, inputs, chosen=chosen, default=self.clusters.default)

    def new_tables(self, uses: StatementUses) -> list[TableName]:
        """Return the tables that a statement makes."""
        return [name for name in uses.made if self._table(name) is None]

    def _written(self, name: TableName) -> Table | None:
        """Return a table that is written, None for a new one. Raises ActNow for a remote, and for what may be files."""
        table = self._local(name, _is_written)
        if table is None and may_be_path(name):
            raise _may_be_files(name)
        return table

    def _output(self, table: Table) -> TableResidence:
        move = self._marks(table.name.database).move(table)
        if move is not None:
            raise TableMoving(
                f"{table.name} is being moved {move}: until that has ended nobody is to write it",
                found=f"the mark of a move in {COPY_MARKS.of(table.name.database)}",
                expected="none",
                next_step="wait; if nobody moves it any more, end the move: "
                + command("twinhive", "move-primary", str(table.name), move.target),
            )
        return TableResidence(table.name, self._primary(table))

    def _primary(self, table: Table) -> str:
        primary = primary_of(table.parameters, self.clusters.default)
        if primary not in self.clusters.names:
            raise _of_no_cluster(table.name, primary, self.clusters)
        return primary

    def _marks(self, database: str) -> MarksTable:
        """Return the marks of a database; a table of somebody else in their place holds none."""
        if database not in self._kept:
            self._kept[database] = MarksTable(self.metastore, database)
        return self._kept[database]

    def _table(self, name: TableName) -> Table | None:
        if name not in self._tables:
            self._tables[name] = self.metastore.table(name)
        return self._tables[name]

    def _local(self, name: TableName, refused: Callable[[TableName], ActNow]) -> Table | None:
        """Return a table, None for a new one. Raises ActNow for a remote, and whatever would be in a remote database.

        The database is looked at first: Hive asks the connector of a remote one for its tables, and has none for ours.
        """
        if name.database not in self._remote_databases:
            self._remote_databases[name.database] = self._is_remote(name.database)
        if self._remote_databases[name.database]:
            raise refused(name)
        table = self._table(name)
        if table is not None and REMOTE in table.parameters:
            raise refused(name)
        return table

    def _is_remote(self, database: str) -> bool:
        """True for a database that a gateway serves; those of other data connectors are Hive's own business."""
        found = self.metastore.database(database)
        if found is None:
            return False
        connector = self.metastore.connector(found.connector) if found.connector else None
        known = NO_CONNECTORS if connector is None else {connector.name.lower(): connector}
        return database_definition(found, known) is not None

    def _opened(self, reads: Sequence[ReadTable], depth: int = 0) -> Iterator[tuple[Table, Predicate]]:
        """Yield the tables that are read, those of views in their place, in the order of the text; each one once."""
        wanted: dict[TableName, tuple[Table, Predicate]] = {}
        for table, where in self._each(reads, depth):
            before = wanted.get(table.name)
            # Read twice, a partition is read when one of both wants it.
            wanted[table.name] = (table, Disjunction((before[1], where)) if before else where)
        yield from wanted.values()

    def _each(self, reads: Sequence[ReadTable], depth: int) -> Iterator[tuple[Table, Predicate]]:
        for read in reads:
            table = self._there(read.name)
            if table.kind is not TableKind.VIEW:
                yield table, read.where
                continue
            if depth >= _DEEPEST:
                raise _too_deep(read.name)
            database = database_of_view(table.parameters, table.name.database)
            if database is None:
                raise _of_another_catalog(read.name)
            yield from self._each(self.read_view(view_text(table), database), depth + 1)

    def _there(self, name: TableName) -> Table:
        """Return a table that is read. Raises ActNow for a remote, and where there is none."""
        table = self._local(name, _is_read)
        if table is None:
            raise _not_there(name)
        return table

    def _residence(self, table: Table, where: Predicate) -> TableResidence:
        primary = self._primary(table)
        return TableResidence(table.name, primary, ReadObjects(lambda: self._objects(table, primary, where)))

    def _objects(self, table: Table, primary: str, where: Predicate) -> list[ObjectResidence]:
        if not table.partition_keys:
            return self._places(table, primary, {None: table})
        found: list[ObjectResidence] = []
        names = read_names(table, self.metastore.partition_names(table.name), where)
        for at in range(0, len(names), _A_CALL):
            partitions = self.metastore.partitions(table.name, names[at : at + _A_CALL])
            found += self._places(table, primary, {one.values: one for one in partitions})
        return found

    def _places(self, table: Table, primary: str, objects: Mapping[Values, Table | Partition]) -> list[ObjectResidence]:
        others = [cluster for cluster in self.clusters.names if cluster != primary]
        stale = {cluster: self._stale(table, objects, cluster) for cluster in others}
        found = []
        for values, one in objects.items():
            places = [ClusterStorageDescriptor(primary, one.location or "", is_primary=True)]
            for cluster, marks in stale.items():
                mark, why = marks.get(values, (None, None))
                if mark is not None and why is None:
                    places.append(ClusterStorageDescriptor(cluster, mark.location, is_primary=False))
            reasons = {cluster: why for cluster, marks in stale.items() if (why := marks.get(values, (None, None))[1])}
            what = str(table.name) if values is None else partition_name(table.partition_keys, values)
            found.append(ObjectResidence(what, tuple(places), reasons))
        return found

    def _stale(
        self, table: Table, objects: Mapping[Values, Table | Partition], cluster: str
    ) -> dict[Values, tuple[CopyMark, str | None]]:
        marks = marks_of(self._marks(table.name.database), table, cluster, objects)
        places = {values: objects[values].location or "" for values in marks}
        why = self.freshness.stale(table.name, marks, places)
        return {values: (mark, why.get(values)) for values, mark in marks.items()}


def read_names(table: Table, names: Sequence[str], where: Predicate) -> list[str]:
    """Return the names of the partitions that a statement may read."""
    keys = tuple(key.lower() for key in table.partition_keys)
    judge = judge_of(where, {name.lower(): kind for name, kind in partition_key_types(table)})
    if judge is not_known:
        return list(names)
    return [name for name in names if judge(_values(keys, name)) is not False]


def _values(keys: Sequence[str], name: str) -> dict[str, str]:
    texts = [part.partition("=")[2] for part in name.split("/")]
    if "%" in name:
        texts = [unescape_path_name(text) for text in texts]
    return dict(zip(keys, texts, strict=False))


def _not_there(name: TableName) -> ActNow:
    return ActNow(
        f"there is no table {name}",
        found="a statement that reads it",
        expected="a table or a view of this metastore",
        next_step="correct the name, or the database of the session (--database)",
    )


def _may_be_files(name: TableName) -> ActNow:
    return ActNow(
        f"where {name} is written cannot be told",
        found="no table of this name, and one that means files by their path to Spark",
        expected="a table of this metastore, or a name that can only be one",
        next_step="make it a table of the metastore, or run it by the Spark of the cluster that the files are on",
    )


def _is_read(name: TableName) -> ActNow:
    return ActNow(
        f"{name} is a remote: it belongs to no cluster of this metastore",
        found="a statement that reads it",
        expected="tables of this metastore",
        next_step="run it on the cluster that you choose, through the gateway: twinhive remotes lists them",
    )


def _is_written(name: TableName) -> ActNow:
    return ActNow(
        f"{name} is a remote: it belongs to no cluster of this metastore, and is only read here",
        found="a statement that writes it",
        expected="tables of this metastore",
        next_step="change it where it is: twinhive remotes says where; DROP REMOTE takes the local name away",
    )


def _of_no_cluster(name: TableName, primary: str, clusters: Clusters) -> ActNow:
    return ActNow(
        f"{name} belongs to {primary}, which is no cluster of this metastore",
        found=f"its parameter {CLUSTER}",
        expected=f"one of {', '.join(sorted(clusters.names))}",
        next_step=f"add {primary} to clusters.yaml, or correct the parameter; "
        + command("twinhive", "clusters", "check")
        + " finds all such tables",
    )


def _of_another_catalog(name: TableName) -> ActNow:
    return ActNow(
        f"view {name} cannot be opened",
        found="it was made in a session whose catalog is another one than the metastore's",
        expected="a view whose names are tables of this metastore",
        next_step="make it anew after USE of a database of this metastore",
    )


def _too_deep(name: TableName) -> ActNow:
    return ActNow(
        f"view {name} cannot be opened",
        found=f"more than {_DEEPEST} views in one another, or one that reads itself",
        expected="views that end in tables",
        next_step="look at the view's text, and make it anew",
    )
