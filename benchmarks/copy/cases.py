"""Say what is measured: which files, copied anew or brought up to date, with which options of each side."""

from dataclasses import dataclass

from benchmarks.copy.workloads import LARGE, MANY, MEDIUM, SMALL, Workload, nearly_nothing

SNAPSHOTS = "--snapshots"


@dataclass(frozen=True)
class Case:
    """One row of figures."""

    name: str
    workload: Workload
    is_update: bool = False
    """Whether the target has the files already."""
    changes: int = 0
    """How many files of the source are changed before each update."""
    ours: tuple[str, ...] = ()

    @property
    def by_snapshots(self) -> bool:
        """Return whether both sides look only at what changed between two snapshots."""
        return SNAPSHOTS in self.ours

    def __str__(self) -> str:
        how = ["nothing" if not self.changes else f"{self.changes} files", "changed"]
        what = f", {' '.join(how)}" if self.is_update else ""
        return f"{self.name} ({self.workload}{what}{', ' if self.ours else ''}{' '.join(self.ours)})"


_ALL = (
    Case("S", SMALL),
    Case("M", MEDIUM),
    Case("L", LARGE),
    Case("N", MANY, is_update=True),
    Case("N-recheck", MANY, is_update=True, ours=("--recheck",)),
    Case("N-changed", MANY, is_update=True, changes=5),
    Case("N-snapshots", MANY, is_update=True, changes=5, ours=(SNAPSHOTS,)),
)
WORKLOADS = tuple(dict.fromkeys(case.workload.name for case in _ALL))


def cases(workloads: list[str]) -> list[Case]:
    """Return the cases of the named workloads."""
    return [case for case in _ALL if case.workload.name in workloads]


def start_case(threads: int) -> Case:
    """Return the case whose wall time is that of starting."""
    return Case("start", nearly_nothing(threads))
