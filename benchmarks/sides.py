"""Open the two clusters that a benchmark runs on, and each side that is measured on them: Twinhive and Hive's REPL.

Both sides work in one process each, without Spark and without Airflow: the times are those of the work itself.
"""

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import Measured, load_average
from sandbox import Sandbox
from sandbox.peer import run_statements
from tests.support.policies import PolicyFiles
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from twinhive.model.policy import Policy
from twinhive.ports import WritePorts

_MANY = 1_000_000


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

    def source(self) -> ThriftSource:
        """Return the source's metastore as its users see it."""
        cluster = self.box.clusters["east"]
        return ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)


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
    """Hive's side: `REPL DUMP`, and `REPL LOAD` into `<database>_hive`; starting its driver is not counted."""

    box: Sandbox
    database: str

    @property
    def replica(self) -> str:
        """Return the name of the replica's database."""
        return f"{self.database}_hive"

    def dump(self) -> Measured:
        """Dump what the replica does not have yet."""
        return self._run("east", f"REPL DUMP {self.database}")

    def load(self) -> Measured:
        """Load the newest dump, and copy its files."""
        return self._run("west", f"REPL LOAD {self.database} INTO {self.replica}")

    def _run(self, cluster: str, statement: str) -> Measured:
        root = f"{self.box.clusters['west'].hdfs_uri}/bench/{self.database}"
        (result,) = run_statements(self.box, cluster, [f"{statement} WITH ('hive.repl.rootdir'='{root}')"])
        return Measured(result.seconds, load=load_average())


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add what every benchmark can be told."""
    parser.add_argument("--no-hive", action="store_true", help="measure Twinhive alone")
    parser.add_argument("--instance", default="bench", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
