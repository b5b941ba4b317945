"""What a terminal and a task share that move a primary: the Spark that copies what is much, and the dry run."""

from dataclasses import replace

from twinhive.core.ports import WritePorts
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.wiring.table_move import MoveWiring
from twinhive.statements.execution.spark_copies import CopiesBySpark, SparkOf

_NEXT = NextSteps(
    act_now="mend what is said above, then move the table again",
    unusable="mend the Spark that copies (its connection, the executors' Python and Java), then move the table again",
    try_again="move the table again; what is staged is not copied again",
)


def by_spark(moving: MovePrimary, wiring: MoveWiring, spark: SparkOf) -> MovePrimary:
    """Return the same move, whose large batches are copied by the Spark of the cluster that the table comes to."""
    options = moving.policy.options
    copies = CopiesBySpark(*wiring.ends, options, lambda: spark(wiring.target, options), _NEXT)
    return replace(moving, copy=lambda work, ports: copies.batch(work, ports, CopyObjects))


def planned(moving: MovePrimary, ports: WritePorts) -> list[str]:
    """Say what a move would do, its copies first; nothing is changed. Raises what a run would raise before that."""
    lines = moving.plan(ports)
    if len(lines) < 2:
        return lines
    copying = rehearse("copies", ports, moving.policy)
    if copying.refusals:
        raise copying.refusals[0]
    return [*map(str, copying.sections), *lines]
