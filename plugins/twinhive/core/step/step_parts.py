"""A step that is done in several parts, one after the other, in one task: the pipeline names each of them."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.step_base import Work


class RunOfParts(Protocol):
    """What the parts of one run hand on: each returns it with what it has found out; frozen.

    Whoever gives it a result ends the run: the parts after it have nothing to do.
    """

    @property
    def result(self) -> Any:
        """What the step returns, None while there is more to do."""
        ...


@dataclass(frozen=True)
class PolicyRun:
    """What a run of a policy's step begins with; what is entered into `held` ends with the run."""

    work: Work
    ports: WritePorts
    held: ExitStack

    @property
    def policy(self) -> Policy:
        """Whose run it is."""
        return self.work.policy


@dataclass(frozen=True)
class LeasedRun(PolicyRun):
    """A run that takes the policy's lease for its rest."""

    taken: Lease | None = None

    @property
    def lease(self) -> Lease:
        """The policy's lease, once it is taken."""
        assert self.taken is not None, "the lease is taken first"
        return self.taken


RunT = TypeVar("RunT", bound=RunOfParts)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Parts(Generic[RunT, ResultT]):
    """The parts of a step, and what their first one is given; what is entered into the stack ends with the run."""

    begin: Callable[[Work, WritePorts, ExitStack], RunT]
    parts: tuple[Callable[[RunT], RunT], ...]

    def __call__(self, work: Work) -> "StepOfParts[RunT, ResultT]":
        return StepOfParts(work, self)


@dataclass(frozen=True)
class StepOfParts(Generic[RunT, ResultT]):
    """A step that runs its parts until one of them has a result."""

    work: Work
    of: Parts[RunT, ResultT]

    def run(self, ports: WritePorts) -> ResultT:
        """Return the result. Raises what the parts raise."""
        with ExitStack() as held:
            run = self.of.begin(self.work, ports, held)
            for part in self.of.parts:
                run = part(run)
                if run.result is not None:
                    return cast(ResultT, run.result)
        raise AssertionError("the last part has a result")
