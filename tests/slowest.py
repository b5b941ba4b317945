"""Say where the time of a run of tests went. It never fails one: what is kept down is counted (tests/unit/counts)."""

from collections import defaultdict
from dataclasses import dataclass, field

SLOWEST = 20


@dataclass
class Spent:
    """What the tests of a run have taken, in seconds, with set-up and tear-down."""

    groups: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tests: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, group: str, test: str, seconds: float) -> None:
        """Add the set-up, the call or the tear-down of a test."""
        self.groups[group] += seconds
        self.tests[test] += seconds

    def lines(self) -> list[str]:
        """Return what is printed at the end of a run."""
        sums = ", ".join(f"{group} {seconds:.0f}" for group, seconds in self.groups.items())
        slowest = sorted(self.tests.items(), key=lambda item: -item[1])[:SLOWEST]
        return [
            f"the {len(slowest)} slowest, in seconds:",
            *(f"{seconds:7.1f}  {test}" for test, seconds in slowest),
            f"seconds per group: {sums}",
        ]
