"""Rehearse one run of the event lane: cut a window, and apply it, to a replica that is only pretended."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import assert_never

from twinhive.apply.actions import Action
from twinhive.apply.lane import ActionOutcome
from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.pretended_target import pretended_target
from twinhive.dry_run.rehearsing import Rehearsing
from twinhive.dump.shards import unpack_lines
from twinhive.dump.store import Dump
from twinhive.external.publish_pending import ready_tables
from twinhive.incremental.applying import Applying
from twinhive.incremental.window import Window
from twinhive.log.told_events import told_events
from twinhive.model.changes.facts import tables_of
from twinhive.model.changes.in_words import effects_of
from twinhive.model.errors import ActNow, TwinhiveError
from twinhive.model.lease_kinds import LeaseKind
from twinhive.model.marks import ReplicaState
from twinhive.model.policy import Policy
from twinhive.transfer.staged.staged import CopyItem, remaining

_FROZEN = ("hold back", "events of quarantined tables")
_PASSED = ("pass over", "events")


def rehearse_incremental(rehearsing: Rehearsing) -> PhasePlan:
    """Cut the next window, or take up the one that was begun; while the replica is loaded, see what would be saved."""
    ports = rehearsing.ports
    window = Window(rehearsing.work(policy=rehearsing.copying_nothing))
    state = window.following(ports)
    if state is None:
        return rehearsing.plan(nothing=rehearsing.said[-1])
    ready = PlanSection.of("publish", "external tables whose data has come", ready_tables(ports, rehearsing.policy))
    dump = window.begun_or_cut(ports, state)
    if dump is None:
        at = f"the replica is at event {state.position.event_id}, and nothing in its scope came after it"
        return rehearsing.plan(nothing=None if ready.count else at, sections=[ready])
    return _of_window(rehearsing, dump, state, ready)


def _of_window(rehearsing: Rehearsing, dump: Dump, state: ReplicaState, ready: PlanSection) -> PhasePlan:
    copied = _copied(rehearsing, dump, state.position.event_id)
    whole = PlanSection.of("replace", "tables as a whole", dump.manifest.snapshots)
    changes = _Changes(rehearsing.policy)
    refusals = _applied(rehearsing, dump, changes)
    return rehearsing.plan(
        tables=len(changes.tables | set(dump.manifest.snapshots)),
        partitions=sum(len(names) for (_, what), names in changes.found.items() if what == "partitions"),
        files=copied.files,
        bytes=copied.bytes,
        events=sum(
            event.event_id > state.position.event_id for event in told_events(rehearsing.ports.dump_files, dump.layout)
        ),
        sections=[copied, *(PlanSection.of(*key, names) for key, names in changes.found.items()), whole, ready],
        refusals=refusals,
    )


@dataclass
class _Changes:
    """What is changed, held back and passed over: names by verb and kind of object."""

    policy: Policy
    found: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    tables: set[str] = field(default_factory=set)

    def watch(self, action: Action, outcome: ActionOutcome) -> None:
        """Note what becomes of an action."""
        for event in action.events:
            self.tables |= self.policy.followed(tables_of(event.change))
            match outcome:
                case ActionOutcome.DONE:
                    for verb, what, name in effects_of(self.policy, event):
                        self.found[verb, what].append(name)
                case ActionOutcome.HELD_BACK:
                    self.found[_FROZEN].append(str(event))
                case ActionOutcome.ALREADY:
                    continue
                case _:
                    assert_never(outcome)


def _applied(rehearsing: Rehearsing, dump: Dump, changes: _Changes) -> tuple[TwinhiveError, ...]:
    """Let the events be applied, to a replica that is only pretended; return what a real run would stop with."""
    ports, policy = rehearsing.ports, rehearsing.policy
    with ports.lease.hold("", {}, LeaseKind.EVENTS) as lease:
        target = pretended_target(ports, policy, ports.source.log_id(), lease)
        applying = Applying(rehearsing.work(), ports, dump, target, changes.watch)
        try:
            applied = applying.run({})
            applying.publish()
        except ActNow as error:
            return (error,)
    changes.found[_PASSED] += applied.not_replicated.elements()
    return ()


def _copied(rehearsing: Rehearsing, dump: Dump, position: int) -> PlanSection:
    """Count the files of events after the position; of one that is only in the change manager no length is known."""
    files = rehearsing.ports.dump_files
    waiting: list[CopyItem] = []
    for batch in dump.manifest.batches:
        items = map(CopyItem.from_line, unpack_lines(files.read(dump.layout.files(batch.name))))
        waiting += remaining(items, position)
    names = dict.fromkeys(item.table for item in waiting)
    length = sum(item.length for item in waiting)
    return PlanSection.of("copy", "files of tables", names, files=len(waiting), length=length)
