"""Count what failed: exactly, and with a bounded number of examples."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from twinhive.core.model.errors import TwinhiveError
from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind
from twinhive.transfer.tree.tally import Tally

_MOST_EXAMPLES = 100
_MOST_HELD = 100_000


@dataclass
class Failures:
    """Count what failed; keep some examples, and the new directories that are not to be put in place.

    `held` are roots of new directories (`Action.new_root`) in which something failed, `holds_all` says that they
    were too many to be remembered: none is put in place then. `vanished` is what a busy source has no more.
    `differing` are the relative paths of files in new directories whose copies were compared and are not equal.
    """

    tally: Tally = field(default_factory=Tally)
    kinds: Counter[FailureKind] = field(default_factory=Counter)
    unreadable: Tally = field(default_factory=Tally)
    examples: list[CopyFailure] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    holds_all: bool = False
    vanished: Tally = field(default_factory=Tally)
    differing: list[str] = field(default_factory=list)

    def add(
        self,
        path: str,
        error: TwinhiveError,
        length: int = 0,
        *,
        is_directory: bool = False,
        new_root: str | None = None,
    ) -> None:
        """Count what cannot be done without somebody or something else changing."""
        self.tally.add(length, is_directory=is_directory)
        self.kinds[FailureKind.of(error)] += 1
        self._keep(CopyFailure.of(path, error))
        if new_root is not None:
            self._hold([new_root])

    def add_unreadable(self, path: str, error: TwinhiveError, length: int = 0, *, is_directory: bool = False) -> None:
        """Count what the source does not let us read and what was to be left out then."""
        self.unreadable.add(length, is_directory=is_directory)
        self._keep(CopyFailure.of(path, error))

    def holds(self, new_root: str) -> bool:
        """True when something in this new directory failed."""
        return self.holds_all or new_root in self.held

    def merge(self, other: "Failures") -> None:
        """Add what another process or thread has met."""
        self.tally += other.tally
        self.kinds.update(other.kinds)
        self.unreadable += other.unreadable
        self.vanished += other.vanished
        self.holds_all |= other.holds_all
        self._hold(other.held)
        self.differing = [*self.differing, *other.differing][:_MOST_HELD]
        for example in other.examples:
            self._keep(example)

    def __bool__(self) -> bool:
        return bool(self.tally.files or self.tally.directories)

    def _hold(self, roots: Iterable[str]) -> None:
        self.held.update(roots)
        if len(self.held) > _MOST_HELD:
            self.holds_all = True
            self.held.clear()

    def _keep(self, example: CopyFailure) -> None:
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(example)
