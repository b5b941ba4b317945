"""Be a terminal in which people type the commands of policies, beside two clusters in memory."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.support.messages.memory_broker import BrokerState, MemoryBroker
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.errors import TryAgain, TwinhiveError
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.cli import check_command, operations_command, run_command, terminal
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


_MOST = 12
"""So many commands are typed, before nobody believes any more that they lead on."""


@dataclass(frozen=True)
class _Wired:
    """Be what a policy's name leads to in a terminal."""

    policy: Policy
    write_ports: Callable[[], WritePorts]


class Offered:
    """Type the commands that errors offer, as they stand, where their policies lead to worlds in memory.

    `wired` is asked for the policies each time: what people correct in a policy file counts from the next command on.
    """

    def __init__(self, wired: Callable[[], dict[str, tuple[Policy, Callable[[], WritePorts]]]]) -> None:
        self._wired = wired
        self.typed: list[str] = []

    def type(self, line: str) -> tuple[str, TwinhiveError | None]:
        """Run a command; return what it prints, and the error that it ends with, if it does."""
        program, *words = shlex.split(line)
        assert program == "twinhive"
        self.typed.append(line)
        with self._in_place() as errors:
            result: Result = CliRunner().invoke(app, words)
        assert bool(errors) == bool(result.exit_code), f"{line}: {result.output}\n{result.exception!r}"
        return result.output, errors[-1] if errors else None

    def go_on(
        self, error: TwinhiveError, is_done: Callable[[], bool], again: str = "", without: str = "--abort"
    ) -> None:
        """Type all that an error offers but what is named, then all that comes of it, until it is done.

        What is to be tried again is tried `again`, once there is nothing more to be typed.
        """
        waiting = self._offered(error, without, again)
        assert waiting, f"nothing can be typed of: {error}"
        while not is_done():
            assert waiting and len(self.typed) < _MOST, f"{self.typed}, and then nothing: {error}"
            _, found = self.type(waiting.pop(0))
            if found is not None and not waiting:
                error, waiting = found, self._offered(found, without, again)

    def _offered(self, error: TwinhiveError, without: str, again: str) -> list[str]:
        found = [one for one in error.commands if without not in one]
        return [*found, again] if again and isinstance(error, TryAgain) and again not in found else found

    @contextmanager
    def _in_place(self) -> Iterator[list[TwinhiveError]]:
        errors: list[TwinhiveError] = []

        def wiring_of(_: Path | None, policy: str, **__: object) -> _Wired:
            return _Wired(*self._wired()[policy])

        with pytest.MonkeyPatch.context() as patched:
            for module in (operations_command, run_command, check_command):
                patched.setattr(module, "wiring_of", wiring_of)
            patched.setattr(terminal, "show_error", lambda error, of="": errors.append(error))
            yield errors
