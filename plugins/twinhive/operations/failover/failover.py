"""Let a replica that is proved equal to its source take over from it: a planned failover.

Nothing is changed before the one call that promotes: a try that was refused or killed leaves a replica that follows.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow, TryAgain, Unexplained, refused_as, together
from twinhive.core.model.failover.fence import FenceMark
from twinhive.core.model.human_readable import first_of, spoken_time
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import SETS_TABLE
from twinhive.core.model.text import Clear, render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.fence.fence_command import RunCommand, run_command
from twinhive.operations.failover.fence.fence_snapshots import drop_after_promotion
from twinhive.operations.failover.fence.fencing import Fence, or_abort, refuse_open_files, standing_fence
from twinhive.operations.failover.late_set_marks import set_news, unshown_sets
from twinhive.operations.failover.promote import end_promotion, promote, replica_alone, taken_over
from twinhive.operations.failover.promotion import How
from twinhive.operations.failover.readiness import readiness
from twinhive.replication.external_tables.list_external import copies_under_way
from twinhive.replication.external_tables.sync_status import why_data_is_late
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.verify.verify import Verify

PROVE_QUIET = "prove_quiet"
"""The task of the DAG <policy>.failover from which on all is proved again."""
OLD_SECONDS = 900.0
"""So old a comparison may be when the replica takes over."""
_NAMED = 5


@dataclass(frozen=True)
class Failover:
    """Take over from a source that has no writers any more. People keep them away; here it is proved.

    The replica must be ready, at the source's newest event, and equal to it; then the source must still be as it was.

    catch_up   brings the replica to that event, and all external data that was there at a time, in seconds since 1970
    began      since when nobody writes external data without a fence: when this failover began
    """

    policy: Policy
    holder: Holder
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    catch_up: Callable[[float], None] = lambda since: None
    run_command: RunCommand = run_command
    began: float = 0.0

    def plan(self, ports: WritePorts) -> list[str]:
        """Say what stands in the way now, and what would be done."""
        database, state = replica_alone(ports, self.policy)
        if state.phase is Phase.PROMOTED:
            return taken_over(self.policy, database)
        found = readiness(ports, self.policy)
        return [
            *map(render, found.told),
            *(f"in the way: {render(problem.text)}" for problem in found.problems),
            *self._fence.plan(ports),
            f"would wait {self._quiet}, in which {self.policy.source} must log nothing of this policy",
            "would compare all that is replicated, on both sides, at the same event",
            f"would open {self.policy.replica} to writers; nothing is brought into it from then on",
        ]

    def run(self, ports: WritePorts) -> list[str]:
        """Fence, prove it, then promote. Raises ActNow or TryAgain; nothing but the fence was changed then.

        `catch_up` is called behind the fence.
        """
        if end_of := self.ended(ports):
            return end_of
        self.refuse_unready(ports, caught_up=False)
        fenced = self.fence(ports)
        self.catch_up(self._since(ports))
        end = self.prove_quiet(ports)
        token = standing_fence(ports, self.policy)
        compared = self.compare(ports)
        return [*fenced, *compared, *self.promote(ports, end, self.clock(), token)]

    def fence(self, ports: WritePorts) -> list[str]:
        """Keep writers away, as the policy says; from a source whose replica is not ready nobody is kept away."""
        if not self.policy.fence.rungs:
            return []
        self.refuse_unready(ports, caught_up=False)
        return self._fence.run(ports)

    @property
    def _quiet(self) -> str:
        return f"{self.policy.quiet_seconds:.0f} s"

    @property
    def _fence(self) -> Fence:
        return Fence(self.policy, self.holder, self.run_command, self.clock)

    def ended(self, ports: WritePorts) -> list[str]:
        """Return what there is to say where it has taken over already, and end what that has left; else nothing."""
        database, state = replica_alone(ports, self.policy)
        if state.phase is not Phase.PROMOTED:
            return []
        said = end_promotion(ports, self.policy, self.holder, database)
        return [*said, *drop_after_promotion(ports, self.policy)]

    def refuse_unready(self, ports: WritePorts, *, caught_up: bool = True) -> None:
        """Raise all that stands in the way of a failover but news and differences.

        `caught_up` False: what catching up mends does not count yet.
        """
        found = readiness(ports, self.policy)
        if problems := found.problems if caught_up else found.lasting:
            raise together(problems, f"the replica of policy {self.policy.name} is not ready to take over")

    def is_behind(self, ports: ReadPorts) -> str | None:
        """Return what the replica still lacks, events or external data, in words, None when it lacks nothing."""
        _, state = replica_alone(ports, self.policy)
        _, news = _first_news(ports, self.policy, state.position)
        return _behind(state.position, news) if news else why_data_is_late(ports, self.policy, self._since(ports))

    def _since(self, ports: ReadPorts) -> float:
        """Return since when nobody writes external data: since the fence stands, else since this failover began."""
        database = ports.source.database(self.policy.source.database)
        mark = FenceMark.read(database.parameters if database else {})
        is_ours = mark is not None and mark.policy == self.policy.name
        return max(self.began, float(mark.since) if mark is not None and is_ours else 0.0)

    def prove_quiet(self, ports: WritePorts) -> Position:
        """Return the newest event of a source that has logged nothing of the policy for a while."""
        self.refuse_unready(ports)
        self._refuse_copies(ports)
        standing_fence(ports, self.policy)
        refuse_open_files(ports, self.policy)
        _, state = replica_alone(ports, self.policy)
        return self._quiet_end(ports, state.position)

    def promote(self, ports: WritePorts, end: Position, compared_at: float, fence: str = "") -> list[str]:
        """Open a replica that is proved equal: at `end`, compared at a time in seconds since the epoch.

        `fence` is the token of the one that stood when the source was proved quiet.
        """
        age = self.clock() - compared_at
        if age > OLD_SECONDS:
            raise ActNow(
                f"policy {self.policy.name}: the proof that both sides are equal is too old",
                found=f"they were compared {spoken_time(age)} ago",
                expected=f"at most {spoken_time(OLD_SECONDS)}: what leaves no event may have been written since",
                next_step=Clear(f"the task {PROVE_QUIET} with all tasks after it"),
            )

        def nothing_came(_: Database, __: ReplicaState) -> None:
            self._refuse_other_fence(ports, fence)
            # Also what was applied meanwhile: a source that is written was not quiet.
            self._refuse_news(ports, end)

        said = promote(ports, self.policy, self.holder, How.PLANNED, nothing_came)
        return [*said, *drop_after_promotion(ports, self.policy)]

    def _refuse_other_fence(self, ports: ReadPorts, token: str) -> None:
        now = standing_fence(ports, self.policy)
        if now != token:
            raise ActNow(
                f"the fence of {self.policy.source} was taken away meanwhile, and set again",
                found=f"the fence {now or '(none)'}",
                expected=f"the fence {token or '(none)'}, behind which the source was proved quiet",
                next_step=Clear(f"the task {PROVE_QUIET} with all tasks after it"),
            )

    def _refuse_copies(self, ports: ReadPorts) -> None:
        """Wait for copies of external data: they would write and delete beside the new primary's own writers."""
        if self.policy.external.brings_data and (copies := copies_under_way(ports, self.policy)):
            raise TryAgain(
                f"external data of policy {self.policy.name} is being copied",
                found=f"{copies} tasks of the last pass that have not ended",
                expected="no copy under way",
                next_step=f"wait for the run of the DAG {self.policy.name}.external, or end it with: "
                + command("twinhive", "run", self.policy.name, "external"),
            )
        if late := why_data_is_late(ports, self.policy, self._since(ports)):
            raise TryAgain(
                f"external data of policy {self.policy.name} may lack what was written last",
                found=late,
                expected="a complete copy of each directory that began when nobody wrote it any more",
                next_step=f"start the DAG {self.policy.name}.external, or: "
                + command("twinhive", "run", self.policy.name, "external"),
            )

    def _quiet_end(self, ports: WritePorts, position: Position) -> Position:
        """Return the newest event of a log that tells nothing more of the policy."""
        end, news = _first_news(ports, self.policy, position)
        if news:
            raise TryAgain(
                f"the replica of policy {self.policy.name} is not at the source's newest event yet",
                found=_behind(position, news),
                expected="no event of this policy after the replica's position",
                next_step="stop all writers; then bring it further with: "
                + command("twinhive", "run", self.policy.name, "incremental"),
            )
        self._refuse_unshown_sets(ports)
        self.wait(self.policy.quiet_seconds)
        self._refuse_news(ports, end)
        return end

    def _refuse_unshown_sets(self, ports: WritePorts) -> None:
        """Wait until the replica shows the sets that it can show; nobody would show them once it has taken over."""
        if unshown := self._unshown_sets(ports):
            raise TryAgain(
                f"the replica of policy {self.policy.name} does not show all sets yet as they are marked at its source",
                found=", ".join(first_of(unshown, _NAMED)),
                expected="each set that is marked shown, each that was unmarked hidden, unless it is held",
                next_step="let it show them with: " + command("twinhive", "run", self.policy.name, "incremental"),
            )

    def _unshown_sets(self, ports: WritePorts) -> list[str]:
        try:
            return unshown_sets(ports, Work(self.policy, holder=self.holder))
        except Unexplained as error:
            raise refused_as(
                error,
                f"of policy {self.policy.name} nobody knows whether its replica shows all sets: they cannot be read",
                found=error,
                expected=f"the sets of both sides (the tables {SETS_TABLE}), to see that none is lost",
                next_step="see the message and that server's log, then again: "
                + command("twinhive", "failover", self.policy.name)
                + "; "
                + or_abort(self.policy),
            ) from error

    def _refuse_news(self, ports: ReadPorts, quiet_since: Position) -> None:
        _, news = _first_news(ports, self.policy, quiet_since)
        if news:
            raise ActNow(
                f"{self.policy.source} is still written"
                + (" behind its fence" if self.policy.fence.rungs else "")
                + ": no failover without loss",
                found=f"after event {quiet_since.event_id}: {_told(news)}",
                expected=f"no event of this policy for {self._quiet}, nor while both sides are compared",
                next_step="find these writers and stop them; then again: "
                + command("twinhive", "failover", self.policy.name)
                + "; "
                + or_abort(self.policy),
            )
        self._refuse_set_news(ports, quiet_since)

    def _refuse_set_news(self, ports: ReadPorts, quiet_since: Position) -> None:
        if news := set_news(ports, self.policy, quiet_since.event_id):
            raise ActNow(
                f"sets of {self.policy.source} are still marked: its replica would take over without them",
                found=f"after event {quiet_since.event_id}: {_told(news)}",
                expected=f"no set marked or unmarked for {self._quiet}, nor while both sides are compared",
                next_step=f"mark sets on {self.policy.replica} when it has taken over; start again: "
                + command("twinhive", "failover", self.policy.name)
                + "; "
                + or_abort(self.policy),
            )

    def compare(self, ports: WritePorts) -> list[str]:
        """Return what is said of two sides that are equal."""
        found = Verify(Work(self.policy, holder=self.holder), wait=self.wait).run(ports)
        if found.is_equal:
            return found.lines()
        names = [*found.findings, *found.suspects, *(f"{name}: {why}" for name, why in found.not_judged.items())]
        what = f"the replica of policy {self.policy.name} is not proved equal to its source: {found.headline}"
        unlike, equal = "; ".join(first_of(names, _NAMED)), "all that is replicated, judged and equal"
        again = "then again: " + command("twinhive", "failover", self.policy.name) + "; " + or_abort(self.policy)
        if found.suspected and not found.found:
            raise TryAgain(
                what,
                found=unlike,
                expected=equal,
                next_step="bring over what was written without an event: "
                + command("twinhive", "run", self.policy.name, "scan")
                + ", then "
                + command("twinhive", "run", self.policy.name, "incremental")
                + "; "
                + again,
            )
        mend = found.way_to_mend(self.policy.name)
        raise ActNow(what, found=unlike, expected=equal, next_step="mend what differs: " + mend + "; " + again)


def lacks_data(ports: ReadPorts, policy: Policy, since: float) -> bool:
    """Tell whether external data is missing that was there at a time, in seconds since 1970."""
    return why_data_is_late(ports, policy, since) is not None


def _first_news(ports: ReadPorts, policy: Policy, begin: Position) -> tuple[Position, tuple[EventRow, ...]]:
    """Return the first events of the policy after a position, none at the log's end, and how far was read."""
    end = begin
    for event_range in EventStream.of(ports, policy).event_ranges_after(begin):
        end = event_range.end
        if event_range.rows:
            return end, event_range.rows
    return end, ()


def _behind(position: Position, news: tuple[EventRow, ...]) -> str:
    return f"the replica at event {position.event_id}; the next of this policy: {_told(news)}"


def _told(rows: tuple[EventRow, ...]) -> str:
    said = (f"event {row.event_id} {row.event_type} {row.table or row.database}" for row in rows)
    return "; ".join(first_of(said, _NAMED))
