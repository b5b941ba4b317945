"""Keep the event lane going while terabytes of external tables are copied (seed 001).

There are two reasons for which it could wait, and a rule against each. All slots of the policy are taken by copies:
of its `parallelism` the copies get one less, so that the lane of events always has a slot. The workers are few and
other tasks are queued: what brings events comes before what copies external tables, whichever was queued first.

The weights are absolute, because Airflow's own rule adds up the tasks that follow, and would let the first task of a
data lane pass the last one of an event lane. They are small, so that other people's DAGs are treated fairly.
"""

from typing import Any

from twinhive.runtime.pipeline.phase_facts import FACTS, PLACEMENT_FACTS, Start, started_by
from twinhive.runtime.pipeline.phases import HandOver
from twinhive.runtime.settings import PolicySettings

EXTERNAL_LANE = started_by(Start.DATA)
"""The phase that copies the data of external tables."""
EVENT_LANE = started_by(Start.LOG)
"""The phase that applies the events."""
_CALM = (Start.DATA, Start.CLOCK, Start.NIGHT)
_NOT_URGENT = {phase for phase, facts in FACTS.items() if facts.start in _CALM} | set(PLACEMENT_FACTS)


def priority_of(dag: str) -> dict[str, Any]:
    """Return the arguments by which Airflow chooses among queued tasks; `dag` is a phase, or `operate`."""
    return {"priority_weight": 1 if dag in _NOT_URGENT else 2, "weight_rule": "absolute"}


def brings_data(policy: PolicySettings) -> bool:
    """Tell whether there is a data lane at all, before any connection is looked at."""
    return policy.external_tables.external(replica_root="hdfs://replica").brings_data


def has_hand_over(policy: PolicySettings | None, hand_over: HandOver) -> bool:
    """Tell whether a policy, None for one that cannot be read, has a hand-over."""
    if policy is None:
        return hand_over.only_for is None
    bounds_passes = policy.options.approx_max_load_tasks is not None
    return hand_over.is_for(brings_data=brings_data(policy), bounds_passes=bounds_passes)


def limits_of(policy: PolicySettings) -> dict[str, Any]:
    """Return the argument by which Airflow holds the copies of a run back."""
    return {"max_active_tis_per_dagrun": policy.options.parallelism - 1}
