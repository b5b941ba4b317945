"""Small copies in the task's own process: starting Spark would take longer than the copy."""

from collections.abc import Sequence
from dataclasses import replace

from twinhive.core.model.batches import Batch
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.dump.batch_records import listed_batch
from twinhive.replication.dump.dump_store import Dump, dump_of_key, planned_in_this_run


def left_for_spark(work: Work, ports: WritePorts, dump: Dump, batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """Copy the batches here when all of them together are small; return those that remain, which is all or none.

    Raises TryAgain when another run has replaced the dump meanwhile: the task that has planned it plans anew.
    """
    with planned_in_this_run(ports.dump_files, work.policy, dump.key):
        found = {batch: listed_batch(ports.dump_files, dump.layout, batch.name) for batch in batches}
        if None in found.values():
            dump_of_key(ports.dump_files, work.policy, dump.key)  # no list, or no dump any more?
        listed = {batch: one for batch, one in found.items() if one is not None and one.files}
        waiting = tuple(listed)
        files = sum(one.files for one in listed.values())
        length = sum(one.bytes for one in listed.values())
        if not work.policy.options.is_small(files, length):
            return waiting
        for batch in waiting:
            CopyBatch(replace(work, batch=batch.name, dump=dump.key)).run(ports)
        return ()
