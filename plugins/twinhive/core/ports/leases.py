"""State what is needed to write to one place at a time."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from twinhive.core.model.lease_kinds import LeaseKind


class Lease(Protocol):
    """The right to write to a policy's replica, held until released or taken over."""

    def confirm(self) -> None:
        """Prove that the lease is still ours; raises LeaseLost.

        Called before each batch of renames, or of other changes of files. Writes of a metastore do so by themselves
        (`proved_writes`).
        """
        ...


class LeaseKeeper(Protocol):
    """Hand out the lease of a policy: one holder at a time, of one kind of work the newest wins."""

    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> AbstractContextManager[Lease]:
        """Take the lease kept in `directory` for the length of the context, as `lease_kinds.manner_of` says.

        Raises LeaseHeld when somebody has it who may live and is not to be overtaken.
        """
        ...

    def holder(self, directory: str) -> str | None:
        """Say who has not released the lease (alive or killed), None when nobody holds it."""
        ...

    def is_held(self, directory: str) -> bool:
        """True while a process that may live holds the lease; of a killed one that shows after a while only."""
        ...
