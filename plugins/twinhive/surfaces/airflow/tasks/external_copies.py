"""Where the copies of external tables run: small ones in the task, the rest on the replica's Spark."""

from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.size_dispatch import LargeBySpark
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster

_NEXT_STEPS = NextSteps(
    act_now="mend what is said above, then clear this task",
    unusable="mend the Spark connection or the executors' Python and Java, then clear this task",
    try_again="the task retries by itself; what is copied and verified is not copied again",
)


def copies_of(wiring: Wiring) -> LargeBySpark:
    """Return how plans of this policy are carried out; the connection is not looked at before a plan is large."""
    options = wiring.policy.options
    return LargeBySpark(
        source=wiring.source_endpoint,
        target=wiring.replica_endpoint,
        is_small=options.is_small,
        cluster=lambda: spark_cluster(wiring.replica.job_tracker.connection, options.spark_tasks, options.spark_conf),
        next_steps=_NEXT_STEPS,
    )
