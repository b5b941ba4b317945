"""Let a load begin only when every batch of the dump is listed, copied and compared."""

from dataclasses import dataclass, replace

from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import Phase
from twinhive.core.model.next_steps import consolidate
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Either, Text
from twinhive.core.ports import ReadPorts
from twinhive.core.step.step_base import Then, Work
from twinhive.replication.dump.batch_records import CopiedBatch, copied_batch, listed_batch
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import Dump, current_dump
from twinhive.replication.dump.staged_events import needed_items
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.replica.replica_state import already_published, state_now

_SEE_THE_COPY = Either("see the copy task", "see what its copy says")


@dataclass(frozen=True)
class GateOpen:
    """What passed the gate: files and bytes that are staged and equal their source.

    `another_round` says that the dump is to be consolidated once more before it is loaded; `rest` is
    the number of events in scope that came after it.
    """

    files: int = 0
    bytes: int = 0
    rest: int = 0
    another_round: bool = False
    already: str | None = None

    @property
    def then(self) -> Then:
        """Whether the dump is loaded now."""
        return Then.AGAIN if self.another_round else Then.GO_ON


@dataclass(frozen=True)
class Gate:
    """Compare what the dump lists with what the copy tasks report; ask for another round when much is left over."""

    work: Work

    def run(self, ports: ReadPorts) -> GateOpen:
        """Return the totals. Raises ActNow naming the batches to clear, or when rounds lead nowhere."""
        policy, report = self.work.policy, self.work.report
        state = state_now(ports, policy)
        if already := already_published(state):
            report(already)
            return GateOpen(already=already)
        dump = consolidated_dump(ports, policy)
        superseded = superseded_files(ports, dump, policy.staging)
        rest = sum(1 for _ in EventStream.of(ports, policy).rows_after(dump.manifest.end))
        options, rounds = policy.options, dump.manifest.base.round
        if superseded and rounds >= options.most_rounds:
            raise _too_many_rounds(policy, rounds, superseded)
        if superseded or (rest > options.rest_events and rounds < options.most_rounds):
            report(f"another round: {superseded} files were superseded, {rest} events came after the dump's end")
            return GateOpen(rest=rest, another_round=True)
        opened = check_copied(ports, dump, policy.staging)
        if state.phase is Phase.LOADING:
            report(f"a load of dump {state.dump} was cut off; the load task goes on from there")
        report(
            f"gate open: {opened.files} files, {opened.bytes} bytes staged and compared; {rest} events are left over"
        )
        return replace(opened, rest=rest)


def consolidated_dump(ports: ReadPorts, policy: Policy) -> Dump:
    """Return the newest dump. Raises ActNow for one that does not describe the source at one event."""
    dump = current_dump(ports.dump_files, policy)
    if dump.manifest.kind is not DumpKind.CONSOLIDATE:
        raise ActNow(
            f"the dump {dump.key} is not consolidated: its objects are of different moments",
            found=f"a dump of kind {dump.manifest.kind.value}",
            expected="a dump that a round has brought to one event",
            next_step=consolidate(policy.name) + ", or " + Clear("its task round with all tasks after it"),
        )
    return dump


def _too_many_rounds(policy: Policy, rounds: int, superseded: int) -> ActNow:
    return ActNow(
        f"consolidating policy {policy.name} leads nowhere: files vanish faster than they can be copied",
        found=f"{superseded} files were superseded in round {rounds}",
        expected=f"none after at most {policy.options.most_rounds} rounds (options.most_rounds)",
        next_step="see which tables are rewritten all the time (the copy tasks name them); pause their writers, give "
        "the copy more threads, or exclude them; then " + consolidate(policy.name),
    )


def superseded_files(ports: ReadPorts, dump: Dump, staging: str) -> int:
    """Count the files of a dump that were no longer what was listed when they were to be copied."""
    found = (copied_batch(ports.replica_files, staging, dump.key, batch.name) for batch in dump.manifest.batches)
    return sum(copied.superseded_files for copied in found if copied)


def check_window(ports: ReadPorts, dump: Dump, policy: Policy, position: int) -> dict[int, Text]:
    """Return the events of a window whose files are lost. Raises ActNow when copies are missing.

    r = position, window (from, to]: files of events up to r are not needed any more.
    """
    problems: list[str] = []
    lost: dict[int, Text] = {}
    for batch in dump.manifest.batches:
        needed = _needed(ports, dump, batch.name, position)
        if not needed:
            continue
        copied = copied_batch(ports.replica_files, policy.staging, dump.key, batch.name)
        if copied is None:
            problems.append(f"{batch.label}: its files are not copied")
            continue
        lost |= lost_events(copied)
        # Of a replica in the middle of the window the files before it, staged then, say nothing of those after it.
        missing = max(needed - copied.staged - copied.lost_files, copied.uncopied)
        if missing:
            problems.append(f"{batch.label}: {missing} of {max(needed, missing)} files are not copied")
    if problems:
        raise _incomplete(dump, problems, Clear("the copy tasks of this run with all tasks after them"))
    return lost


def lost_events(copied: CopiedBatch) -> dict[int, Text]:
    """Return the events of a batch whose files are lost, with the reasons."""
    return {event_id: reason or _SEE_THE_COPY for event_id, reason in copied.lost.items()}


def _needed(ports: ReadPorts, dump: Dump, batch: str, position: int) -> int:
    if position <= dump.manifest.begin.event_id:
        listed = listed_batch(ports.dump_files, dump.layout, batch)
        return listed.files if listed else 0
    return len(needed_items(ports.dump_files, dump, batch, position))


def check_copied(ports: ReadPorts, dump: Dump, staging: str) -> GateOpen:
    """Compare listed and copied files of every batch. Raises ActNow with the batches that differ."""
    problems: list[str] = []
    files = length = 0
    for batch in dump.manifest.batches:
        listed = listed_batch(ports.dump_files, dump.layout, batch.name)
        copied = copied_batch(ports.replica_files, staging, dump.key, batch.name)
        if listed is None:
            problems.append(f"{batch.label}: its files are not listed")
        elif listed.files and copied is None:
            problems.append(f"{batch.label}: its files are not copied")
        elif listed.files and copied is not None and listed.files != copied.staged:
            problems.append(f"{batch.label}: {listed.files - copied.staged} of {listed.files} files are not copied")
        else:
            files, length = files + listed.files, length + listed.bytes
    if problems:
        raise _incomplete(
            dump, problems, Clear("the failed list_files and copy tasks of these tables with all tasks after them")
        )
    return GateOpen(files, length)


def _incomplete(dump: Dump, problems: list[str], next_step: Text) -> ActNow:
    return ActNow(
        f"the dump {dump.key} is not complete on the replica",
        found="; ".join(problems[:10]) + (f"; and {len(problems) - 10} more" if len(problems) > 10 else ""),
        expected="every batch listed and copied",
        next_step=next_step,
    )
