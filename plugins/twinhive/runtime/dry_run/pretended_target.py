"""A replica on which changes are only pretended: its metastore remembers them, and files are taken to be placed."""

from collections.abc import Iterator
from dataclasses import replace

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.files import FileStatus
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Function
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, WritePorts
from twinhive.replication.apply.file_moves import Placing
from twinhive.replication.apply.function_files import FunctionSources
from twinhive.replication.apply.open_target import open_target
from twinhive.replication.apply.target import Target


def pretended_target(ports: WritePorts, policy: Policy, log_id: str, lease: Lease) -> Target:
    """Return the replica of a policy over ports that pretend."""
    target = open_target(ports, policy, log_id, lease)
    functions = target.functions
    return replace(
        target,
        placing=_PretendedPlacing(ports.replica_files, ports.source_files, policy.staging),
        functions=_FunctionsLookedAt(functions.files, functions.policy, functions.kept_in),
    )


class _PretendedPlacing(Placing):
    """Take all files to be copied and placed: whether they are is seen by who copies them."""

    def _move_ahead(self, file: SourceFile, target: str) -> None:
        """Move nothing: nothing is staged."""

    def _move(self, table: TableName, file: SourceFile, target: str) -> None:
        """Move nothing: nothing is staged."""


class _FunctionsLookedAt(FunctionSources):
    """Look for the files of functions, and take none along."""

    def all_of(self, function: Function) -> Iterator[tuple[str, FileStatus]]:
        tuple(super().all_of(function))  # says what is missing
        return iter(())
