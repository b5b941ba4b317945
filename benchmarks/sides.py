"""Open the two clusters that a benchmark runs on, and each side that is measured on them: Twinhive and Hive's REPL.

Both sides work in one process each, without Spark and without Airflow: the times are those of the work itself.
"""

import argparse
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import Measured, load_average
from sandbox import Sandbox
from sandbox.hive.peer import run_statements
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts

_MANY = 1_000_000
_A_CALL = 250


@dataclass(frozen=True)
class Clusters:
    """One running sandbox; databases are made on `east` and replicated to `west`."""

    box: Sandbox
    east: Warehouse
    west: Warehouse

    @classmethod
    def start(cls, instance: str) -> "Clusters":
        """Start both clusters, and let this process find them."""
        box = Sandbox.open(instance)
        box.up()
        os.environ.update(box.environment())
        return cls(box, Warehouse(box.clusters["east"]), Warehouse(box.clusters["west"]))

    def source(self, name: str = "east") -> ThriftSource:
        """Return a cluster's metastore as its users see it, by default the source's."""
        cluster = self.box.clusters[name]
        return ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)

    def users(self, name: str, database: str) -> SourceWriter:
        """Return the users of a database on a cluster."""
        return SourceWriter(self.source(name), {"east": self.east, "west": self.west}[name].files, database)


@dataclass(frozen=True)
class Twinhive:
    """Our side: a policy that replicates a database into `<database>_ours`."""

    policy: Policy
    ports: WritePorts

    @classmethod
    def of(cls, database: str) -> "Twinhive":
        """Write the policy's file, and build its adapters."""
        files = PolicyFiles(Path(tempfile.mkdtemp(prefix="twinhive-")) / "config")
        # One window for the whole history, copied as a step of its own.
        options = {"copy_threads": 16, "batch_objects": 2000, "window_events": _MANY, "spark_above_files": 0}
        wiring = files.wiring(files.add(database, replica=f"{database}_ours", options=options))
        return cls(wiring.policy, wiring.write_ports())

    @property
    def replica(self) -> str:
        """Return the name of the replica's database."""
        return self.policy.replica.database


@dataclass(frozen=True)
class HiveRepl:
    """Hive's side: `REPL DUMP` and `REPL LOAD`; starting its driver is not counted.

    It leads from one cluster to the other, into a database named `<database>_hive` unless it is said.
    """

    box: Sandbox
    database: str
    into: str | None = None
    source: str = "east"
    target: str = "west"

    @property
    def replica(self) -> str:
        """Return the name of the replica's database."""
        return self.into or f"{self.database}_hive"

    def dump(self, **settings: str) -> Measured:
        """Dump what the replica does not have yet."""
        return self._run(self.source, f"REPL DUMP {self.database}", settings)

    def load(self, **settings: str) -> Measured:
        """Load the newest dump, and copy its files."""
        return self._run(self.target, f"REPL LOAD {self.database} INTO {self.replica}", settings)

    def _run(self, cluster: str, statement: str, settings: Mapping[str, str]) -> Measured:
        root = f"{self.box.clusters['west'].hdfs_uri}/bench/{self.database}_from_{self.source}"
        words = ", ".join(f"'{key}'='{value}'" for key, value in {"hive.repl.rootdir": root, **settings}.items())
        (result,) = run_statements(self.box, cluster, [f"{statement} WITH ({words})"])
        return Measured(result.seconds, load=load_average())


def add_days(users: SourceWriter, table: str, partitions: int, size: int) -> None:
    """Make a table partitioned by `day`, a file of so many bytes in each of its partitions."""
    users.create_table(table, keys=("day",))
    for start in range(0, partitions, _A_CALL):
        days = range(start, min(start + _A_CALL, partitions))
        users.add_partitions(table, {(f"{day:06d}",): {"data": b"x" * size} for day in days})


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add what every benchmark can be told."""
    parser.add_argument("--no-hive", action="store_true", help="measure Twinhive alone")
    parser.add_argument("--instance", default="bench", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
