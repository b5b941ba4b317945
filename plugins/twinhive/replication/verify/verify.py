"""Prove that the replica equals its source at one event, or say which tables, partitions and files do not.

It reads only, and takes no lease: what is compared need not stand still, the source's log says what moved meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.marks import Phase
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.comparison.leaf_reader import sides_of
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.replica.source_scope import refuse_unselected
from twinhive.replication.verify.database_leaves import absent_functions
from twinhive.replication.verify.leaf_differences import LeafDifference
from twinhive.replication.verify.suspected_damage import Suspicion, read_suspects, suspicion, write_suspects
from twinhive.replication.verify.table_verdicts import LeafCounts
from twinhive.replication.verify.touched_leaves import DATABASE
from twinhive.replication.verify.verification_outcome import MOST_NAMED, Verified, tell_nobody, write_outcome
from twinhive.replication.verify.verification_run import Looking, digest_of
from twinhive.replication.verify.verified_scope import VerifyScope, read_verify_scope

_MOST_ROUNDS = 10
_BETWEEN_SECONDS = 15.0
_BESIDE_TABLES = "the database and its functions"
_HOT = "the source's log told of it while it was compared, in every round"


@dataclass(frozen=True)
class Verify:
    """Compare both sides at a common event.

    tables  these alone, by their names at the source; none: all, with functions and the database itself
    deep    all checksums, and every leaf, whatever is remembered
    tell    is told of what was found, before anybody is asked to act
    """

    work: Work
    tables: tuple[str, ...] = ()
    deep: bool = False
    clock: Callable[[], float] = time.time
    wait: Callable[[float], None] = time.sleep
    tell: Callable[[Verified], None] = tell_nobody

    def run(self, ports: WritePorts) -> Verified:
        """Return what can be said. Raises InvalidSettings, Missing for tables that cannot be."""
        policy = self.work.policy
        state = state_now(ports, policy)
        if state.phase is not Phase.FOLLOWING:
            nothing = f"nothing to verify: the replica is {state.phase.value}"
            self.work.report(nothing)
            return Verified(already=nothing)
        self._refuse_others(ports)
        looking = Looking(self.work, ports, int(self.clock() // 86_400), deep=self.deep)
        scope, left = self._rounds(looking, ports)
        looking.judge_hot(scope, left, self.wait)
        if not self.tables:
            looking.finish(scope)
        return self._judge(ports, scope, looking, left)

    def _refuse_others(self, ports: WritePorts) -> None:
        policy = self.work.policy
        for table in self.tables:
            refuse_unselected(policy, table)
            if all(side.metastore.table(side.name(table)) is None for side in sides_of(ports, policy)):
                raise Missing(
                    f"table: there is no table {table} on either side",
                    found="no such table",
                    expected=f"a table of {policy.source} or of {policy.replica}",
                    next_step="correct the table's name",
                )

    def _rounds(self, looking: Looking, ports: WritePorts) -> tuple[VerifyScope, list[str]]:
        """Look at all tables, then again at those of which the log has told meanwhile; return which are left."""
        scope = read_verify_scope(ports, self.work.policy, self.tables)
        waiting = list(scope.names)
        for number in range(1, _MOST_ROUNDS + 1):
            looking.look(waiting)
            scope = read_verify_scope(ports, self.work.policy, self.tables)
            looking.leave_out(scope)
            waiting = looking.waiting(scope)
            if not waiting or number == _MOST_ROUNDS:
                break
            self.work.report(f"{len(waiting)} tables have changed while they were compared: they are compared again")
            self.wait(_BETWEEN_SECONDS)
        return scope, waiting

    def _judge(self, ports: WritePorts, scope: VerifyScope, looking: Looking, left: Sequence[str]) -> Verified:
        verdicts = looking.verdicts()
        policy, files = self.work.policy, ports.replica_files
        differences = tuple(one for verdict in verdicts for one in verdict.differences)
        differences += tuple(one.difference for one in looking.hot.values() if one.difference)
        absent = absent_functions(self.work, ports, differences)
        explained = {**absent.left_out, **absent.unknown}
        differences = tuple(one for one in differences if one.table != DATABASE or one.leaf not in explained)
        before = read_suspects(files, policy)
        found = suspicion(differences, before, self.clock(), policy.options.second_look_seconds)
        write_suspects(files, policy, {one.table for one in verdicts}, found.remembered, before)
        names = {one.table: one.not_judged for one in verdicts}
        hot = {name or _BESIDE_TABLES: _HOT for table in left for name in names.get(table, (table,))}
        for leaf in looking.hot:
            hot.pop(leaf.name, None)
        not_judged = {**scope.not_judged, **looking.not_placed, **absent.unknown, **hot}
        counts = sum((one.counts for one in verdicts), LeafCounts())
        verified = Verified(
            event=looking.end,
            leaves=counts.leaves,
            judged=min(counts.leaves, counts.judged + len(looking.hot)) - len(absent.unknown),
            with_files=counts.with_files,
            with_checksums=counts.with_checksums,
            by_bytes=counts.by_bytes,
            read=counts.read,
            digest=digest_of(verdicts),
            left_out={**scope.left_out, **absent.left_out},
            not_judged=dict(list(not_judged.items())[:MOST_NAMED]),
            unjudged=len(not_judged),
            hot={leaf.name: one.event for leaf, one in looking.hot.items()},
            suspects=tuple(map(str, found.suspects[:MOST_NAMED])),
            suspected=len(found.suspects),
            findings=tuple(map(str, found.findings[:MOST_NAMED])),
            found=len(found.findings),
            tables_with_findings=tuple(sorted({one.table for one in found.findings if one.table != DATABASE})),
            beside_tables=any(one.table == DATABASE for one in found.findings),
            since=min((one.since for one in found.remembered), default=None),
            look_again_at=found.look_again_at,
        )
        for line in verified.lines():
            self.work.report(line)
        if not self.tables:
            # What is said of some tables is not said of the replica: who looks again asks for the whole.
            write_outcome(files, policy, verified, _by_standing(found))
            self.tell(verified)
        return verified


def _by_standing(found: Suspicion) -> list[tuple[str, LeafDifference]]:
    return [*(("finding", one) for one in found.findings), *(("suspect", one) for one in found.suspects)]
