"""Stand in for the lease on a replica, within one process."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from twinhive.domain.errors import ActNow, LeaseLost, Unreachable


class InMemoryLease:
    """Implement LeaseKeeper within one process."""

    def __init__(self) -> None:
        self._newest: Counter[str] = Counter()
        self._holders: dict[str, Mapping[str, str]] = {}
        self._unreleased: set[str] = set()
        self.known_dead: set[str] = set()
        """Directories whose holder was killed so long ago that it shows."""

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], *, overtake: bool = True) -> Iterator["_HeldInMemory"]:
        if not overtake and self.is_held(directory):
            raise Unreachable(f"{directory}: somebody who may live holds this lease", found=self.holder(directory))
        self._newest[directory] += 1
        self._holders[directory] = holder
        lease = _HeldInMemory(self, directory, self._newest[directory])
        self._unreleased.add(directory)
        self.known_dead.discard(directory)
        try:
            yield lease
        except ActNow:
            lease.confirm()
            self._unreleased.discard(directory)
            raise
        lease.confirm()
        self._unreleased.discard(directory)

    def holder(self, directory: str) -> str | None:
        return str(dict(self._holders[directory])) if directory in self._unreleased else None

    def is_held(self, directory: str) -> bool:
        return directory in self._unreleased - self.known_dead

    def confirm(self, directory: str, epoch: int) -> None:
        """Raise LeaseLost unless `epoch` is the newest."""
        if self._newest[directory] != epoch:
            raise LeaseLost(f"{directory}: the lease is not ours any more", found=dict(self._holders[directory]))


@dataclass(frozen=True)
class _HeldInMemory:
    keeper: InMemoryLease
    directory: str
    epoch: int

    def confirm(self) -> None:
        self.keeper.confirm(self.directory, self.epoch)
