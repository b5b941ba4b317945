"""A replica on which changes are only pretended: its metastore remembers them, and files are taken to be placed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from twinhive.apply.function_files import FunctionSources
from twinhive.apply.open_target import open_target
from twinhive.apply.placing import Contents, Placing
from twinhive.apply.target import Target
from twinhive.model.files import FileStatus
from twinhive.model.objects import Function
from twinhive.model.policy import Policy
from twinhive.ports import Lease, WritePorts


def pretended_target(ports: WritePorts, policy: Policy, log_id: str, lease: Lease) -> Target:
    """Return the replica of a policy over ports that pretend."""
    target = open_target(ports, policy, log_id, lease)
    functions = target.functions
    return replace(
        target,
        placing=cast(Placing, _Placed()),
        functions=_FunctionsLookedAt(functions.files, functions.policy, functions.kept_in),
    )


class _Placed:
    """Take all files to be copied and placed: whether they are is seen by who copies them."""

    def place_ahead(self, contents: Sequence[Contents], own: Callable[[str], None]) -> None:
        for directory in sorted({directory for directory, _ in contents}):
            own(directory)

    def place(self, *given: Any) -> None: ...

    def place_all(self, *given: Any) -> None: ...

    def append_all(self, *given: Any) -> None: ...


class _FunctionsLookedAt(FunctionSources):
    """Look for the files of functions, and take none along."""

    def all_of(self, function: Function) -> Iterator[tuple[str, FileStatus]]:
        looked_at = tuple(super().all_of(function))  # says what is missing
        return iter(looked_at[:0])
