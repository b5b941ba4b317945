"""Say where the time of a run went, and let it fail when a group takes half as long again as it may.

The budgets are seconds on two quiet cores. On a busy or slower machine they grow: by what the host has given to others
of the time that we wanted (`steal` of `/proc/stat`), or by how long a fixed piece of work takes that is timed every ten
seconds.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.lanes import Lane

BUDGETS = {
    Lane.ALONE: {"unit": 600, "dags": 260},
    Lane.AIRFLOW: {"integration": 700},
    Lane.SPARK: {"contracts": 480, "integration": 380},
    Lane.SERVERS: {"integration": 800, "scenarios": 60},
}
"""Seconds of each group of a lane of `make test`, by its directory, while the other lanes take their share."""
SLOWEST = 20
_EVERY = 10.0
_WORK = 1_000_000
_QUIET = 0.027
"""Seconds that `_WORK` additions take on a quiet core of the machine that the budgets are from."""
_STAT = Path("/proc/stat")


@dataclass
class Spent:
    """What the tests of a run have taken, in seconds; `began` is what `_ticks` said when it began.

    lane  the lane that the run is, None for a run of tests of any lanes: what it may take is the sum of theirs
    """

    lane: Lane | None = None
    groups: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tests: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    slowness: list[float] = field(default_factory=list)
    looked: float = -_EVERY
    began: tuple[float, float] = field(default_factory=lambda: _ticks())

    def add(self, group: str, test: str, seconds: float) -> None:
        """Add the set-up, the call or the tear-down of a test."""
        self.groups[group] += seconds
        self.tests[test] += seconds
        if (now := time.monotonic()) - self.looked > _EVERY:
            self.looked = now
            self.slowness.append(_seconds_of_work() / _QUIET)

    @property
    def factor(self) -> float:
        """How many times slower this machine is than a quiet one; never below one."""
        stolen, used = (now - then for now, then in zip(_ticks(), self.began, strict=True))
        return max(1.0, median(self.slowness or [1.0]), 1.0 + stolen / used if used else 1.0)

    def over(self) -> list[str]:
        """Return the groups that are past their budgets by half."""
        return [
            f"{group}: {seconds:.0f} s, {allowed:.0f} s are its budget here: see the slowest above"
            for group, seconds in self.groups.items()
            if seconds > 1.5 * (allowed := budget_of(group, self.lane) * self.factor)
        ]

    def lines(self) -> list[str]:
        """Return what is printed at the end of a run."""
        sums = ", ".join(f"{group} {seconds:.0f}" for group, seconds in self.groups.items())
        slowest = sorted(self.tests.items(), key=lambda one: -one[1])[:SLOWEST]
        return [
            f"the {len(slowest)} slowest, in seconds:",
            *(f"{seconds:7.1f}  {test}" for test, seconds in slowest),
            f"seconds per group: {sums}; this machine is {self.factor:.1f} times as slow as a quiet one",
        ]


def budget_of(group: str, lane: Lane | None) -> int:
    """Return the seconds of a group in a lane; None: in all of them together."""
    lanes = Lane if lane is None else (lane,)
    return sum(BUDGETS[one].get(group, 0) for one in lanes)


def _seconds_of_work() -> float:
    # The wall clock: time in which the core works for others counts.
    begin = time.perf_counter()
    sum(range(_WORK))
    return time.perf_counter() - begin


def _ticks() -> tuple[float, float]:
    """Return how long the processors were given to others while we wanted them, and how long they worked for us."""
    if not _STAT.exists():
        return 0.0, 0.0
    user, nice, system, _, _, irq, softirq, steal = map(float, _STAT.read_text(encoding="ascii").split()[1:9])
    return steal, user + nice + system + irq + softirq
