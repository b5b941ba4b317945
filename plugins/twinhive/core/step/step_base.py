"""What a step is: a frozen value with a `run` that does one thing.

A step is built from the policy and the batch it works on, is handed its ports when it runs, and
returns a small result that people can read. Whatever another step needs is a file in the dump or
in staging, never the result alone: losing results loses no correctness.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text

Report = Callable[[Text], None]


class Then(Enum):
    """What follows from the result of a step; a result without `then` lets its phase go on."""

    GO_ON = "the stages after it"
    END = "nothing: there is nothing to do for the stages after it"
    AGAIN = "the same phase from its beginning, in another run"

    @classmethod
    def of(cls, result: object) -> "Then":
        """Return what a step's result says."""
        said = getattr(result, "then", cls.GO_ON)
        assert isinstance(said, cls)
        return said


class Detail(str):
    """A line of which there may be very many; where logs can fold, it is folded under the title `of`."""

    of: str

    def __new__(cls, of: str, line: str) -> "Detail":
        """Return the line, with what it is a detail of."""
        detail = super().__new__(cls, line)
        detail.of = of
        return detail

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what a copy of it is made from."""
        return self.of, str(self)


def _silent(line: Text) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class Work:
    """What one run of a step works on.

    batch    name of the batch, '' for steps that are not mapped
    dump     name of the dump that the batch belongs to, '' for steps that are not mapped
    holder   who runs this, for the lease: run, task, try
    report   takes lines for the task's log
    is_last_try   nothing repeats this work by itself when it fails
    part_of  the larger work that this step is a part of, None for none: the kind that it holds the lease as
    """

    policy: Policy
    batch: str = ""
    dump: str = ""
    holder: dict[str, str] = field(default_factory=dict)
    report: Report = _silent
    is_last_try: bool = True
    part_of: LeaseKind | None = None
