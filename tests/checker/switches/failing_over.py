"""Let the other side take over: planned, by a form, behind a fence, unplanned."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.checker.switches.beside import EVERYBODY, Actor, Ended
from tests.checker.switches.features import Feature
from tests.checker.switches.interposed import interposed
from tests.checker.switches.lane import Lane
from tests.checker.switches.orders import an_operation, at_once
from tests.checker.switches.two_sides import DATABASE, HOLDER, Side
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.failover.fence import COMMAND, FENCED, QUOTA, FenceRules
from twinhive.core.model.marks import PHASE, Phase
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.operations.operation_kinds import OperationFields, operation_of

_TRIES = 6
_HOURS = 5 * 3_600


class FailingOver(Lane):
    """Take over, and judge what was lost."""

    def fail_over(self) -> None:
        """Let the other side take over somehow."""
        self.chance.choice(self.ways_over())()

    def ways_over(self) -> list[Callable[[], None]]:
        """Return how it may be done."""
        ways: list[Callable[[], None]] = [self.planned, self.unplanned, self.unplanned]
        if Feature.FENCE in self.features:
            ways += [self.fenced] * 2
        if Feature.FORMS in self.features:
            ways += [self.by_form]
        if Feature.CLOCKS in self.features:
            ways += [self.slowly]
        return ways

    # Planned.

    def planned(self) -> None:
        """Take over from a source that nobody writes any more."""
        self.settle()
        self._take_over("planned failover", self.an_order)

    def by_form(self) -> None:
        """Take over by the form of the DAG `give_up`, with external data that no pass has seen."""
        self.settle()

        def order(policy: Policy) -> Failover:
            made: Any = operation_of("failover", policy, HOLDER, OperationFields())
            return replace(made, wait=at_once)  # type: ignore[no-any-return]

        self.primary_acts(self.people.write_external)
        run = order(self.way.policy).run
        if self.attempt(lambda: self.operate("failover by the form", self.way, run, (Actor.FOREIGN,))) is None:
            self.taken_over("failover by the form", is_planned=True)
        else:
            # A form brings nothing over; a terminal does.
            self.planned()

    def slowly(self) -> None:
        """Take over after a comparison of hours, in which somebody writes without an event."""
        self.settle()
        at, calls = self.chance.randrange(100, 280), [0]
        table = self.chance.choice(("still", "plain"))

        def meanwhile(port: str, method: str, arguments: tuple[Any, ...]) -> None:
            calls[0] += 1
            if calls[0] == at:
                self.step("a silent write, and five hours")
                self.primary_acts(lambda side: self.people.write_silently(side, table))
                self.two.passes(_HOURS)

        def once(order: Failover) -> Callable[[WritePorts], Any]:
            return lambda ports: order.run(interposed(ports, meanwhile))

        self._take_over("slow failover", self.an_order, once)

    def an_order(self, policy: Policy) -> Failover:
        """Return a planned failover, run by whichever worker."""
        clock = self.two.worker()

        def catch_up(since: Any) -> None:
            for _ in range(_TRIES):
                self.follow()
                if order.is_behind(self.way.ports()) is None:
                    return
                self.external_pass()

        order: Failover = an_operation(
            Failover, policy, clock=clock, began=clock(), catch_up=catch_up, run_command=self.primary.hook
        )
        return order

    def _take_over(
        self,
        what: str,
        order: Callable[[Policy], Failover],
        how: Callable[[Failover], Callable[[WritePorts], Any]] = lambda one: one.run,
    ) -> None:
        """Try until it has taken over; what it asks for is done."""
        if Feature.EXTERNAL in self.features:
            # Until it begins users write.
            self.primary_acts(self.people.write_external)
        for tries in range(_TRIES):
            policy = self.way.policy
            # Events of tables of others count as news, as long as somebody commits to them.
            actors = (Actor.FOREIGN,) if tries < _TRIES // 2 else ()
            error = self.attempt(lambda: self.operate(what, self.way, how(order(policy)), actors, kills=True))  # noqa: B023
            if error is None:
                self.taken_over(what, is_planned=True)
                return
            if tries:
                self.make_whole()
            else:
                self.settle()
        self.violated("stuck", f"{what}: refused {_TRIES} times, with no writers: {error}")
        raise Ended

    # Behind a fence.

    def fenced(self) -> None:
        """Take over while users go on, whom the fence stops."""
        self.settle()
        policy = replace(self.way.policy, fence=self.rules)
        for tries in range(4 * _TRIES):
            users = (Actor.FOREIGN, Actor.WRITERS) if tries < _TRIES else (Actor.FOREIGN,)
            error = self.attempt(lambda: self.operate("fenced failover", self.way, self.an_order(policy).run, users))  # noqa: B023
            if error is None:
                self.taken_over("fenced failover", is_planned=True)
                self.assert_fenced(self.old)
                return
            if self.chance.random() < 0.5 or tries > _TRIES:
                self.abort(policy)
                self.make_whole()
        self.violated("stuck", f"fenced failover: refused {4 * _TRIES} times: {error}")
        raise Ended

    @property
    def rules(self) -> FenceRules:
        """Return how this history's fences are made."""
        return self.two.fence

    def abort(self, policy: Policy) -> None:
        """Give a failover up; a command of the operator's that fails is run again."""
        for _ in range(20):
            order = an_operation(AbortFailover, policy, run_command=self.primary.hook)
            if self.attempt(lambda: self.operate("abort", self.way, order.run, (Actor.FOREIGN,), kills=True)) is None:  # noqa: B023
                break
            self.primary_acts(self.people.write_silently)
        else:
            self.violated("stuck", "an abort that never ends")
            raise Ended
        shut = [place for place, names in self.primary.files.name_quotas.items() if names == 1]
        if FENCED in self.primary.parameters() or self.primary.hook.shut or shut:
            self.violated("fence", f"it stands after an abort: {shut or 'the mark, or the command'}")

    def assert_fenced(self, side: Side | None) -> None:
        """See that the fence behind which a replica has taken over stands at the servers."""
        assert side is not None
        if COMMAND in self.rules.rungs and not side.hook.shut:
            self.violated("fence", "taken over, and the operator's command lets writers in")
        if QUOTA in self.rules.rungs:
            place = side.users.location("plain")
            try:
                side.files.write(f"{place}/_probe", b"probe")
            except TwinhiveError:
                return
            side.files.delete_file(f"{place}/_probe")
            self.violated("fence", f"taken over, and files get into {place}")

    # Unplanned.

    def unplanned(self) -> None:
        """Take over at what is there; what the old primary has alone is not lost with that."""
        if self.has(Feature.HALF, 0.6):
            self.half_apply()
        self.some_users_act()
        if self.has(Feature.SILENT, 0.3):
            self.step("a silent write")
            self.primary_acts(self.people.write_silently)
            self.doubtful = True
        barred = self._bar() if self.has(Feature.BARRED, 0.7) else None
        lines: list[str] = []
        at = 0

        def take_over() -> None:
            nonlocal at
            at = an_operation(UnplannedFailover, self.way.policy, 0, "gone").event_now(self.way.ports())
            order = an_operation(UnplannedFailover, self.way.policy, at, "gone", clock=self.two.worker())
            lines.extend(self.operate("unplanned failover", self.way, order.run, EVERYBODY))

        for _ in range(_TRIES):
            error = self.attempt(take_over)
            if error is None:
                break
            self._unbar(barred, str(error))
        else:
            if "is in the middle of a window" not in str(error):  # a window that was moved aside: a person decides
                self.violated("stuck", f"unplanned failover: refused {_TRIES} times: {error}")
            raise Ended
        self.way.replica.files.forbidden.discard(barred or "")
        self.judge_event(at, " ".join(map(str, lines)))
        self.taken_over("unplanned failover", is_planned=False)

    def _unbar(self, barred: str | None, error: str) -> None:
        """Let a directory go that keeps a failover from its end; only what staged events need may do so."""
        if barred and barred in error:
            if "what is staged cannot be applied" not in error:
                self.violated("blocked", f"an unplanned failover is refused for a directory that cannot go: {barred}")
            self.way.replica.files.forbidden.discard(barred)

    def _bar(self) -> str | None:
        """Let a directory of ours that nothing uses be one that HDFS does not let go."""
        side = self.way.replica
        root = f"{side.files.root}/warehouse/managed/{DATABASE}.db"
        used = {one.location for one in side.metastore._tables.values()}
        used |= {one.location for some in side.metastore._partitions.values() for one in some.values()}
        paths = [one.path for one in side.files._tree.children(root)] if root in side.files._nodes else []
        unused = [path for path in paths if not any(str(use).startswith(path) for use in used)]
        if not unused:
            return None
        chosen = self.chance.choice(sorted(unused))
        self.step(f"nobody may delete {chosen}")
        side.files.forbidden.add(chosen)
        return chosen

    def judge_event(self, event_id: int, lines: str) -> None:
        """See that the new primary is as the old one was after the event that was named, or that it is said."""
        was, now = self.states_of(event_id), self.held(self.way.replica)
        if was is None or self.doubtful:
            return
        differ = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
        if unsaid := [name for name in differ if name not in lines]:
            self.violated("mixture", f"taken over at event {event_id}, and {', '.join(unsaid)} is of another")

    # Afterwards.

    def taken_over(self, what: str, *, is_planned: bool) -> None:
        """Let the users go over; see that a planned failover has left none of their rows behind."""
        old, new = self.primary, self.way.replica
        self.counts[what] += 1
        if new.parameters().get(PHASE) != Phase.PROMOTED.value:
            self.violated("phase", f"{what} ended well, and the phase is {new.parameters().get(PHASE)}")
        if is_planned and (left := sorted((self.rows & old.rows(DATABASE)) - new.rows(DATABASE))):
            self.violated("left behind", f"{what}: {len(left)} rows, {self.named(left[0])}")
            self.rows -= set(left)
        self.old = old
        self.way, self.opposite = self.opposite, self.way
        self.people.in_flight[new.name] = {}
        new.hook.shut = False
        self.states = {}
        self.doubtful = False
        self.leave(new)
