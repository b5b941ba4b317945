"""Be each side of the comparison, so that both can be run in turn on the same case."""

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.copy import ours, peers, snapshots
from benchmarks.copy.cases import Case
from sandbox import Sandbox
from sandbox.hadoop.job_history import MapPhase
from sandbox.paths import CHECKOUT
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient


@dataclass(frozen=True)
class Stage:
    """Both file systems, and how many files are copied at the same time."""

    box: Sandbox
    source: HadoopClient
    target: HadoopClient
    threads: int


class Side(ABC):
    """Copy the files of a case into a directory of the side's own."""

    name: str

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def target(self, case: Case) -> str:
        """Return the directory to copy into."""
        return f"/bench/copies/{self.name.lower()}/{case.workload.name}"

    @abstractmethod
    def copy(self, case: Case) -> None:
        """Copy into a directory that does not exist."""

    @abstractmethod
    def update(self, case: Case) -> None:
        """Bring the directory up to date."""

    def before_update(self, case: Case) -> None:  # noqa: B027 (only DistCp needs preparation)
        """Do what a user of this side has to do himself before an update; it is not measured."""

    def after_copy(self, case: Case) -> None:  # noqa: B027
        """Do what a user of this side has to do himself after a copy or an update; it is not measured."""

    def _uris(self, case: Case) -> tuple[str, str]:
        return f"{self.stage.source.root}{case.workload.path}", f"{self.stage.target.root}{self.target(case)}"


class Twinhive(Side):
    """Our side; it looks after its snapshots itself."""

    name = "Twinhive"
    checkout = CHECKOUT

    def copy(self, case: Case) -> None:
        """Copy into a directory that does not exist."""
        cluster = self.stage.box.clusters["west"]
        properties, options = cluster.hadoop_properties, case.ours
        ours.copy_tree(*self._uris(case), self.stage.threads, properties, cluster.user, options, self.checkout)

    def update(self, case: Case) -> None:
        """Bring the directory up to date: the same command."""
        self.copy(case)


class OtherVersion(Twinhive):
    """The command of another checkout, an earlier one for example."""

    name = "Other"

    def __init__(self, stage: Stage, checkout: Path) -> None:
        super().__init__(stage)
        self.checkout = checkout


class DistCp(Side):
    """The peer, on YARN; its user makes the snapshots for `-diff`."""

    name = "DistCp"

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._updates: Counter[str] = Counter()
        self.maps: dict[str, MapPhase | None] = {}
        """When the maps of the last run of a case worked."""

    def copy(self, case: Case) -> None:
        """Copy into a directory that does not exist."""
        self._run(case)

    def update(self, case: Case) -> None:
        """Bring the directory up to date."""
        number = self._updates[case.name]
        between = ("-diff", f"distcp-{number - 1}", f"distcp-{number}") if number else ()
        self._run(case, "-update", *between)

    def before_update(self, case: Case) -> None:
        """Make a snapshot of the source."""
        if case.by_snapshots:
            self._updates[case.name] += 1
            snapshots.take(self.stage.source, case.workload.path, f"distcp-{self._updates[case.name]}")

    def after_copy(self, case: Case) -> None:
        """Make the snapshot of the target that is equal to the last one of the source, or the first of both."""
        if case.by_snapshots:
            number = self._updates[case.name]
            if number == 0:
                snapshots.take(self.stage.source, case.workload.path, "distcp-0")
            snapshots.take(self.stage.target, self.target(case), f"distcp-{number}")

    def _run(self, case: Case, *options: str) -> None:
        run = peers.copy_tree(self.stage.box, *self._uris(case), self.stage.threads, options)
        self.maps[case.name] = run.maps
