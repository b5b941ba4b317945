"""Hold the lease of a policy's replica, as work of one kind."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from twinhive.core.directory_marks.staging import make_staging
from twinhive.core.model.errors import LeaseHeld
from twinhive.core.model.files import join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.promotion_note import refuse_unlike_note
from twinhive.core.step.step_base import Work

_KNOW_THE_NOTE = frozenset({LeaseKind.PROMOTE, LeaseKind.ABORT, LeaseKind.PLACEMENT})
"""Whoever promotes, or gives that up, asks for the note himself; a placement has no replica that takes over."""

_MAY_BE_FIRST = frozenset({LeaseKind.FORGET, LeaseKind.PLACEMENT})
"""Before all other work staging is made, with its mark."""


def lease_directory(policy: Policy) -> str:
    """Return where the policy's lease is kept."""
    return join(policy.staging, "lease")


@contextmanager
def hold_lease(ports: WritePorts, work: Work, kind: LeaseKind) -> Iterator[Lease]:
    """Hold the lease for the length of the context; a step that is part of something larger holds it as that.

    Raises LeaseHeld when another kind of work holds it; ActNow for a replica that has taken over and does not know it
    any more (`promotion_note.py`).
    """
    policy, kind = work.policy, work.part_of or kind
    if kind in _MAY_BE_FIRST:
        make_staging(ports.replica_files, policy)
    with ExitStack() as held:
        try:
            context = ports.lease.hold(lease_directory(policy), work.holder, kind)
            lease = held.enter_context(context)
        except LeaseHeld as error:
            raise LeaseHeld(
                f"the replica of policy {policy.name} is being changed by other work",
                found=error.found,
                expected="nobody to hold the lease",
                next_step="wait until it has ended; if its process is dead: "
                + command("twinhive", "unlock", policy.name),
            ) from None
        if kind not in _KNOW_THE_NOTE:
            refuse_unlike_note(ports, policy)
        yield lease
