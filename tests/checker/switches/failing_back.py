"""Make the old primary the replica, beside its late writers and the new one's users; and what else may come of it."""

from collections.abc import Callable
from dataclasses import replace

from tests.checker.switches.at_once import AtOnce, Order
from tests.checker.switches.beside import EVERYBODY, Actor, Ended
from tests.checker.switches.features import Feature
from tests.checker.switches.orders import an_operation, at_once
from tests.checker.switches.peoples_database import peoples_database, what_differs
from tests.checker.switches.primary_users import STILL
from tests.checker.switches.two_sides import DATABASE, HOLDER
from tests.support.worlds.fake_world import backup
from twinhive.core.model.failover.fence import FENCED
from twinhive.core.model.marks import PHASE, Phase
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.adopt import SEED, Adopt
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.scan.scan import Scan

_TRIES = 8


class FailingBack(AtOnce):
    """Fail back, forget, adopt, restore."""

    def write_at_both(self) -> None:
        """Let users of the new primary write, and who has not been told of it."""
        self.some_users_act()
        if self.has(Feature.STALE):
            for _ in range(self.chance.randrange(4)):
                self.step("a stale writer")
                self.stale_acts()

    def fail_back(self) -> None:
        """Make the old primary a replica; a refusal must end when its writers do."""
        assert self.old is not None
        self.people.in_flight[self.old.name] = {}
        actors = EVERYBODY
        if self.chance.random() < 0.5:
            self.attempt(
                lambda: self.operate("keep", self.way, an_operation(Failback, self.way.policy).keep, EVERYBODY)
            )
            self.write_at_both()
        if self.has(Feature.OPERATORS, 0.4):
            self._beside_another()
        for tries in range(_TRIES):
            order = an_operation(Failback, self.way.policy)
            error = self.attempt(lambda: self.operate("failback", self.way, order.run, actors))  # noqa: B023
            if error is None:
                break
            if tries >= 2:
                actors = (Actor.FOREIGN, Actor.PRIMARY)
        else:
            # A backup of when it was the primary before: who restores one over two switches has to decide.
            if Feature.RESTORE not in self.features or "has taken over from" not in str(error):
                self.violated("stuck", f"failback: refused {_TRIES} times: {error}")
            raise Ended
        self.go_on()

    def go_on(self) -> None:
        """Let the policy bring over what differs; then see that nothing of it was lost."""
        self.old = None
        self.attempt(lambda: Unpause(self.way.policy).run(self.way.ports()))
        self._follow_beside()
        self.settle()
        self.prove_equal()
        self.check()
        self.counts["failbacks"] += 1

    def _beside_another(self) -> None:
        """Let a second operator do something else at the same time."""
        policy, other = self.way.policy, self.opposite
        at = int(other.replica.parameters().get("repl.last.id", "0"))
        others: dict[str, Order] = {
            "the failover again": (other, self.an_order(other.policy).run),
            "the unplanned failover again": (other, an_operation(UnplannedFailover, other.policy, at, "gone").run),
            "the other failback": (other, an_operation(Failback, other.policy).run),
            "a failback too": (self.way, an_operation(Failback, policy).run),
        }
        name = self.chance.choice(sorted(others))
        ended = self.interleaved({"a failback": (self.way, an_operation(Failback, policy).run), name: others[name]})
        self.step(f"ended: {ended}")
        self.assert_one_primary()

    def assert_one_primary(self) -> None:
        """See that the primary is still one, and that nobody else is."""
        primary, other = self.primary.parameters(), self.way.replica.parameters()
        if primary.get(PHASE) != Phase.PROMOTED.value:
            self.violated("primaries", f"{self.primary.name} is none any more: {primary.get(PHASE)}")
            raise Ended
        if self.two.north and self.two.north.replica.parameters().get(PHASE) == Phase.PROMOTED.value:
            self.violated("primaries", f"{self.primary.name} and north")
            raise Ended
        if other.get(PHASE) == Phase.PROMOTED.value and self.old is None:
            self.violated("primaries", "both sides")
            raise Ended

    # A third cluster.

    def north_tries(self) -> None:
        """Let a third cluster, which replicated the same source, go on and take over from it."""
        north = self.two.north
        if north is None:
            return
        self.step("north follows")
        self.attempt(lambda: self.follow(way=north))
        if self.primary is north.source:
            return  # Nobody else is the primary: it may take over, and this history would end.
        clock = self.two.worker()
        order = an_operation(Failover, north.policy, clock=clock, began=clock())
        self.step("north takes over")
        self.attempt(lambda: order.run(north.ports()))
        if north.replica.parameters().get(PHASE) == Phase.PROMOTED.value:
            self.violated("primaries", f"{self.primary.name} and north, which has taken over from {north.source.name}")
            raise Ended

    # What ends a policy.

    def forget_primary(self) -> None:
        """Give up the policy that led into the primary, while its users work."""
        self.some_users_act()
        way = self.opposite
        order = an_operation(Forget, way.policy)
        if error := self.attempt(lambda: self.operate("forget", way, order.run, (Actor.FOREIGN, Actor.PRIMARY))):
            self.violated("stuck", f"forget: {error}")
        raise Ended

    def forget_and_adopt(self) -> None:
        """Give a replica up, say that it may be taken again, and let the policy adopt it."""
        way, policy = self.way, self.way.policy
        forget = an_operation(Forget, policy)
        if error := self.attempt(lambda: self.operate("forget", way, forget.run, (Actor.FOREIGN, Actor.PRIMARY))):
            self.violated("stuck", f"forget: {error}")
            raise Ended
        self.old = way.replica
        self.leave(self.old)
        said = way.replica.parameters()
        way.replica.metastore.set_database_parameters(DATABASE, {**said, SEED: policy.name})
        adopt = an_operation(Adopt, policy)
        if error := self.attempt(lambda: self.operate("adopt", way, adopt.run, (Actor.FOREIGN, Actor.PRIMARY))):
            self.violated("stuck", f"adopt: {error}")
            raise Ended
        self.go_on()

    def restore_primary(self, restore: Callable[[], None]) -> None:
        """Restore the new primary's metastore to before it took over; nobody has paused what runs by itself."""
        side, way = self.primary, self.opposite
        self.step(f"{side.name}'s metastore is restored")
        restore()
        for one in self.two.sides:
            self.leave(one)
        self.rows = set().union(*(one.rows() for one in self.all_sides()))
        before = peoples_database(side)
        for number in range(3):
            self.attempt(lambda: self.follow(way=way))
            policy = replace(way.policy, options=replace(way.policy.options, settle_seconds=0))
            scan = Scan(Work(policy, holder=HOLDER), deep=True, clock=self.two.worker(), wait=at_once)
            self.attempt(lambda: scan.run(way.ports()))  # noqa: B023
            if Feature.EXTERNAL in self.features:
                self.attempt(lambda: self.external_pass(way))
            self.two.passes(100_000)
            self.step(f"round {number} of what runs by itself")
        for one in what_differs(before, peoples_database(side))[:3]:
            self.violated("restored", f"{side.name}: {one}")
        self.check_foreign(side)
        raise Ended

    def restore_old(self, restore: Callable[[], None]) -> None:
        """Restore the old primary's metastore; what was registered since is gone by that alone."""
        assert self.old is not None
        self.step(f"{self.old.name}'s metastore is restored")
        fenced = FENCED in self.old.parameters()
        restore()
        if fenced and FENCED not in self.old.parameters():  # nobody knows of the fence any more: a person takes it away
            self.old.files.name_quotas.clear()
        self.leave(self.old)
        self.rows &= set().union(*(one.rows() for one in self.all_sides()))
        # No event tells of these any more: of a table that the new primary's users have changed none is recognised.
        self.rows -= self.old.rows(DATABASE, but=STILL) - self.primary.rows()

    def a_backup(self) -> Callable[[], None]:
        """Take a backup of the replica's metastore."""
        return backup(self.way.replica.metastore)
