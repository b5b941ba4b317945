"""Read what decides about sets: their tables on both sides, and what people and earlier runs say of these."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from twinhive.core.model.names import TableName, partition_values
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.model.sets.set_mark import KEEP, SetMark, is_findable, mark_name
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.model.thrift_objects import table_id
from twinhive.core.ports import MetastoreReader, ReadPorts
from twinhive.publishing.sets.listed_sets import SetStanding, standing_of
from twinhive.publishing.sets.sets_table import find_sets_table
from twinhive.replication.operator_requests.request_files import requested_tables
from twinhive.replication.replica.pending_files import pending_names, read_pending
from twinhive.replication.replica.set_checkpoint import Ids

_PER_CALL = 1_000


@dataclass(frozen=True)
class Sides:
    """The tables of some marks on both sides by name, and what is said of them; `names` holds those of all marks."""

    names: Sequence[str]
    sources: Mapping[TableName, Table]
    tables: Mapping[str, Table]
    frozen: Mapping[str, str]
    requested: frozenset[str]
    pending: frozenset[str]

    @classmethod
    def read(cls, ports: ReadPorts, policy: Policy, marks: Iterable[SetMark]) -> "Sides":
        """Read them; without marks nothing is asked."""
        names = sorted({mark.table.table for mark in marks})
        if not names:
            return cls((), {}, {}, {}, frozenset(), frozenset())
        database = ports.replica.database(policy.replica.database)
        return cls(
            names,
            {table.name: table for table in ports.source.tables(policy.source.database, names)},
            {table.name.table: table for table in ports.replica.tables(policy.replica.database, names)},
            frozen_tables(database.parameters if database else {}),
            frozenset(requested_tables(ports.replica_files, policy)),
            frozenset(pending_names(ports.replica_files, policy)),
        )

    def has(self, shown: SetMark) -> bool:
        """True for a shown mark of the replica's table as it is now."""
        table = self.tables.get(shown.table.table)
        return table is not None and shown.is_of(table)

    def is_done(self, mark: SetMark, policy: Policy, clock: Callable[[], float], keep: str) -> bool:
        """True for a mark of the source that counts, of a table that is replicated."""
        table = self.sources.get(mark.table)
        if table is None or not policy.selects(mark.table.table):
            return False
        return standing_of(mark, table, keep, clock()).standing is SetStanding.DONE

    def waits_for_data(self, ports: ReadPorts, policy: Policy, name: str, spec: SetSpec, source: Table) -> bool:
        """True while something of a set waits for files that somebody else owns."""
        if name not in self.pending:
            return False
        record = read_pending(ports.replica_files, policy, name)
        keys = source.partition_keys
        waiting = (partition_values(partition) for partition in record.partitions)
        return record.table is not None or any(spec.matches(values, keys) for values in waiting)

    def told(self, mark: SetMark, source: Table, now: int) -> SetMark:
        """Return a source's mark as the replica says it."""
        table = self.tables[mark.table.table]
        return replace(mark, table=table.name, table_id=table_id(table), shown=now, keep=source.parameters.get(KEEP))

    def ids(self) -> dict[str, Ids]:
        """Return the ids of the tables on both sides: also that there is none, as one may come by a rename."""
        sources = {name.table: table_id(table) for name, table in self.sources.items()}
        replicas = {name: table_id(table) for name, table in self.tables.items()}
        return {name: (sources.get(name), replicas.get(name)) for name in self.names}


def read_marks(metastore: MetastoreReader, database: str, names: Iterable[str] | None) -> list[SetMark]:
    """Return the marks of a database with these names, None: all. Raises ActNow for a table of somebody else."""
    sets = find_sets_table(metastore, database)
    if sets is None:
        return []
    wanted: Sequence[str] = metastore.partition_names(sets.name) if names is None else sorted(names)
    found = (one for page in _pages(wanted) for one in metastore.partitions(sets.name, page))
    return [SetMark.read(one) for one in found if is_findable(one.values)]


def names_of(marks: Iterable[SetMark]) -> frozenset[str]:
    """Return the names of marks."""
    return frozenset(mark_name(mark.table.table, mark.spec) for mark in marks)


def _pages(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _PER_CALL] for start in range(0, len(names), _PER_CALL))
