"""Say statements to two clusters in memory."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world
from tests.support.worlds.statements_in_memory import let_statements_reach
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.statements.execution import StatementPlace, plan_statement, run_statement


class Speaker:
    """Be somebody who says statements to the clusters east, the source, and west, the replica."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.world: World = a_world()
        self.policies = PolicyFiles(directory)
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.log: list[str] = []
        # The external table of the world's source has no base directory here.
        self.without_external = "WITH ('hive.repl.include.external.tables'='false')"
        let_statements_reach(lambda: self.world, patch)

    def place(self, cluster: str | None = None, policy: str | None = None) -> StatementPlace:
        """Return where a statement is said."""
        return StatementPlace(load_configuration(self.policies.directory), resolve_from_environment, cluster, policy)

    def say(self, text: str, cluster: str | None = None, policy: str | None = None) -> list[tuple[Any, ...]]:
        """Run a statement; return the rows of its answer."""
        return list(run_statement(text, self.place(cluster, policy), {"run": "test"}, self.log.append).rows)

    def plan(self, text: str, cluster: str | None = None, policy: str | None = None) -> list[str]:
        """Return what a statement would do."""
        return plan_statement(text, self.place(cluster, policy))

    def dump(self, text: str = "REPL DUMP sales") -> tuple[str, int]:
        """Run a REPL DUMP at the source without external tables; return its directory and event."""
        ((directory, event_id),) = self.say(f"{text} {self.without_external}", "east")
        return directory, event_id
