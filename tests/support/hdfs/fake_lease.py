"""Stand in for the lease on a replica, within one process."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from twinhive.core.model.errors import LeaseHeld, LeaseLost, ends_unknown
from twinhive.core.model.lease_kinds import LeaseKind, Manner, manner_of


@dataclass
class _Kept:
    """One lease: how often it was taken, by whom last, and whether that one has released it."""

    newest: int = 0
    holder: Mapping[str, str] = field(default_factory=dict)
    kind: LeaseKind = LeaseKind.EVENTS
    unreleased: bool = False


class InMemoryLease:
    """Implement LeaseKeeper within one process, also between threads."""

    def __init__(self, patience_seconds: float = 0.0) -> None:
        self.patience_seconds = patience_seconds
        self.known_dead: set[str] = set()
        """Directories whose holder was killed so long ago that it shows."""
        self._kept: dict[str, _Kept] = {}
        self._changed = threading.Condition()

    @contextmanager
    def hold(
        self, directory: str, holder: Mapping[str, str], kind: LeaseKind = LeaseKind.EVENTS
    ) -> Iterator["_HeldInMemory"]:
        lease = self._take(directory, holder, kind)
        try:
            yield lease
        except BaseException as error:
            if not ends_unknown(error):
                self._release(lease)
            elif isinstance(error, Exception):
                self._leave(lease)
            raise
        self._release(lease)

    def holder(self, directory: str) -> str | None:
        kept = self._kept.get(directory)
        return str(dict(kept.holder)) if kept and kept.unreleased else None

    def is_held(self, directory: str) -> bool:
        kept = self._kept.get(directory)
        return bool(kept and kept.unreleased and directory not in self.known_dead)

    def lose_holders(self) -> None:
        """Let whoever holds a lease have been killed so long ago that it shows."""
        self.known_dead |= {directory for directory, kept in self._kept.items() if kept.unreleased}

    def confirm(self, directory: str, epoch: int) -> None:
        """Raise LeaseLost unless `epoch` is the newest."""
        with self._changed:
            if self._kept[directory].newest != epoch:
                holder = dict(self._kept[directory].holder)
                raise LeaseLost(f"{directory}: the lease is not ours any more", found=holder)

    def _take(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> "_HeldInMemory":
        with self._changed:
            manner = self._manner(directory, kind)
            if manner is not Manner.TAKE:
                free = self._changed.wait_for(lambda: not self.is_held(directory), self.patience_seconds)
                if not free and manner is Manner.WAIT_THEN_LEAVE:
                    found = self.holder(directory)
                    raise LeaseHeld(
                        f"{directory}: the lease is held by a process that may still be running", found=found
                    )
            self.known_dead.discard(directory)
            newest = self._kept[directory].newest + 1 if directory in self._kept else 1
            self._kept[directory] = _Kept(newest, holder, kind, unreleased=True)
            return _HeldInMemory(self, directory, newest)

    def _manner(self, directory: str, kind: LeaseKind) -> Manner:
        return manner_of(kind, self._kept[directory].kind) if self.is_held(directory) else Manner.TAKE

    def _leave(self, lease: "_HeldInMemory") -> None:
        """Show that its holder lives no more, without a word: only one who was killed cannot."""
        if self._kept[lease.directory].newest == lease.epoch:
            self.known_dead.add(lease.directory)

    def _release(self, lease: "_HeldInMemory") -> None:
        lease.confirm()
        with self._changed:
            self._kept[lease.directory].unreleased = False
            self._changed.notify_all()


@dataclass(frozen=True)
class _HeldInMemory:
    keeper: InMemoryLease
    directory: str
    epoch: int

    def confirm(self) -> None:
        self.keeper.confirm(self.directory, self.epoch)
