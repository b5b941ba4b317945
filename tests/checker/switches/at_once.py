"""Let two things be done at once, call by call: by two operators, or by one and a process that stood still."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.checker.interleaving import Pausable, pause
from tests.checker.switches.beside import Ended
from tests.checker.switches.failing_over import FailingOver
from tests.checker.switches.features import Feature
from tests.checker.switches.interposed import interposed
from tests.checker.switches.lane import tell_nobody
from tests.checker.switches.orders import an_operation
from tests.checker.switches.two_sides import Way
from tests.support.worlds.fake_world import Killable, Killed, KillSwitch, killable
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.marks import PHASE, Phase
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.replication.scan.scan import Scan
from twinhive.runtime.pipeline.runner import run_whole

Order = tuple[Way, Callable[[WritePorts], Any]]
_STEPS = 100_000


class AtOnce(FailingOver):
    """Interleave."""

    def ways_over(self) -> list[Callable[[], None]]:
        """Return how it may be done."""
        return super().ways_over() + [self.two_operators, self.over_frozen_work] * (3 * self.has(Feature.OPERATORS))

    def two_operators(self) -> None:
        """Let one take over while another one gives it up."""
        self.settle()
        policy = replace(self.way.policy, fence=self.rules)
        first, second = self.an_order(policy), an_operation(AbortFailover, policy, run_command=self.primary.hook)
        switch = KillSwitch(self.chance.randrange(1, 12), after_effect=self.chance.random() < 0.5)

        def abort(ports: WritePorts) -> Any:
            return second.run(killable(ports, switch) if Feature.KILLS in self.features else ports)

        ended = self.interleaved({"failover": (self.way, first.run), "abort": (self.way, abort)}, writers=True)
        if self.way.replica.parameters().get(PHASE) == Phase.PROMOTED.value:
            self.taken_over("failover beside an abort", is_planned=True)
            self.assert_fenced(self.old)
            return
        self.step(f"not taken over: {ended}")
        self.abort(policy)
        self.planned()

    def interleaved(self, orders: dict[str, Order], *, writers: bool = False) -> dict[str, str]:
        """Run some at once, the first for a while before the others; return how each has ended."""
        runs = [Pausable(self._body(*order, _before), name) for name, order in orders.items()]
        self.step(" beside ".join(orders))
        for _ in range(self.chance.randrange(150, 550)):
            runs[0].step()
        while waiting := [one for one in runs if not one.ended]:
            one = self.chance.choice(waiting)
            for _ in range(int(self.chance.expovariate(1 / 25)) + 1):
                one.step()
            if writers and self.chance.random() < 0.5:
                self.primary_acts(self.people.write_silently)
        for one in runs:
            _raise_odd(one)
        self.check()
        return {one.name: f"{type(one.error).__name__} {one.error}".splitlines()[0] for one in runs}

    def over_frozen_work(self) -> None:
        """Take over while a run stands still, which goes on when the new primary has users."""
        way, is_change = self.way, False

        def before(port: str, method: str, arguments: tuple[Any, ...]) -> None:
            nonlocal is_change
            is_change = method in Killable.CHANGES
            pause()

        work = Work(way.policy, holder={"run": "frozen"})
        kinds: dict[str, Callable[[WritePorts], Any]] = {
            "incremental": lambda ports: self.follow(ports, way),
            "scan": Scan(work, deep=True, clock=self.two.worker(), wait=tell_nobody).run,
        }
        if Feature.EXTERNAL in self.features:
            kinds["external"] = lambda ports: run_whole("external", way.policy, ports, {"run": "e"}, tell_nobody)
        name = self.chance.choice(sorted(kinds))
        for _ in range(4):
            self.primary_acts()
        frozen = Pausable(self._body(way, kinds[name], before), name)
        for _ in range(self.chance.randrange(1, 90)):
            frozen.step()
        # Who takes a lease waits for as long as the one change of its last holder may be under way.
        while is_change and not frozen.ended:
            frozen.step()
        self.step(f"{name} stands still" if not frozen.ended else f"{name} has ended")
        way.lease.lose_holders()
        self.unplanned()
        for _ in range(3):
            self.primary_acts()
        self.step(f"{name} goes on")
        frozen.finish()
        _raise_odd(frozen)
        self.check()

    def _body(self, way: Way, run: Callable[[WritePorts], Any], before: Any) -> Callable[[], object]:
        return lambda: run(interposed(way.ports(), before))


def _before(port: str, method: str, arguments: tuple[Any, ...]) -> None:
    # Whoever has proved his lease makes his one call: that nobody comes between the two cannot be had.
    if (port, method) != ("replica", "set_database_parameters"):
        pause()


def _raise_odd(run: Pausable) -> None:
    """Raise what is no answer of the product."""
    if run.error is not None and not isinstance(run.error, TwinhiveError | Killed | Ended):
        raise run.error
