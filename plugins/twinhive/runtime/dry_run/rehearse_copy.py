"""What of the batches of a dump would be copied."""

from collections.abc import Iterable
from typing import Any, assert_never

from twinhive.core.model.batches import Batch
from twinhive.replication.bootstrap.consolidation_round import is_uncopied
from twinhive.replication.dump.batch_records import NOTHING_LISTED, listed_batch
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump, dump_of_key
from twinhive.replication.dump.shards import unpack_lines
from twinhive.replication.replica.replica_state import state_now
from twinhive.runtime.dry_run.phase_plan import PlanSection
from twinhive.runtime.dry_run.rehearsing import Rehearsing
from twinhive.transfer.staged.staged_files import CopyItem, remaining


def describe_copy(rehearsing: Rehearsing, planned: Any) -> None:
    """Say what would be copied of the batches that were planned."""
    dump = dump_of_key(rehearsing.ports.dump_files, rehearsing.policy, planned.dump)
    match dump.manifest.kind:
        case DumpKind.BOOTSTRAP:
            # No file is listed for a dry run: the sizes are those of directories.
            measured = rehearsing.measured
            files, length = (measured.files_to_copy, measured.bytes_to_copy) if measured else (0, 0)
            labels = (batch.label for batch in planned.batches)
            rehearsing.copies(PlanSection.of("copy", "batches", labels, files=files, length=length))
        case DumpKind.CONSOLIDATE:
            rehearsing.copies(_uncopied(rehearsing, dump, planned.batches))
        case DumpKind.INCREMENTAL:
            rehearsing.copies(_of_events(rehearsing, dump))
        case DumpKind.EXTERNAL:
            pass  # what it copies is found by a look at its directories, see `rehearse_external`
        case _:
            assert_never(dump.manifest.kind)


def _uncopied(rehearsing: Rehearsing, dump: Dump, batches: Iterable[Batch]) -> PlanSection:
    ports, policy = rehearsing.ports, rehearsing.policy
    waiting = [batch for batch in batches if is_uncopied(ports, policy, dump, batch)]
    sizes = [listed_batch(ports.dump_files, dump.layout, batch.name) or NOTHING_LISTED for batch in waiting]
    labels = (batch.label for batch in waiting)
    files, length = sum(size.files for size in sizes), sum(size.bytes for size in sizes)
    return PlanSection.of("copy", "batches", labels, files=files, length=length)


def _of_events(rehearsing: Rehearsing, dump: Dump) -> PlanSection:
    """Count the files of events after the position; of one that is only in the change manager no length is known."""
    ports, policy = rehearsing.ports, rehearsing.policy
    position = state_now(ports, policy).position.event_id
    waiting: list[CopyItem] = []
    for batch in dump.manifest.batches:
        items = map(CopyItem.from_line, unpack_lines(ports.dump_files.read(dump.layout.files(batch.name))))
        waiting += remaining(items, position)
    names = dict.fromkeys(item.table for item in waiting)
    length = sum(item.length for item in waiting)
    return PlanSection.of("copy", "files of tables", names, files=len(waiting), length=length)
