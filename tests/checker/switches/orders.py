"""Build operations as whoever runs them does; nobody waits in memory."""

from dataclasses import fields
from typing import Any

from tests.checker.switches.two_sides import HOLDER
from twinhive.core.model.policy import Policy


def at_once(seconds: float) -> None:
    """Wait for nothing."""


def an_operation(kind: type[Any], policy: Policy, *arguments: Any, **told: Any) -> Any:
    """Return an operation on a policy, told of what else there is for its kind to be told."""
    known = {one.name for one in fields(kind)}
    wanted = {"holder": HOLDER, "wait": at_once, **told}
    return kind(policy, *arguments, **{name: value for name, value in wanted.items() if name in known})
