"""Verify a followed world in memory, with a clock of the test's own."""

from collections.abc import Callable
from typing import Any

from tests.support.worlds.fake_world import LISTENER, REPLICA_ADDRESS
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.step.step_base import Work
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify

NIGHT = 20_000 * 86_400.0


class Verifying:
    """A followed world; each verification comes a scan later than the one before, on the same day."""

    def __init__(self, followed: Followed | None = None, *, replica_keeps_log: bool = False) -> None:
        self.followed = followed or Followed()
        self.world = self.followed.world
        self.users = self.followed.users
        self.now = NIGHT
        self.waited = 0.0
        if replica_keeps_log:
            self.world.replica.configurations[REPLICA_ADDRESS]["metastore.transactional.event.listeners"] = LISTENER

    def verify(
        self, *tables: str, deep: bool = False, ports: Any = None, during: Callable[[], object] = lambda: None
    ) -> Verified:
        """Look once; `during` happens between two rounds of it."""
        self.now += self.followed.policy.options.second_look_seconds
        work = Work(self.followed.policy, holder={"run": "v"}, report=self.followed.say)
        step = Verify(work, tables, deep, clock=lambda: self.now, wait=lambda seconds: during())
        return step.run(ports or self.world.ports())

    def next_night(self) -> None:
        """Let the next verification be that of another day."""
        self.now += 86_400

    def findings(self, *tables: str, deep: bool = False) -> list[str]:
        """Return what two looks, one after the other, find."""
        self.verify(*tables, deep=deep)
        return list(self.verify(*tables, deep=deep).findings)
