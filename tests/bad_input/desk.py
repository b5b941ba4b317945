"""Be the desk at which input is got wrong: a terminal, two clusters in memory, files of this machine."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.policies import PolicyFiles
from tests.support.policy_terminal import Terminal, a_terminal
from tests.support.worlds.fake_world import World
from tests.support.worlds.statements_in_memory import let_statements_reach
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.cli import copy_command

_REAL_PORTS = Wiring.write_ports


class Desk:
    """Type commands; see whether anything has changed."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.directory = directory
        self.terminal: Terminal = a_terminal(directory, patch)
        patch.setattr(copy_command, "files", self._files)
        patch.setattr(copy_command, "lease_keeper", lambda endpoint, settle: self.world.lease)
        let_statements_reach(lambda: self.world, patch)
        patch.delenv("HADOOP_CONF_DIR", raising=False)
        self.world.source_files.put("hdfs://east/data/a/file", b"content")
        self.world.source_files.put("hdfs://east/data/b/a/file", b"content")

    @property
    def world(self) -> World:
        """The clusters."""
        return self.terminal.world

    @property
    def policies(self) -> PolicyFiles:
        """The configuration."""
        return self.terminal.policies

    def with_real_connections(self) -> None:
        """Let connections be looked up as they are outside of tests."""
        self.patch.setattr(Wiring, "write_ports", _REAL_PORTS)

    def state(self) -> Any:
        """Return what no refused command may change."""
        world = self.world
        parts = (world.source, world.replica, world.source_files, world.replica_files)
        down, _ = [part for part in parts if part.down], [setattr(part, "down", False) for part in parts]
        try:
            return self._state(world)
        finally:
            for part in down:
                part.down = True

    def _state(self, world: World) -> Any:
        files = sorted(path for path in self.policies.directory.rglob("*") if path.is_file())
        return (
            [(path, path.read_bytes()) for path in files],
            world.source_files.paths(),
            world.replica_files.paths(),
            list(world.source.events),
            world.replica.current_event_id(),
            world.source.database("sales"),
            world.replica.database("sales"),
        )

    def _files(self, endpoint: FileSystemEndpoint) -> InMemoryFiles:
        known = {files.root: files for files in (self.world.source_files, self.world.replica_files)}
        return known.get(endpoint.root) or InMemoryFiles(endpoint.root)
