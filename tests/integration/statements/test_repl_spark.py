"""Let Spark make the large copies of a REPL LOAD, and kill a load in the middle."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.integration.copy.test_spark_tree import PLUGINS, command_lines, end_of, wait_until
from tests.integration.spark_sql import ONE_WORKER
from tests.support.policies import PolicyFiles
from tests.support.users.external_writer import ExternalWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.statements.execution import StatementPlace, run_statement

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]

LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
}
SPARK = SparkCluster(ONE_WORKER, 2, LOCAL)
ALL_BY_SPARK = "'hive.exec.copyfile.maxnumfiles'='0', 'hive.exec.copyfile.maxsize'='0'"
LENGTH, MANY = 40_000, 60
_PATIENCE_SECONDS = 60


@dataclass
class Statements:
    """A database on east with users at work, and statements said to both clusters."""

    policies: PolicyFiles
    users: ExternalWriter
    east: Warehouse
    west: Warehouse
    log: list[str]

    @property
    def database(self) -> str:
        return self.users.database

    def dump(self, text: str = "") -> tuple[str, int]:
        ((directory, event_id),) = self.say("east", f"REPL DUMP {self.database} {text}")
        return str(directory), int(event_id)

    def load(self, directory: str, keys: str = ALL_BY_SPARK) -> None:
        self.say("west", f"REPL LOAD {self.database} FROM '{directory}' WITH ({keys})")

    def say(self, cluster: str, text: str) -> list[tuple[str | int, ...]]:
        configuration = load_configuration(self.policies.directory)
        place = StatementPlace(configuration, resolve_from_environment, cluster, spark=lambda name, options: SPARK)
        return list(run_statement(text, place, {"run": "test"}, self.log.append).rows)

    def of_spark(self) -> list[str]:
        """Return what was said of Spark since the last look."""
        found = [line for line in self.log if "Spark" in line]
        self.log.clear()
        return found


@pytest.fixture
def statements(
    sandbox: Sandbox, east: Warehouse, west: Warehouse, policies: PolicyFiles, log: list[str]
) -> Iterator[Statements]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    users = ExternalWriter(metastore, east.files, east.create_database("spoken"))
    users.create_table("plain", files={"a b%41": b"plain", "日本": b"", "000000_0": b"x" * 100_000})
    users.create_table("parts", keys=("p",))
    users.add_partitions("parts", {("a b",): {"f": b"one"}, ("50%=#:ü",): {"g": b"two"}})
    yield Statements(policies, users, east, west, log)
    metastore.close()


@pytest.mark.nightly(
    "tests/integration/in_airflow/test_airflow.py::test_the_copies_went_through_spark_and_compared_what_they_copied",
    "tests/unit/statements/execution/test_spark_copies.py",
)
def test_what_is_much_is_copied_by_spark(statements: Statements, east: Warehouse, west: Warehouse) -> None:
    users, database, base = statements.users, statements.database, f"/outside/{statements.database}"
    location = f"{east.cluster.hdfs_uri}/given/{database}"
    for name, content in {"f 1": b"one", "d/f2": b"two"}.items():
        east.files.write(f"{location}/{name}", content)
    users.create_external("outside", location=location)
    keys = f"'hive.repl.replica.external.table.base.dir'='{base}'"
    directory, event_id = statements.dump(f"WITH ({keys}, 'hive.repl.dump.metadata.only.for.external.table'='false')")
    statements.load(directory, f"{keys}, {ALL_BY_SPARK}")
    managed, external = statements.of_spark()
    assert "are copied by Spark" in managed and base in external
    assert_equal_twin(east, database, west)
    assert west.files.read(f"{west.cluster.hdfs_uri}{base}/given/{database}/d/f2") == b"two"

    users.insert("plain", None, {"more": b"more"})
    users.add_partitions("parts", {("c",): {"h": b"three"}})
    directory, _ = statements.dump(f"FROM {event_id} WITH ('hive.repl.include.external.tables'='false')")
    statements.load(directory, "'hive.exec.copyfile.maxnumfiles'='1000'")
    assert not statements.of_spark(), "little is copied by the statement itself"
    assert_equal_twin(east, database, west)


@pytest.fixture
def start(policies: PolicyFiles, tmp_path: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Begin `twinhive sql` in a process of its own."""
    (tmp_path / "tmp").mkdir()

    def started(statement: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "twinhive.surfaces.cli.app", "sql", statement, "--cluster", "west"]
        command += ["--config", str(policies.directory), "--spark", SPARK.master, "--tasks", "2"]
        command += [word for key, value in LOCAL.items() for word in ("--spark-conf", f"{key}={value}")]
        places = {"PYTHONPATH": str(PLUGINS), "TMPDIR": str(tmp_path / "tmp"), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment = {**os.environ, **places}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=environment, text=True, **streams)  # type: ignore[call-overload, no-any-return]

    return started


@pytest.mark.nightly(
    "tests/unit/runtime/spark/test_submitter_lock.py::test_a_killed_submitter_lets_go",
    "tests/unit/statements/phases/test_repl_killed.py::test_a_load_killed_at_any_change_and_run_again_converges",
)
def test_a_killed_load_takes_its_spark_job_along_and_is_continued(
    statements: Statements, west: Warehouse, start, tmp_path: Path
) -> None:
    users, database = statements.users, statements.database
    users.create_table("many", files={f"{number:03}": b"%07d\n" % number * (LENGTH // 8) for number in range(MANY)})
    directory, _ = statements.dump()
    staging = f"{west.cluster.hdfs_uri}/twinhive/staging/repl.west.{database}"
    load = f"REPL LOAD {database} FROM '{directory}' WITH ({ALL_BY_SPARK}%s)"
    first = start(load % ", 'twinhive.bandwidth.mb'='0.3'")
    wait_until(lambda: staged(west, staging) > 10, first)
    first.kill()
    first.communicate()
    until = time.monotonic() + _PATIENCE_SECONDS
    while jobs := [pid for pid, words in command_lines() if f"{tmp_path}/tmp/twinhive-copy-" in words]:
        assert time.monotonic() < until, f"the Spark job has outlived the statement: {jobs}"
        time.sleep(0.1)
    assert not list((tmp_path / "tmp").glob("**/settings.json")), "it may hold secrets"
    before = staged(west, staging)
    assert 10 < before < MANY

    said = end_of(start(load % ""))
    assert "were staged before" in said
    assert_equal_twin(statements.east, database, west)


def staged(west: Warehouse, directory: str) -> int:
    """Return how many files of the large table are whole in staging."""
    count, waiting = 0, [directory]
    while waiting:
        listed = list(west.files.list_directories(waiting))
        waiting = [child.path for _, children in listed for child in children or () if child.is_directory]
        count += sum(child.length == LENGTH for _, children in listed for child in children or ())
    return count
