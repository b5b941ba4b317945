"""Let the replica follow, with what people ask of it on the way: scans, sweeps, requests, passes of external data."""

from collections.abc import Callable
from typing import Any

from tests.checker.switches.beside import Actor, Beside, Ended
from tests.checker.switches.features import Feature
from tests.checker.switches.two_sides import DATABASE, GRACE, HOLDER, Way
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import ActNow
from twinhive.core.model.quarantine import frozen_tables, with_frozen
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.operations.actions.unlock import Unlock
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase, run_whole

_MOST = 40


def tell_nobody(line: object) -> None:
    """Tell nobody."""


class Lane(Beside):
    """Follow the primary, and be asked for this and that."""

    doubtful = False
    """True while the replica may lack what no event, or no event that it has applied, has told."""

    def follow(self, ports: WritePorts | None = None, way: Way | None = None) -> None:
        """Apply windows until nothing is left to do."""
        way = way or self.way
        for _ in range(_MOST):
            found = run_phase(INCREMENTAL, way.policy, ports or way.ports(), {"run": "i"}, tell_nobody)
            if found["window"].idle:
                return
        self.violated("stuck", "windows never end")
        raise Ended

    def bring(self) -> None:
        """Let events and external data go on until nothing is left of either."""
        self.follow()
        if Feature.EXTERNAL in self.features:
            for _ in range(2):
                self.external_pass()
                self.follow()

    def external_pass(self, way: Way | None = None) -> None:
        """Copy external data, on a machine with a clock of its own."""
        way = way or self.way
        self._at_a_worker(lambda: run_whole("external", way.policy, way.ports(), {"run": "e"}, tell_nobody))

    def scan(self) -> None:
        """Bring over what was written without an event, and sweep; twice, with grace passing between."""
        waiting: tuple[str, ...] = ()

        def run(ports: WritePorts) -> None:
            nonlocal waiting
            scan = Scan(Work(self.way.policy, holder=HOLDER), deep=True, clock=self.two.worker(), wait=tell_nobody)
            waiting = scan.run(ports).waiting

        for _ in range(2):
            self.attempt(lambda: self.operate("scan and sweep", self.way, run, (Actor.FOREIGN,), kills=False))
            self.two.passes(10 * GRACE)
            self.follow()
        if waiting:
            self._forget_unsettled()

    def _forget_unsettled(self) -> None:
        """Take back the promise for what the scan has left: a query runs beside it, and the scan has said so.

        Where users of a new primary remove rows of such a table, nobody can tell these from theirs.
        """
        left = self.primary.rows(DATABASE) - self.way.replica.rows(DATABASE)
        silent = {row for row in left if self.written.get(row) == f"{self.primary.name}: silent"}
        self.counts["unsettled rows"] += len(silent & self.rows)
        self.rows -= silent

    def settle(self) -> None:
        """Bring everything over while nobody writes what is replicated."""
        self.step("settle")
        self._until_done(self.bring)
        if Feature.SILENT in self.features:
            self.scan()
            self._until_done(self.bring)
        self.check()

    def _until_done(self, run: Callable[[], Any], tries: int = 4) -> None:
        """Do it again when it is refused, and ask for everything first, as the errors say."""
        for _ in range(tries):
            error = self.attempt(run)
            if error is None:
                return
            if isinstance(error, ActNow):
                self.attempt(lambda: ResyncEverything(self.way.policy, HOLDER).run(self.way.ports()))
        self.violated("stuck", f"the replica does not follow: {error}")
        raise Ended

    def make_whole(self) -> None:
        """Compare everything, bring over what differs, and release what is frozen."""
        ports, policy = self.way.ports(), self.way.policy
        found = ports.replica.database(DATABASE)
        for table in sorted(frozen_tables(found.parameters if found else {})):
            self.attempt(lambda table=table: Resync(policy, table, HOLDER).run(self.way.ports()))
        self.attempt(lambda: ResyncEverything(policy, HOLDER).run(self.way.ports()))
        self.settle()
        self.doubtful = False

    def prove_equal(self) -> None:
        """See that both sides are equal, by the product's judgement and by our own."""
        work = Work(self.way.policy, holder=HOLDER)
        found = Verify(work, deep=True, clock=self.two.worker(), wait=tell_nobody).run(self.way.ports())
        if not found.is_equal:
            self.violated("unequal", "; ".join(map(str, found.lines()))[:400])
        primary, other = self.held(self.primary), self.held(self.way.replica)
        if primary != other:
            names = sorted(name for name in primary.keys() | other.keys() if primary.get(name) != other.get(name))
            self.violated("unequal", f"both sides are said to be equal, and differ in {', '.join(names)}")

    def following(self) -> None:
        """Let users write and the replica follow, with what else may happen meanwhile."""
        is_brought = False
        for _ in range(self.chance.randrange(1, 4)):
            self.some_users_act()
            if self.has(Feature.SILENT, 0.5):
                self.step("a silent write")
                table = self.chance.choice(("still", "plain"))
                # In a table of which users of a new primary remove rows no failback recognises it.
                is_brought = is_brought or table == "plain"
                self.primary_acts(lambda side, table=table: self.people.write_silently(side, table))
                self.doubtful = True
            self._follow_beside()
        if is_brought or self.has(Feature.SILENT, 0.5):
            self.scan()
        if self.has(Feature.EXTERNAL, 0.7):
            self.step("an external pass")
            self.bring()
        if self.has(Feature.LANE, 0.7):
            self._ask()

    def _follow_beside(self) -> None:
        people = (Actor.FOREIGN, Actor.PRIMARY)
        if self.attempt(lambda: self.operate("follow", self.way, self.follow, people)):
            self._until_done(self.follow)

    def _ask(self) -> None:
        """Quarantine a table, pass an event over, or ask for tables; then let users go on."""
        policy, ports = self.way.policy, self.way.ports()
        table = self.chance.choice(("plain", "orders", "still"))
        match self.chance.choice(("quarantine", "skip", "table", "all")):
            case "quarantine":
                self.step(f"{table} is quarantined")
                found = ports.replica.database(DATABASE)
                assert found is not None
                frozen = with_frozen(found.parameters, table, "8 somebody else's file was in the way")
                ports.replica.set_database_parameters(DATABASE, frozen)
            case "skip":
                self.follow()
                self.primary_acts(self.people.add_rows)
                newest = self.primary.metastore.events[-1]
                inserts = [row for row in self.primary.metastore.events[-4:] if row.event_type == "INSERT"]
                event = (inserts[-1] if inserts else newest).event_id
                self.step(f"event {event} is skipped")
                self.attempt(lambda: SkipEvent(policy, event, "a rehearsal", HOLDER).run(ports))
            case "table":
                self.step(f"{table} is asked for")
                self.attempt(lambda: Resync(policy, table, HOLDER).run(ports))
            case _:
                self.step("everything is asked for")
                self.attempt(lambda: ResyncEverything(policy, HOLDER).run(ports))
        self.doubtful = True
        for _ in range(3):
            self.primary_acts(lambda side: self.people.write_stale(side))
        if self.chance.random() < 0.7:
            self.attempt(self.follow)

    def half_apply(self) -> None:
        """Let an apply die in the middle of a window; now and then nobody finds the window in staging any more."""
        for _ in range(3):
            self.primary_acts()
        switch = KillSwitch(self.chance.randrange(8, 60), after_effect=True)
        self.step(f"an apply dies at change {switch.at}")
        try:
            self.attempt(lambda: self.follow(killable(self.way.ports(), switch)))
        except Killed:
            Unlock(self.way.policy, HOLDER).run(self.way.ports())
        files, windows = self.way.replica.files, f"{self.way.policy.staging}/windows"
        if self.chance.random() < 0.4 and windows in files._nodes:
            self.step("the window is moved aside")
            files.rename(windows, f"{windows}.aside")

    def states_of(self, event_id: int) -> Any:
        """Return what the primary held right after an event, None where nobody looked."""
        return self.states.get(event_id)
