"""Take away what a policy that is given up has left at its source: fence and mark; the claim of a base directory.

A source that is gone for good must not keep a replica for ever. What nobody can take away there is said, with the
command that does it should the source come back; all else goes on. What alone knows how to let writers in again, the
note of a fence that may stand, is never removed without an answer.
"""

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import WritePorts
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.fence.fence_removal import is_fenced, lift_fence
from twinhive.operations.failover.fence.note import note_path
from twinhive.operations.failover.unreachable_source import SILENT, Left
from twinhive.replication.external_tables.check_base import release_base


def forget_at_source(ports: WritePorts, policy: Policy, holder: Holder, log_id: str | None) -> Left:
    """Release the base directory, lift the fence and take the mark away; `log_id` is the source's where it is known."""
    released = _released(ports, policy, log_id)
    return released.and_then(_lifted(ports, policy, holder)).and_then(_unmarked(ports, policy))


def _released(ports: WritePorts, policy: Policy, log_id: str | None) -> Left:
    base = policy.external.base_directory
    try:
        is_released = release_base(ports, policy, log_id)
    except SILENT as error:
        said = f"not released: the base directory {base}: nothing proves whose its claim is: {_why(error)}; "
        return Left((said + _later("forget", policy),), is_all=False)
    return Left((f"released: the base directory {base}; what lies below it stays",) if is_released else ())


def _lifted(ports: WritePorts, policy: Policy, holder: Holder) -> Left:
    try:
        return Left(tuple(lift_fence(ports, policy, holder)) if is_fenced(ports, policy) else ())
    except SILENT as error:
        note = note_path(policy)
        if ports.replica_files.status(note) is None:  # it is written before a fence is set, and goes after it
            return Left(is_all=False)
        said = f"not taken away: the fence of {policy.source}: {_why(error)}; {note} says what was there before it; "
        return Left((said + _later("forget", policy),), is_all=False, keeps_note=True)


def _unmarked(ports: WritePorts, policy: Policy) -> Left:
    try:
        ports.source_marker.unmark(policy.source.database, policy.name)
    except SILENT as error:
        said = f"not removed: the mark of policy {policy.name} at {policy.source}: {_why(error)}; "
        return Left((said + _later("retire", policy),), is_all=False)
    return Left((f"removed: the mark of policy {policy.name} at {policy.source}",))


def _why(error: TwinhiveError) -> str:
    return render(error.words.what)


def _later(name: str, policy: Policy) -> str:
    return f"should it come back: twinhive {name} {policy.name}"
