"""Run `twinhive` as scripts do, a process a command, against two real clusters: one document, and the exit code."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse

pytestmark = pytest.mark.sandbox

PROGRAM = (sys.executable, "-c", "import twinhive.surfaces.cli.app; twinhive.surfaces.cli.app.main()")


class Shell:
    """Type commands, each in a process of its own."""

    def __init__(self, policies: PolicyFiles, environment: dict[str, str]) -> None:
        self.policies = policies
        self.environment = environment

    def document(self, *words: str, code: int = 0) -> Any:
        """Return the one document that a command prints."""
        command = (*PROGRAM, *words, "--json", "--config", str(self.policies.directory))
        ended = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        assert ended.returncode == code, ended.stderr
        assert "\x1b" not in ended.stdout + ended.stderr
        return json.loads(ended.stdout)


@pytest.fixture
def users(sandbox: Sandbox, east: Warehouse) -> Iterator[SourceWriter]:
    cluster = sandbox.clusters["east"]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    users = SourceWriter(metastore, east.files, east.create_database("typed"))
    users.create_table("orders", keys=("p",))
    users.add_partitions("orders", {("a b",): {"f1": b"one"}})
    users.create_table("plain", files={"data": b"plain"})
    yield users
    metastore.close()


@pytest.fixture
def shell(sandbox: Sandbox, policies: PolicyFiles) -> Shell:
    return Shell(policies, {**os.environ, **sandbox.environment(), "PYTHONPATH": os.pathsep.join(sys.path)})


def test_a_policy_from_its_check_to_its_first_window(users: SourceWriter, shell: Shell) -> None:
    sales = shell.policies.add(users.database)
    (checked,) = shell.document("check", sales, "--servers")["policies"]
    assert (checked["policy"], checked["problems"]) == (sales, [])
    assert any("notification log: readable" in line for line in checked["servers"])
    planned = shell.document("plan", sales, "bootstrap")
    assert (planned["tables"], planned["files"], planned["refused"]) == (2, 2, False)
    loaded = shell.document("run", sales, "bootstrap")["results"]["load"]
    assert (loaded["tables"], loaded["files"]) == (2, 2)

    users.rename_table("plain", "plainer")
    (event,) = [one for one in shell.document("events", sales)["events"] if one["event_type"] == "ALTER_TABLE"]
    assert event["subject"] == f"{sales}.plain -> {sales}.plainer" and event["why_not"] is None
    assert shell.document("status", sales)["lag_events"] == 1
    shell.document("run", sales, "incremental")
    assert shell.document("status", sales)["lag_events"] == 0


@pytest.mark.thorough
def test_a_dead_metastore_hides_no_other_policy_and_is_an_exit_code(users: SourceWriter, shell: Shell) -> None:
    sales = shell.policies.add(users.database)
    directory = shell.policies.directory / "clusters.yaml"
    north = "  north:\n    metastore: {uris: ['thrift://127.0.0.1:1'], timeout_seconds: 5}\n"
    north += "    file_system: {connection: east_hdfs}\n    job_tracker: {connection: east_spark}\n"
    directory.write_text(directory.read_text() + north)
    shell.policies.add("dead", source={"cluster": "north", "database": "dead"})
    found = {one["policy"]: one for one in shell.document("status", code=3)["policies"]}
    assert (found["dead"]["phase"], found[sales]["phase"]) == ("unreachable", "absent")
    assert found["dead"]["error"]["family"] == "try_again"
    checked = {one["policy"]: one["problems"] for one in shell.document("check", "--servers", code=3)["policies"]}
    assert checked[sales] == [] and checked["dead"]
