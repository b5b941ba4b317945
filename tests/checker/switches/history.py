"""Run one history from its seed, with chosen features, and tell what was seen that may not be."""

import random
import traceback
from dataclasses import dataclass, field

from tests.checker.memory_histories import one_thread
from tests.checker.switches.beside import Ended, Violation
from tests.checker.switches.failing_back import FailingBack
from tests.checker.switches.features import Feature
from tests.support.worlds.fake_world import backup

_ROUNDS = (1, 2, 2, 3)


@dataclass
class Outcome:
    """What a history has come to."""

    seed: int
    features: frozenset[Feature]
    violations: list[Violation]
    steps: list[str]
    counts: dict[str, int] = field(default_factory=dict)

    def story(self) -> str:
        """Return it for people; `python -m tests.checker.switches` runs the same again."""
        names = ",".join(sorted(self.features)) or "none"
        again = f"python -m tests.checker.switches 1 --first {self.seed} --features {names} --story"
        found = [f"* {one.kind}: {one.what}\n    after: {one.step}" for one in self.violations]
        return "\n".join([f"seed {self.seed}: {again}", *found, "steps:", *(f"  {step}" for step in self.steps)])


class History(FailingBack):
    """Switch to and fro."""

    def run(self) -> None:
        """Do it all."""
        try:
            self.attempt(self.bring)
            for _ in range(self.chance.choice(_ROUNDS)):
                self._round()
        except Ended:
            pass
        self.check()

    def _round(self) -> None:
        self.following()
        restores_new = self.a_backup() if self.has(Feature.RESTORE, 0.4) else None
        old_was = backup(self.primary.metastore) if self.has(Feature.RESTORE, 0.3) else None
        self.fail_over()
        self.write_at_both()
        if self.has(Feature.HUB, 0.7):
            self.north_tries()
        if restores_new is not None and self.chance.random() < 0.5:
            self.restore_primary(restores_new)
        if self.has(Feature.FORGET, 0.35):
            self.forget_primary()
        if old_was is not None:
            self.restore_old(old_was)
        self.fail_back()
        if self.has(Feature.HUB, 0.5):
            self.north_tries()
        if self.has(Feature.FORGET, 0.4) and Feature.EXTERNAL not in self.features:
            self.forget_and_adopt()


def run_history(seed: int, features: frozenset[Feature]) -> Outcome:
    """Run one; whatever goes wrong in it is in what is returned."""
    with one_thread(random.Random(seed)):
        history: History | None = None
        try:
            history = History(seed, features)
            history.run()
        except Exception as error:
            told = "".join(traceback.format_exception(error)[-3:])
            if history is None:
                raise
            history.violated("error", f"{type(error).__name__}: {error}\n{told}")
    return Outcome(seed, features, history.violations, history.steps, dict(history.counts))
