"""What the page says of Airflow's DAGs and their runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twinhive.runtime.pipeline.phase_facts import EVENT_LANE_PHASES, FACTS

LANE = EVENT_LANE_PHASES
"""The DAGs of a policy that bring its replica from event to event."""

ALL = (*LANE, *(phase for phase in FACTS if phase not in LANE), "operate", "give_up", "failover", "failback")
"""All DAGs of a policy."""


@dataclass(frozen=True)
class DagStanding:
    """A DAG as Airflow knows it."""

    dag_id: str
    paused: bool


@dataclass(frozen=True)
class LastRun:
    """The newest run of a DAG; times in seconds of the epoch, None while it waits or runs."""

    dag_id: str
    run_id: str
    state: str
    run_after: float
    began: float | None
    ended: float | None

    @property
    def phase(self) -> str:
        """Return the part of the DAG's id after the policy's name."""
        return self.dag_id.rpartition(".")[2]


@dataclass(frozen=True)
class PoolWait:
    """Tasks of a DAG that Airflow leaves scheduled, because the pool that they name does not exist."""

    dag_id: str
    pool: str
    tasks: int


def dag_ids(policies: Iterable[str], phases: Iterable[str]) -> list[str]:
    """Return the ids of some DAGs of some policies."""
    chosen = tuple(phases)
    return [f"{policy}.{phase}" for policy in policies for phase in chosen]


def newest_of(policy: str, runs: Mapping[str, LastRun], phases: Iterable[str] = LANE) -> LastRun | None:
    """Return which of the last runs of a policy's DAGs is the newest."""
    found = [runs[dag_id] for dag_id in dag_ids([policy], phases) if dag_id in runs]
    return max(found, key=lambda run: run.run_after, default=None)
