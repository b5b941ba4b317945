"""Say what a step is: a frozen value with a `run` that does one thing.

A step is built from the policy and the batch it works on, is handed its ports when it runs, and
returns a small result that people can read. Whatever another step needs is a file in the dump or
in staging, never the result alone: losing results loses no correctness.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from twinhive.domain.policy import Policy

Report = Callable[[str], None]


def _silent(line: str) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class Work:
    """What one run of a step works on.

    batch    name of the batch, '' for steps that are not mapped
    dump     name of the dump that the batch belongs to, '' for steps that are not mapped
    holder   who runs this, for the lease: run, task, try
    report   takes lines for the task's log
    """

    policy: Policy
    batch: str = ""
    dump: str = ""
    holder: dict[str, str] = field(default_factory=dict)
    report: Report = _silent
