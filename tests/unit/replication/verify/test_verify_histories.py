"""Verify at any moment of random histories: nothing is called damaged, and 'equal at event N' holds at event N."""

import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.checker.faults import Plan
from tests.checker.memory_histories import Drill, Settings
from tests.support.seeds import DAY, seeds
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import LISTENER, REPLICA_ADDRESS, tuned
from tests.unit.replication.incremental.test_incremental import HISTORIES, Followed
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.step.step_base import Work
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import _BETWEEN_SECONDS as BETWEEN_ROUNDS
from twinhive.replication.verify.verify import Verify

MANY = int(os.environ.get("TWINHIVE_HISTORIES", "0"))
KEEPS_LOG = [False, True] if MANY else [bool(DAY % 2)]
"""Whether the replica writes an event log of its own: each on every other day, both at night."""
OF_TODAY = HISTORIES if MANY else HISTORIES[DAY // 2 % 2 :: 2]
"""Half of the kinds of change, the others two days later: four days have all, with and without such a log."""


@pytest.mark.thorough
@pytest.mark.parametrize("history", OF_TODAY, ids=lambda history: history.__name__)
@pytest.mark.parametrize("replica_keeps_log", KEEPS_LOG)
def test_windows_of_one_event_are_equal_or_not_judged_in_between_and_equal_at_the_end(
    history: Callable[[SourceWriter], None], replica_keeps_log: bool
) -> None:
    verifying = Verifying(Followed(tuned(window_events=1)), replica_keeps_log=replica_keeps_log)
    assert verifying.verify(deep=True).is_equal
    history(verifying.users)
    while True:
        found = verifying.verify()
        assert found.findings == found.suspects == (), found.lines()
        if verifying.followed.follow()["window"].idle:
            break
    found = verifying.verify()
    assert found.is_equal, found.lines()
    assert found.event == verifying.world.source.current_event_id()


class VerifyingDrill(Drill):
    """A history beside which somebody verifies, while its users go on."""

    looks = equal = 0
    now = 0.0
    _looked_at: Any = None

    def _attempt(self) -> None:
        super()._attempt()
        if ReplicaState.read(self.viewer.parameters()).phase is Phase.FOLLOWING:
            self.verify(self.ports(Plan()))

    def verify(self, ports: Any) -> Verified:
        """Look once, a quarter of an hour after the last time; users go on meanwhile, and runs between rounds."""
        self.now += 900
        self.looks += 1
        work = Work(self.policy, holder={"run": "verify"}, report=self._report)
        self._looked_at = None
        found = Verify(work, clock=lambda: self.now, wait=self._between).run(ports)
        assert found.findings == (), self.story(f"findings without damage: {found.lines()}")
        if found.is_equal:
            self.equal += 1
            self._assert_equal_at(found)
        return found

    def left_in_staging(self) -> list[str]:
        return [path for path in super().left_in_staging() if "/verify" not in path]

    def _between(self, seconds: float) -> None:
        if seconds < BETWEEN_ROUNDS and self._looked_at is None:
            # What never stands still is left: all else was judged as it is here.
            self._looked_at = self.viewer.state()
        try:
            self._run_phases(self.ports(Plan(), quiet=True))
        except TwinhiveError as error:
            self.log.append(f"between two rounds: {error}")

    def _assert_equal_at(self, found: Verified) -> None:
        """Assert that the replica was what the source was at an event when it was looked at, but for hot leaves."""
        moments = self.judge._timeline.moments
        index = max(at for at, moment in enumerate(moments) if moment.event_id <= found.event)
        hot = [re.compile(rf"(?<!\w){re.escape(name.split()[0])}(?!\w)") for name in found.hot]
        differences = [
            one
            for one in self.judge._differences(index, self._looked_at or self.viewer.state())
            if not any(name.search(one) for name in hot)
        ]
        assert differences == [], self.story(f"called equal at event {found.event}: {differences}")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(faults=0, pace=30), Settings(consistency="window_end"), Settings(crosses=True)],
    ids=["kills", "busy", "window_end", "crosses"],
)
@pytest.mark.parametrize("keeps_log", [False, True])
def test_random_histories(settings: Settings, keeps_log: bool) -> None:
    looks = equal = 0
    for seed in seeds(MANY or 2):
        drill = VerifyingDrill(seed, settings)
        if keeps_log:
            listeners = {"metastore.transactional.event.listeners": LISTENER}
            drill.place.world.replica.configurations[REPLICA_ADDRESS] |= listeners
        drill.run()
        drill.assert_end()
        last = drill.verify(drill.ports(Plan(), quiet=True))
        assert not last.suspects, drill.story(f"suspects at the end: {last.lines()}")
        looks, equal = looks + drill.looks, equal + drill.equal
    assert looks >= equal > 0
    if MANY:  # a replica may be equal at each of the few looks of a day
        assert looks > equal
