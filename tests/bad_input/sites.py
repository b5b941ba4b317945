"""Find in the code where bad input is refused, and see which of these places a case reaches."""

import ast
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import typer

import twinhive
from tests.support.parsed_modules import nodes_of
from twinhive.core.model import errors

PACKAGE = Path(twinhive.__file__).parent
_ALL = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.TwinhiveError)
}
_ACT_NOW = {name for name in _ALL if issubclass(getattr(errors, name), errors.ActNow)}
# What servers say is completed by whoever asked them; the monitor's error is made of the errors of policies.
_UNFINISHED = ("hive/adapters/", "runtime/dry_run/pretended_", "surfaces/airflow/dags/monitor_dag.py")
_REFUSALS = {"InvalidSettings", "BadParameter"}
# Modules that look at the state of clusters before anything is changed: whatever they refuse is bad input.
_CHECKS = (
    "replication/bootstrap/preflight.py",
    "replication/external_tables/check_base.py",
    "replication/replica/base_claim.py",
    "replication/bootstrap/gate.py",
    "replication/replica/replica_state.py",
)


@dataclass(frozen=True, order=True)
class Site:
    """A place in the code that makes an error."""

    module: str
    line: int
    last: int
    kind: str
    what: str
    lacks: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.kind}: {self.what}"


def sites(*parts: str) -> Iterator[Site]:
    """Yield the places that refuse input: all that make InvalidSettings, and every error of the modules that check.

    `parts` are the beginnings of the modules' paths; without them, everything but Airflow's edge.
    """
    for path in sorted(PACKAGE.rglob("*.py")):
        module = str(path.relative_to(PACKAGE))
        if module.startswith(parts) if parts else not module.startswith("surfaces/airflow"):
            yield from _sites_of(path, module)


def turns_of_people() -> Iterator[Site]:
    """Yield the places that make an error for which a person must act: those above the adapters."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = str(path.relative_to(PACKAGE))
        if not module.startswith(_UNFINISHED):
            yield from _sites_of(path, module, _ACT_NOW)


def _sites_of(path: Path, module: str, kinds: Collection[str] = ()) -> Iterator[Site]:
    kinds = kinds or _REFUSALS | (_ALL if module in _CHECKS else set())
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and (kind := _name(node.func)) in kinds and node.args:
            lacks = sorted({"found", "expected", "next_step"} - {keyword.arg for keyword in node.keywords})
            what = ast.unparse(node.args[0])[:120]
            yield Site(module, node.lineno, node.end_lineno or node.lineno, kind, what, tuple(lacks))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@contextmanager
def made_errors() -> Iterator[set[tuple[str, int]]]:
    """Note the module and the line of each error that is made."""
    seen: set[tuple[str, int]] = set()

    def noting(original: Any) -> Any:
        def make(self: Any, *args: Any, **kwargs: Any) -> None:
            caller = sys._getframe(1)
            path = Path(caller.f_code.co_filename)
            if path.is_relative_to(PACKAGE):
                seen.add((str(path.relative_to(PACKAGE)), caller.f_lineno))
            original(self, *args, **kwargs)

        return make

    kinds = (errors.TwinhiveError, typer.BadParameter)
    with (
        mock.patch.object(kinds[0], "__init__", noting(kinds[0].__init__)),
        mock.patch.object(kinds[1], "__init__", noting(kinds[1].__init__)),
    ):
        yield seen


def reached(site: Site, seen: set[tuple[str, int]]) -> bool:
    """True when an error was made at a place."""
    return any(module == site.module and site.line <= line <= site.last for module, line in seen)
