"""Run operations beside people: who may act when, what is known of each side, and what may never be seen."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any
from unittest import mock

from tests.checker.failover_histories import held
from tests.checker.switches.acknowledged_rows import Row
from tests.checker.switches.features import Feature
from tests.checker.switches.interposed import Moments, interposed
from tests.checker.switches.peoples_database import peoples_database, what_differs
from tests.checker.switches.primary_users import PrimaryUsers
from tests.checker.switches.two_sides import DATABASE, HOLDER, Side, TwoSides, Way
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.marks import PHASE, Phase
from twinhive.core.model.names import TableName
from twinhive.core.ports import WritePorts
from twinhive.operations.actions.unlock import Unlock

RACE_CALLS = 3
"""So many calls before something is changed its owner may have changed it himself: no look comes any closer."""
MARK_CALLS = 12
"""So many calls before the mark of a failback lies its last look at the old primary."""
_NAMED = 3


class Actor(Enum):
    """Who may act between two calls."""

    FOREIGN = "users of tables that no policy replicates"
    PRIMARY = "users of the primary"
    WRITERS = "writers at the primary, by an event or without"
    STALE = "writers at the old primary"


EVERYBODY = (Actor.FOREIGN, Actor.PRIMARY, Actor.STALE)


@dataclass(frozen=True)
class Violation:
    """What may never be seen, and after which step it was."""

    kind: str
    what: str
    step: str


class Ended(Exception):
    """Nothing more can be told of a history."""


class Beside:
    """Two clusters in a history, and what their users have been told.

    way      the policy that leads away from the primary
    old      the side that was the primary before a failover, until it is a replica
    rows     what writers were told of and have not removed
    """

    def __init__(self, seed: int, features: frozenset[Feature]) -> None:
        self.seed, self.features = seed, features
        self.chance = Random(seed)
        self.two = TwoSides(features, self.chance)
        self.way, self.opposite = self.two.there, self.two.back
        self.old: Side | None = None
        external = Feature.EXTERNAL in features
        self.people = PrimaryUsers(self.chance, is_lively=Feature.PEOPLE in features, has_external=external)
        self.steps: list[str] = []
        self.violations: list[Violation] = []
        self.counts: Counter[str] = Counter()
        self.states: dict[int, Any] = {}
        self.rows: set[Row] = self.primary.rows(DATABASE)
        self._left = {side.name: peoples_database(side) for side in self.two.sides}
        self.written: dict[Row, str] = {}
        """Which act has written a row."""
        self._stale_rows: list[tuple[int, set[Row]]] = []
        self._moments: Moments | None = None

    @property
    def primary(self) -> Side:
        """Return where users write."""
        return self.way.source

    def has(self, feature: Feature, share: float = 1.0) -> bool:
        """Tell whether something happens now, in a share of the cases."""
        return feature in self.features and self.chance.random() < share

    def step(self, what: str) -> None:
        """Note what is done next."""
        self.steps.append(what)

    def violated(self, kind: str, what: str) -> None:
        """Note what may not be."""
        self.violations.append(Violation(kind, what, self.steps[-1] if self.steps else "the beginning"))

    # What people do.

    def primary_acts(self, act: Callable[[Side], None] | None = None) -> None:
        """Let a user of the primary do something, anything unless it is said what."""
        self._acts_at(self.primary, act or self.people.act, removes=True)
        self.states[self.primary.metastore.current_event_id()] = self.held(self.primary)

    def stale_acts(self) -> None:
        """Let somebody write at the old primary, while it is no replica."""
        old = self.old
        if old is None or old.parameters().get(PHASE) == Phase.FOLLOWING.value:
            return
        again = Feature.SAME in self.features and self.chance.random() < 0.4
        new = self._acts_at(old, self.people.write_the_same if again else self.people.write_stale, removes=False)
        if self._moments is not None:
            self._stale_rows.append((self._moments.calls, new))

    def foreign_act(self) -> None:
        """Let a user of something that is not replicated act, at either side."""
        side = self.chance.choice(self.two.sides)
        if side.foreign is not None:
            self.check_foreign(side)
            self.people.done.append(f"{side.name}, foreign: {side.foreign.act()}")

    def some_users_act(self, most: int = 6) -> None:
        """Let some people do something."""
        for _ in range(self.chance.randrange(most)):
            self.primary_acts()
            self.foreign_act()

    def _acts_at(self, side: Side, act: Callable[[Side], None], *, removes: bool) -> set[Row]:
        self.check_people(side)
        before = side.rows()
        act(side)
        after = side.rows()
        self.rows |= after - before
        self.written |= dict.fromkeys(after - before, self.people.done[-1] if self.people.done else "")
        if removes:
            self.rows -= before - after
        self.leave(side)
        return after - before

    def leave(self, side: Side) -> None:
        """Take what is at a side for what its people have made of it."""
        self._left[side.name] = peoples_database(side)
        self.people.drop_what_flew_with_tables(side)
        if side.foreign is not None:
            side.foreign.left = side.foreign.look()

    # What is run.

    def operate(
        self, what: str, way: Way, run: Callable[[WritePorts], Any], actors: Sequence[Actor], *, kills: bool = True
    ) -> Any:
        """Run an operation beside people, now and then after tries that were killed; look at all of it afterwards."""
        for _ in range(4):
            ends = self.has(Feature.KILLS, 0.35) and kills
            switch = KillSwitch(
                self.chance.randrange(1, 25) if ends else 10**9, after_effect=self.chance.random() < 0.5
            )
            self.step(f"{what}, killed at change {switch.at}" if ends else what)
            try:
                return self._beside(way, lambda ports, switch=switch: run(killable(ports, switch)), actors)
            except Killed:
                self.counts["kills"] += 1
                Unlock(way.policy, HOLDER).run(way.ports())
            finally:
                self.check()
        self.step(what)
        try:
            return self._beside(way, run, actors)
        finally:
            self.check()

    def _beside(self, way: Way, run: Callable[[WritePorts], Any], actors: Sequence[Actor]) -> Any:
        there = [actor for actor in actors if self._may_act(actor)]
        if not there:
            return self._at_a_worker(lambda: run(way.ports()))
        moments = Moments(self._gap, lambda: self._one_acts(there), self._forgive)
        self._moments, self._stale_rows = moments, []
        try:
            return self._at_a_worker(lambda: run(interposed(way.ports(), moments)))
        finally:
            self._moments = None
            if moments.marked_at is not None:
                late = [rows for at, rows in self._stale_rows if at > moments.marked_at - MARK_CALLS]
                self.rows -= {row for some in late for row in some}

    def _may_act(self, actor: Actor) -> bool:
        match actor:
            case Actor.FOREIGN:
                return Feature.FOREIGN in self.features
            case Actor.PRIMARY:
                return Feature.PEOPLE in self.features
            case Actor.WRITERS:
                return True
            case Actor.STALE:
                return Feature.STALE in self.features and self.old is not None

    def _one_acts(self, actors: Sequence[Actor]) -> None:
        match self.chance.choice(actors):
            case Actor.FOREIGN:
                self.foreign_act()
            case Actor.PRIMARY:
                self.primary_acts()
            case Actor.WRITERS:
                self.primary_acts(self.chance.choice((self.people.add_rows, self.people.write_silently)))
            case Actor.STALE:
                self.stale_acts()

    def _gap(self) -> int:
        return int(self.chance.expovariate(1 / 30)) + 1

    def _forgive(self, calls: int) -> None:
        """Take for a race what is changed within a few calls after its owner has."""
        if calls > RACE_CALLS:
            return
        for side in self.two.sides:
            is_raced = side.foreign is not None and side.foreign.changed()
            if side.name in self._of_people() and what_differs(self._left[side.name], peoples_database(side)):
                is_raced = True
            if is_raced:
                self.counts["races"] += 1
                self.leave(side)

    def _at_a_worker(self, run: Callable[[], Any]) -> Any:
        """Run it on a machine with a clock of its own."""
        with mock.patch("time.time", self.two.worker()):
            return run()

    # What may be seen.

    def check(self) -> None:
        """Look at all that may never be otherwise."""
        for side in self.two.sides:
            self.check_people(side)
        self.check_rows()

    def check_people(self, side: Side) -> None:
        """See that what people have at a side is as they have left it."""
        self.check_foreign(side)
        for path in self.people.in_flight[side.name] if side is self.primary else ():
            if path not in side.files._nodes:
                self.violated("in flight", f"{path} is gone")
        self.people.drop_what_flew_with_tables(side)
        if side.name not in self._of_people():
            return
        now = peoples_database(side)
        for one in what_differs(self._left[side.name], now)[:_NAMED]:
            self.violated("people's", f"{side.name}: {one}")
        self._left[side.name] = now

    def check_foreign(self, side: Side) -> None:
        """See that what is not replicated is as its users have left it."""
        if side.foreign is not None and (changed := side.foreign.changed()):
            for one in changed[:_NAMED]:
                self.violated("foreign", one)
            side.foreign.left = side.foreign.look()

    def check_rows(self) -> None:
        """See that no row of which its writer was told is nowhere."""
        there = set().union(*(side.rows() for side in self.all_sides()))
        if lost := sorted(self.rows - there):
            self.violated("rows nowhere", f"{len(lost)} rows, {self.named(lost[0])}")
            self.rows &= there

    def named(self, row: Row) -> str:
        """Return a row in words."""
        return f"{self.written.get(row, 'there from the beginning')}, {row[0]} of {len(row[1])} bytes"

    def all_sides(self) -> list[Side]:
        """Return both, and the third where there is one."""
        return [*self.two.sides, *([self.two.north.replica] if self.two.north else [])]

    def held(self, side: Side) -> Any:
        """Return what readers see of the replicated tables."""
        names = side.foreign.names if side.foreign else set()
        found = held(side.metastore, side.files, DATABASE)
        return {name: said for name, said in found.items() if TableName(DATABASE, name) not in names}

    def _of_people(self) -> set[str]:
        """Return the sides whose database people write now."""
        found = {self.primary.name}
        if self.old is not None and self.old.parameters().get(PHASE) != Phase.FOLLOWING.value:
            found.add(self.old.name)
        return found

    def attempt(self, run: Callable[[], Any]) -> TwinhiveError | None:
        """Do it; return why it was refused, None where it was not."""
        try:
            run()
        except TwinhiveError as error:
            self.step(f"refused: {str(error).splitlines()[0]} {error.found or ''}"[:400])
            return error
        return None
