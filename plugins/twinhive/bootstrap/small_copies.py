"""Copy what is little in the task's own process: starting Spark would take longer than the copy."""

from collections.abc import Sequence
from dataclasses import replace

from twinhive.bootstrap.copy_batch import CopyBatch
from twinhive.dump.store import Dump, read_json
from twinhive.model.batches import Batch
from twinhive.ports import WritePorts
from twinhive.step.base import Work


def left_for_spark(work: Work, ports: WritePorts, dump: Dump, batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """Copy the batches here when all of them together are small; return those that remain, which is all or none."""
    summaries = {batch.name: read_json(ports.dump_files, dump.layout.summary(batch.name)) or {} for batch in batches}
    waiting = tuple(batch for batch in batches if summaries[batch.name].get("files"))
    files = sum(summaries[batch.name]["files"] for batch in waiting)
    length = sum(summaries[batch.name]["bytes"] for batch in waiting)
    if not work.policy.options.is_little(files, length):
        return waiting
    for batch in waiting:
        CopyBatch(replace(work, batch=batch.name, dump=dump.key)).run(ports)
    return ()
