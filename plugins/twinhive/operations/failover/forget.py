"""Give a replica up: its marks, dumps and staged files go, what its tables hold stays.

The order makes a second try possible. A note in staging says that it was begun; content that no table uses any more
goes while the marks say whose it is; stamps go before the database's marks, which say whose that is; staging, with the
note in it, goes last and at once.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from twinhive.core.directory_marks.directories import release_table
from twinhive.core.model.errors import Foreign, Missing, TryAgain, UnreadableObject, together
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import (
    COMING_AT,
    LAST_ID,
    POLICY,
    SOURCE_FOR,
    SOURCE_LOG,
    SOURCE_PLACE,
    STAMP,
    Phase,
    ReplicaState,
    Stamp,
    own_marks,
)
from twinhive.core.model.next_steps import bootstrap, command
from twinhive.core.model.objects import Database, Parameters, Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import Lease, MetastoreReader, ReadPorts, WritePorts, if_there
from twinhive.core.step.parameter_changes import change_database, change_partitions, change_table
from twinhive.core.step.replica_lease import hold_lease, lease_directory
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.forget_at_source import forget_at_source
from twinhive.operations.failover.forget_files import plan_own_directories, remove_own_directories
from twinhive.operations.failover.unused_content import plan_leftovers, remove_leftovers
from twinhive.replication.operator_requests.request_files import begin_forgetting, forgetting_has_begun
from twinhive.replication.replica.source_scope import readable_tables

_TABLES_PER_CALL = 200
_STAMPS = (STAMP, LAST_ID, SOURCE_PLACE, COMING_AT)
"""What replication writes on tables and partitions."""
_OF_HIVE = ("repl.", "hive.repl.", "bootstrap.dump.state.")
_OTHER_POLICY = "correct replica.database in the policy file, or forget it by the policy that it belongs to"


class _Found(Enum):
    ABSENT = "there is no replica database"
    MARKED = "the replica database carries this policy's marks"
    UNMARKED = "the replica database carries no marks any more"
    NOTHING = "nothing is left of the policy on the replica"


@dataclass(frozen=True)
class Forget:
    """Make an ordinary database of a replica."""

    policy: Policy
    holder: Holder

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what would go and what would stay."""
        policy = self.policy
        found, database = self._find(ports)
        lines = [f"{policy.replica}: {found.value}"]
        if found is _Found.MARKED and database is not None:
            stamped = sum(1 for _ in _ours(ports.replica, database, self.policy))
            lines += [
                f"would be removed: marks of database {policy.replica} ({', '.join(sorted(_marks(database)))})",
                f"would be removed: marks of {stamped} tables and of their partitions",
                f"would stay: database {policy.replica} with all tables, partitions and functions, and their files",
                *plan_leftovers(ports, policy),
            ]
        if base := policy.external.base_directory:
            lines.append(f"would be released: the base directory {base}; what lies below it stays")
        lines.append(
            f"would be removed: the mark of the policy at {policy.source}; dropped files are no longer kept for it"
        )
        return lines + plan_own_directories(ports, policy)

    def run(self, ports: WritePorts) -> list[str]:
        """Remove all that; killed anywhere, a second run goes on."""
        policy = self.policy
        lines, log_id = [], None
        self._find(ports)  # refuses before there is a lease
        with hold_lease(ports, Work(policy, holder=self.holder), LeaseKind.FORGET) as lease:
            found, database = self._find(ports)
            lines.append(f"{policy.replica}: {found.value}")
            begin_forgetting(ports.replica_files, policy)
            if found is _Found.MARKED and database is not None:
                log_id = database.parameters.get(SOURCE_LOG)
                lines += remove_leftovers(ports, policy, lease)
                tables, partitions = self._unstamp(ports, database, lease)
                lines.append(f"removed: marks of {tables} tables and {partitions} partitions")
                lease.confirm()
                change_database(ports.replica, database.name, self._without)
                lines.append(f"removed: marks of database {policy.replica}; what its tables hold stays as it is")
        at_source = forget_at_source(ports, policy, self.holder, log_id)
        own = remove_own_directories(ports, policy, keeps_note=at_source.keeps_note)
        is_all = at_source.is_all and own.is_all
        file = f"remove the policy file of {policy.name}, so that its DAGs go too"
        lines += [*at_source.lines, *own.lines, file if is_all else f"if {policy.source} is gone for good: {file}"]
        return lines

    def _find(self, ports: ReadPorts) -> tuple[_Found, Database | None]:
        """Return what there is to forget. Raises Foreign for a database of somebody else's."""
        policy = self.policy
        database = ports.replica.database(policy.replica.database)
        if database is None:
            return _Found.ABSENT, None
        owner = database.parameters.get(POLICY)
        if owner == policy.name and self._is_of_this_source(ports, database):
            return _Found.MARKED, database
        if owner is None and forgetting_has_begun(ports.replica_files, policy):
            return _Found.UNMARKED, database
        if owner is None and self._left_nothing(ports):
            return _Found.NOTHING, database
        log_id = database.parameters.get(SOURCE_LOG)
        raise Foreign(
            f"database {policy.replica} does not belong to policy {policy.name}: nothing of it is forgotten",
            found=f"{POLICY} = {owner or '(not set)'}, {SOURCE_LOG} = {log_id or '(not set)'}",
            expected=f"{POLICY} = {policy.name}, and the log of {policy.source.cluster}",
            next_step=self._way_on(database) if owner == policy.name else _OTHER_POLICY,
        )

    def _way_on(self, database: Database) -> Text:
        """Return what to do about a replica of this policy whose source is another by now: its metastore was made anew.

        Marks that speak of a log that is gone are not taken away: nothing says any more what is equal.
        """
        policy = self.policy
        if ReplicaState.read(database.parameters).phase is Phase.PROMOTED:
            return (
                f"do not drop it: it has taken over; while the metastore of {policy.source.cluster} does not answer: "
                + command("twinhive", "forget", policy.name)
            )
        return (
            f"drop the replica on {policy.replica.cluster} (DROP DATABASE {policy.replica.database} CASCADE); then "
            + bootstrap(policy.name)
            + ", or end the policy: "
            + command("twinhive", "forget", policy.name)
        )

    def _is_of_this_source(self, ports: ReadPorts, database: Database) -> bool:
        """Compare the logs; a source that does not answer any more must not keep a replica for ever."""
        try:
            return database.parameters.get(SOURCE_LOG) == ports.source.log_id()
        except TryAgain:
            return True

    def _left_nothing(self, ports: ReadPorts) -> bool:
        """True when nothing is in staging; the lease that this very run holds does not count."""
        ((_, children),) = ports.replica_files.list_directories([self.policy.staging])
        return not any(child.path != lease_directory(self.policy) for child in children or ())

    def _unstamp(self, ports: WritePorts, database: Database, lease: Lease) -> tuple[int, int]:
        """Take the marks from tables, a table's after those of its partitions; return how many lost theirs.

        Only keys of ours are taken from each, as it is at that moment: people may write it.
        """
        tables = partitions = 0
        log_id = database.parameters.get(SOURCE_LOG)
        for table in _ours(ports.replica, database, self.policy):
            taken = self._taken_from(table, log_id)
            for some in _partition_names(ports.replica, table, self.policy.options.partitions_per_call):
                lease.confirm()
                partitions += change_partitions(ports.replica, table.name, some, taken)
            lease.confirm()
            self._unmark_directory(ports, table)
            tables += change_table(ports.replica, table.name, taken) is not None
        return tables, partitions

    def _taken_from(self, table: Table, log_id: str | None) -> Callable[[Table | Partition], Parameters | None]:
        """Return what is asked of a table, and of each of its partitions: its parameters without the keys of ours.

        What Hive's own replication has left goes too, of a table that is replicated; other marks are not of replicas.
        """
        replicates = self.policy.replicates(table)

        def taken(one: Table | Partition) -> Parameters | None:
            given = one.parameters
            gone = {key for key in given if key in _STAMPS or (replicates and key.startswith(_OF_HIVE))}
            if not gone or Stamp.log_of(given.get(STAMP)) not in (None, log_id):
                return None
            return {key: value for key, value in given.items() if key not in gone}

        return taken

    def _without(self, database: Database) -> Parameters | None:
        """Return a database's parameters without our marks; None where they are another's by now."""
        if database.parameters.get(POLICY) != self.policy.name:
            return None
        gone = _marks(database)
        return {key: value for key, value in database.parameters.items() if key not in gone}

    def _unmark_directory(self, ports: WritePorts, table: Table) -> None:
        """Empty the mark of a directory that a load has built: a later load must not take it for its own."""
        if table.location is not None and table.location.startswith(ports.replica_files.root):
            if_there(release_table, ports.replica_files, table.location, self.policy.name)


def _ours(replica: MetastoreReader, database: Database, policy: Policy) -> Iterator[Table]:
    """Yield the tables that carry a stamp of the replica's source log; those too that have got their name meanwhile.

    Raises UnreadableObject after them for those that the policy selects and that cannot be read.
    """
    known, problems = set[str](), list[UnreadableObject]()
    while names := sorted(set(replica.table_names(database.name)) - known):
        for start in range(0, len(names), _TABLES_PER_CALL):
            readable, unreadable = readable_tables(replica, database.name, names[start : start + _TABLES_PER_CALL])
            problems += [problem for name, problem in unreadable.items() if policy.selects(name)]
            for table in readable:
                stamp = Stamp.parse(table.parameters.get(STAMP))
                if stamp is not None and stamp.log_id == database.parameters.get(SOURCE_LOG):
                    yield table
        known.update(names)
    if problems:
        raise together(problems, f"{len(problems)} tables of {policy.replica} cannot be read")


def _partition_names(replica: MetastoreReader, table: Table, per_call: int) -> Iterator[list[str]]:
    names: list[str] = []
    with suppress(Missing):  # dropped, or called otherwise, since it was read
        names = replica.partition_names(table.name) if table.partition_keys else []
    for start in range(0, len(names), per_call):
        yield names[start : start + per_call]


def _marks(database: Database) -> set[str]:
    """Return the keys that replication into this database has set; that it is a source of another one stays."""
    return own_marks(database.parameters).keys() - {SOURCE_FOR}
