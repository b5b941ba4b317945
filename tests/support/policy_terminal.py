"""Be a terminal in which people type the commands of policies, beside two clusters in memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world
from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.cli.app import app
from twinhive.surfaces.cli.sets import sets_command as sets


class Terminal:
    """Be a terminal whose configuration leads to a world in memory."""

    def __init__(self, policies: PolicyFiles, world: World) -> None:
        self.world = world
        self.policies = policies
        self.broker = BrokerState()
        self.users = SourceWriter(world.source, world.source_files, "sales")

    def type(self, *words: str, code: int = 0) -> str:
        """Run a command and return what it prints; its exit code is checked."""
        result: Result = CliRunner().invoke(app, [*words, "--config", str(self.policies.directory)])
        assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
        return result.output + result.stderr if code else result.output

    def document(self, *words: str, code: int = 0) -> Any:
        """Run a command for a script: standard output is one document, and nothing else."""
        result: Result = CliRunner().invoke(app, [*words, "--json", "--config", str(self.policies.directory)])
        assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
        return json.loads(result.stdout)


def a_terminal(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal with the policy `sales`, whose replica is not there yet."""
    world = a_world()
    for cluster in ("east", "west"):
        hdfs = {"conn_type": "hdfs", "extra": {"uri": f"hdfs://{cluster}"}}
        monkeypatch.setenv(f"AIRFLOW_CONN_{cluster.upper()}_HDFS", json.dumps(hdfs))
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: world.ports())
    sides = {"east": world.source, "west": world.replica}
    monkeypatch.setattr(sets, "cluster_metastore", lambda configuration, cluster, resolve: sides[cluster])
    policies = PolicyFiles(directory / "config")
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    terminal = Terminal(policies, world)
    monkeypatch.setattr(MessagesWiring, "metastore", lambda wiring: sides[wiring.cluster])
    monkeypatch.setattr(MessagesWiring, "broker", lambda wiring, reads=False: MemoryBroker(terminal.broker))
    return terminal
