"""Let a replica that is proved equal to its source take over from it: a planned failover.

Nothing is changed before the one call that promotes: a try that was refused or killed leaves a replica that follows.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, TryAgain, Unexplained, refused_as, together
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import SETS_TABLE
from twinhive.core.model.text import render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.fence.fence_command import RunCommand, run_command
from twinhive.operations.failover.fence.fence_snapshots import drop_after_promotion
from twinhive.operations.failover.fence.fencing import (
    Fence,
    begun,
    or_abort,
    prove_again,
    refuse_open_files,
    standing_fence,
)
from twinhive.operations.failover.late_set_marks import unshown_sets
from twinhive.operations.failover.promote import end_promotion, promote, replica_alone, taken_over
from twinhive.operations.failover.promotion import How
from twinhive.operations.failover.proof import PROVE_QUIET, Proof, now_ms, refuse_another_moment
from twinhive.operations.failover.readiness import readiness
from twinhive.operations.failover.source_news import lacks_events, newest_event, refuse_news
from twinhive.replication.external_tables.list_external import copies_under_way
from twinhive.replication.external_tables.sync_status import why_data_is_late
from twinhive.replication.verify.verify import Verify

_NAMED = 5


@dataclass(frozen=True)
class Failover:
    """Take over from a source that has no writers any more. People keep them away; here it is proved.

    The replica must be ready, at the source's newest event, and equal to it; then the source must still be as it was.

    There is one way, whoever goes it: from a terminal or a form all at once, in a DAG task by task. Each proof is a
    value that says of which moment it is (`Proof`), and is compared under the lease with all others.

    catch_up   brings the replica to that event, and copies all external data anew that was not looked at since the
               failover began, whose token it is told
    """

    policy: Policy
    holder: Holder
    wait: Callable[[float], None] = time.sleep
    catch_up: Callable[[str], None] = lambda token: None
    run_command: RunCommand = run_command

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
        said = self.fence(ports)
        token = standing_fence(ports, self.policy)
        self.catch_up(token)
        self._refuse_late_data(ports, token)
        quiet = self.prove_quiet(ports)
        lines, compared = self.prove_equal(ports, quiet)
        return [*said, *lines, *self.promote(ports, quiet, compared)]

    def fence(self, ports: WritePorts) -> list[str]:
        """Keep writers away, as the policy says, or believe that people do: with that the failover has begun.

        From a source whose replica is not ready nobody is kept away.
        """
        if self.policy.fence.rungs:
            self.refuse_unready(ports, caught_up=False)
        return self._fence.run(ports)

    @property
    def _quiet(self) -> str:
        return f"{self.policy.quiet_seconds:.0f} s"

    @property
    def _fence(self) -> Fence:
        return Fence(self.policy, self.holder, self.run_command)

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
        if lacking := self.lacks_events(ports):
            return lacking
        policy = self.policy
        return why_data_is_late(ports, policy, begun(ports, policy)) if policy.external.brings_data else None

    def lacks_events(self, ports: ReadPorts) -> str | None:
        """Return which events the replica still lacks, in words, None when it lacks none."""
        return lacks_events(ports, self.policy, replica_alone(ports, self.policy)[1].position)

    def prove_quiet(self, ports: WritePorts) -> Proof:
        """Prove that the source has logged nothing of the policy for a while, and that nobody may write it."""
        began = now_ms(ports.replica_files, self.policy)
        self.refuse_unready(ports)
        token = standing_fence(ports, self.policy)
        self._refuse_copies(ports, token)
        refuse_open_files(ports, self.policy)
        _, state = replica_alone(ports, self.policy)
        return Proof(self._quiet_end(ports, state.position), token, began)

    def prove_equal(self, ports: WritePorts, quiet: Proof) -> tuple[list[str], Proof]:
        """Prove that both sides are equal since the source was quiet; return what is said of it, and the proof."""
        began = now_ms(ports.replica_files, self.policy)
        return self.compare(ports), replace(quiet, began_ms=began)

    def promote(self, ports: WritePorts, quiet: Proof, compared: Proof) -> list[str]:
        """Open a replica that is proved equal to a source that was proved quiet.

        Under the lease both proofs are compared with each other, and with what the servers say then.
        """

        def nothing_came(_: Database, __: ReplicaState) -> None:
            policy = self.policy
            refuse_another_moment(policy, quiet, compared, now_ms(ports.replica_files, policy))
            self._refuse_other_token(ports, quiet.token)
            refuse_open_files(ports, policy)
            # Also what was applied meanwhile: a source that is written was not quiet.
            refuse_news(ports, policy, quiet.event)

        said = promote(ports, self.policy, self.holder, How.PLANNED, nothing_came)
        return [*said, *drop_after_promotion(ports, self.policy)]

    def _refuse_other_token(self, ports: WritePorts, token: str) -> None:
        now = standing_fence(ports, self.policy)
        if now != token:
            raise ActNow(
                f"the failover of policy {self.policy.name} was begun anew: {self.policy.source} was open meanwhile",
                found=f"the token {now}",
                expected=f"the token {token or '(none)'}, since which the source was proved quiet",
                next_step=prove_again(self.policy, PROVE_QUIET),
            )

    def _refuse_late_data(self, ports: ReadPorts, token: str) -> None:
        """Refuse what was begun without a way to copy external data since: the form of operations has none."""
        if late := why_data_is_late(ports, self.policy, token):
            raise ActNow(
                f"external data of policy {self.policy.name} may lack what was written last",
                found=late,
                expected="a complete copy of each directory that began when nobody wrote it any more",
                next_step=f"start the DAG {self.policy.name}.failover, or: "
                + command("twinhive", "failover", self.policy.name)
                + ", which both let it be copied once the failover has begun; "
                + or_abort(self.policy),
            )

    def _refuse_copies(self, ports: ReadPorts, token: str) -> None:
        """Wait for copies of external data: they would write and delete beside the new primary's own writers."""
        if self.policy.external.brings_data and (copies := copies_under_way(ports, self.policy)):
            raise TryAgain(
                f"external data of policy {self.policy.name} is being copied",
                found=f"{copies} tasks of the last pass that have not ended",
                expected="no copy under way",
                next_step=f"wait for the run of the DAG {self.policy.name}.external, or end it with: "
                + command("twinhive", "run", self.policy.name, "external"),
            )
        if late := why_data_is_late(ports, self.policy, token):
            raise TryAgain(
                f"external data of policy {self.policy.name} may lack what was written last",
                found=late,
                expected="a complete copy of each directory that began when nobody wrote it any more",
                next_step=f"start the DAG {self.policy.name}.external, or: "
                + command("twinhive", "run", self.policy.name, "external"),
            )

    def _quiet_end(self, ports: WritePorts, position: Position) -> Position:
        """Return the newest event of a log that tells nothing more of the policy."""
        end = newest_event(ports, self.policy, position)
        self._refuse_unshown_sets(ports)
        self.wait(self.policy.quiet_seconds)
        refuse_news(ports, self.policy, end)
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


def lacks_data(ports: ReadPorts, policy: Policy, token: str) -> bool:
    """Tell whether external data was not looked at since a failover has begun, by its token."""
    return why_data_is_late(ports, policy, token) is not None
