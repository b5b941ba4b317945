"""What is replicated where: one database of one source into one replica."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from twinhive.core.model.external.modes import External
from twinhive.core.model.failover.fence import QUIET_SECONDS, FenceRules
from twinhive.core.model.files import copying_weight, join
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.model.sets.own_tables import OWN_TABLES

EVERY_EVENT, WINDOW_END = "every_event", "window_end"


@dataclass(frozen=True)
class DatabaseAddress:
    """A database on a named cluster."""

    cluster: str
    database: str

    def __str__(self) -> str:
        return f"{self.cluster}/{self.database}"


FUNCTION_DIRECTORIES = (
    "/apps/hive",
    "/jars",
    "/udf",
    "/udfs",
    "/user/hive/auxlib",
    "/user/hive/jars",
    "/user/hive/lib",
    "/user/hive/udf",
    "/user/hive/udfs",
)
"""Where jars of functions usually lie. No warehouse is among them: its files are not for everybody."""


@dataclass(frozen=True)
class Options:
    """Tuning of one policy: the keys of `options` in its file, which `settings.options.OptionsSettings` explains.

    Every default is the safe one, also for those who write no file.
    """

    batch_objects: int = 2_000
    batch_bytes: int = 64 * 2**30
    copy_threads: int = 8
    spark_tasks: int = 2
    large_spark_tasks: int = 8
    parallel_copies: int = 4
    bandwidth_mb: float | None = None
    partitions_per_call: int = 1_000
    window_events: int = 10_000
    window_bytes: int = 64 * 2**20
    window_partitions: int = 100_000
    spark_above_files: int = 500
    spark_above_bytes: int = 2**30
    rest_events: int = 10_000
    most_rounds: int = 20
    consistency: Literal["every_event", "window_end"] = "every_event"
    on_object_error: Literal["stop", "quarantine"] = "stop"
    silent_writes: Literal["follow", "report", "fail"] = "follow"
    permissions: Literal["replica", "source"] = "replica"
    settle_seconds: int = 60
    second_look_seconds: int = 900
    grace_seconds: int = 6 * 3600
    parallelism: int = 8
    approx_max_load_tasks: int | None = None
    external_weight: int = 16 * 2**30
    function_directories: tuple[str, ...] = FUNCTION_DIRECTORIES
    function_file_bytes: int = 2**30
    spark_conf: Mapping[str, str] = field(default_factory=dict)

    def is_small(self, files: int, length: int) -> bool:
        """True for files, with so many bytes together, that are copied before Spark would have begun."""
        return files <= self.spark_above_files and length <= self.spark_above_bytes

    @property
    def bytes_per_second(self) -> float | None:
        """What all copies of a run may move together; None: no limit."""
        return self.bandwidth_mb * 1_000_000 if self.bandwidth_mb else None

    def spark_tasks_for(self, files: int, length: int, wanted: int) -> int:
        """Return how many Spark tasks a batch gets: more for one that weighs more than was wanted, 0 for unknown."""
        times = copying_weight(files, length) // wanted if wanted else 1
        return max(self.spark_tasks, min(self.spark_tasks * times, self.large_spark_tasks))

    def bytes_per_second_of_a_spark_task(self, tasks: int) -> float | None:
        """The share of one of a job's tasks when all jobs of a run are there; none gets more when fewer are."""
        whole = self.bytes_per_second
        return whole / (self.parallel_copies * tasks) if whole else None


@dataclass(frozen=True)
class Policy:
    """One database of a source cluster followed into one database of a replica cluster.

    `include` and `exclude` are regular expressions that must match a whole table name, in any
    case (seed 002, 'Replication policy'). `fingerprint` identifies the text of the policy file:
    a dump made under another text is not loaded. `dump_directory` is where the dumps of a statement lie, ''
    for a policy whose dumps lie below its dump root.

    `fence` says how writers are kept away from the source while the replica takes over, and `quiet_seconds` for how
    long its log must tell nothing before.

    A placement is one as well: `source` and `replica` are then two clusters of one metastore, and the same database;
    `copies` says what is kept there of its tables.
    """

    name: str
    source: DatabaseAddress
    replica: DatabaseAddress
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    dump_root: str
    staging_root: str
    external: External = field(default_factory=External)
    options: Options = Options()
    fingerprint: str = ""
    dump_directory: str = ""
    copies: KeptCopies | None = None
    fence: FenceRules = field(default_factory=FenceRules)
    quiet_seconds: float = QUIET_SECONDS

    def selects(self, table: str) -> bool:
        """True when the table's name is in the policy's scope. Sets have a way of their own, marks of copies none."""
        if table.lower() in OWN_TABLES:
            return False
        return is_named(table, self.include) and not is_named(table, self.exclude)

    def follows(self, name: TableName) -> bool:
        """True for a table of the source database whose name is in the policy's scope."""
        return name.database == self.source.database and self.selects(name.table)

    def followed(self, names: Iterable[TableName]) -> set[str]:
        """Return the tables among these that the policy follows: those of other databases are others, whatever name."""
        return {name.table for name in names if self.follows(name)}

    def left_out(self, table: Table) -> str | None:
        """Say why a table of the scope is not replicated, None for one that is."""
        if table.is_external and not self.external.included:
            return "external table: the policy leaves them out"
        return table.kind.why_left_out

    def replicates(self, table: Table) -> bool:
        """True for a table or view that the policy brings over, whichever side it was read at.

        All else in the databases of both sides is other people's: a stamp on it is no proof that it came from here.
        """
        return self.selects(table.name.table) and self.left_out(table) is None

    def on_replica(self, name: TableName) -> TableName:
        """Return the replica's name of a source table."""
        return TableName(self.replica.database, name.table)

    @property
    def dumps(self) -> str:
        """Directory that holds this policy's dumps, on the dump root's file system."""
        return self.dump_directory or join(self.dump_root, self.name)

    @property
    def staging(self) -> str:
        """Directory on the replica where this policy's files wait to be renamed in."""
        return join(self.staging_root, self.name)


def is_named(table: str, patterns: tuple[str, ...]) -> bool:
    """True when a regular expression matches the whole name of a table, in any case (seed 002)."""
    return any(re.fullmatch(pattern, table, re.IGNORECASE) for pattern in patterns)
