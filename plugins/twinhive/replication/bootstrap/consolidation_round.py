"""Fold into the dump what the log says, so that it describes the source at one event: one round of consolidating.

Seed 002, 'Bootstrap, Revisited', approach 2: at the source, before anything is loaded. What no event
has touched keeps its shards; the tables that were touched are read from the dump, folded, read again
where the log does not spell things out, and written as new batches.
"""

from dataclasses import dataclass, replace

from twinhive.core.model.batches import Batch
from twinhive.core.model.marks import Phase
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_parts import PolicyRun
from twinhive.replication.bootstrap.folded_tables import Folding
from twinhive.replication.bootstrap.small_copies import left_for_spark
from twinhive.replication.dump.batch_records import copied_batch, listed_batch
from twinhive.replication.dump.dump_layout import result_path
from twinhive.replication.dump.dump_store import Dump, current_dump
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.dump.publishing import finish_publishing, remove_other_dumps
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.replica.replica_state import already_published, state_now


@dataclass(frozen=True)
class Folded:
    """What a round made: the new dump, the batches that are still to be copied, how much was folded in."""

    dump: str
    batches: tuple[Batch, ...]
    round: int = 0
    events: int = 0
    tables: int = 0
    end: int = 0
    already: str | None = None


@dataclass(frozen=True)
class RoundStage(PolicyRun):
    """One run of the stage `round`; `loaded` is the phase of the replica, `folded` the new dump once it is written."""

    loaded: Phase = Phase.ABSENT
    dump: Dump | None = None
    folded: Folded | None = None
    result: Folded | None = None

    @property
    def new(self) -> tuple[Dump, Folded]:
        """The dump that this round has written."""
        assert self.dump is not None, "a round writes a dump first"
        assert self.folded is not None, "a round writes a dump first"
        return self.dump, self.folded


def stop_when_published(run: RoundStage) -> RoundStage:
    """End the run where the replica is published already."""
    policy = run.policy
    state = state_now(run.ports, policy)
    if already := already_published(state):
        run.work.report(already)
        return replace(run, result=Folded("", (), already=already))
    return replace(run, loaded=state.phase)


def fold_log(run: RoundStage) -> RoundStage:
    """Write a dump that describes the source at one event: the newest dump, with the events since folded in."""
    ports, policy = run.ports, run.policy
    finish_publishing(ports.dump_files, policy)
    dump = current_dump(ports.dump_files, policy)
    folding = Folding(EventStream.of(ports, policy), dump)
    new = folding.consolidate(_superseded(ports, policy, dump))
    if run.loaded is Phase.ABSENT:
        # A load that was cut off may have moved copies away that results speak of: then the copy looks again.
        _carry_results(ports, policy, dump, new, folding.kept)
    tables, end = len(folding.shard.tables), new.manifest.end.event_id
    return replace(run, dump=new, folded=Folded(new.key, (), new.manifest.base.round, folding.events, tables, end))


def remove_older_dumps(run: RoundStage) -> RoundStage:
    """Remove the dumps that this one replaces, and those that were cut off."""
    dump, _ = run.new
    for removed in remove_other_dumps(run.ports.dump_files, run.policy, dump.layout):
        run.work.report(f"removed {removed}")
    return run


def copy_small_batches(run: RoundStage) -> RoundStage:
    """Copy here, without Spark, what is not staged yet, if it is little; return what the stages after this work on."""
    dump, folded = run.new
    waiting = tuple(one for one in dump.manifest.batches if is_uncopied(run.ports, run.policy, dump, one))
    run.work.report(
        f"round {folded.round}: {folded.events} events folded into {folded.tables} tables; "
        f"the dump describes the source at event {folded.end}; {len(waiting)} batches to copy"
    )
    left = left_for_spark(run.work, run.ports, dump, waiting)
    return replace(run, result=replace(folded, batches=left))


def _superseded(ports: ReadPorts, policy: Policy, dump: Dump) -> set[str]:
    """Return the names of the batches some of whose files were not any more what was listed."""
    names: set[str] = set()
    for batch in dump.manifest.batches:
        copied = copied_batch(ports.replica_files, policy.staging, dump.key, batch.name)
        if copied and copied.superseded_files:
            names.add(batch.name)
    return names


def _carry_results(ports: WritePorts, policy: Policy, old: Dump, new: Dump, kept: list[Batch]) -> None:
    """Take over what copies of untouched batches have reported under the old dump."""
    for batch in kept:
        result = read_json(ports.replica_files, result_path(policy.staging, old.key, batch.name))
        if result is not None:
            write_json(ports.replica_files, result_path(policy.staging, new.key, batch.name), result)


def is_uncopied(ports: ReadPorts, policy: Policy, dump: Dump, batch: Batch) -> bool:
    """True for a batch that has files, and no result that says they are staged."""
    listed = listed_batch(ports.dump_files, dump.layout, batch.name)
    if listed is None or not listed.files:
        return False
    copied = copied_batch(ports.replica_files, policy.staging, dump.key, batch.name)
    return copied is None or listed.files != copied.staged
