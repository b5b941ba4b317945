"""Let a replica say again that it has taken over, where its metastore was restored to before that.

The note in staging says since when. Nothing else is changed: what its users wrote is where it was.
"""

from dataclasses import replace

from twinhive.core.model.errors import Refused
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.parameter_changes import change_database
from twinhive.core.step.promotion_note import PromotionNote, disagreement, promotion_note, write_promotion_note
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import Holder
from twinhive.operations.failover.promotion import as_primary


def lost_promotion(ports: ReadPorts, policy: Policy) -> PromotionNote | None:
    """Return the note of a promotion of which the replica's database knows nothing; None without one."""
    note = promotion_note(ports.replica_files, policy)
    database = ports.replica.database(policy.replica.database)
    return note if note and note.is_readable and disagreement(policy, database, note) else None


def plan_put_back(policy: Policy, note: PromotionNote) -> list[str]:
    """Say what is known, and what would be done."""
    return [
        f"{policy.replica} has taken over at event {note.event_id}, as a note in staging says, and its database does "
        "not: its metastore was restored to before that, or the failover was killed right before its end",
        f"would let {policy.replica} say so again, and change nothing else, with: "
        f"twinhive failover {policy.name} --unplanned --at {note.event_id} --reason '...'",
    ]


def put_back(ports: WritePorts, policy: Policy, holder: Holder, event_id: int) -> list[str]:
    """Mark the replica as the primary that it was. Raises Refused for another event than the note says."""
    with hold_lease(ports, Work(policy, holder=holder), LeaseKind.PROMOTE) as lease:
        note = lost_promotion(ports, policy)
        if note is None:
            return []
        if note.event_id != event_id:
            raise Refused(
                f"{policy.replica} has not taken over at the event that was named",
                found=f"event {note.event_id}, as the note in staging says; named was {event_id}",
                expected="the event of the note: what came after it was never there",
                next_step="look: " + command("twinhive", "failover", policy.name, "--unplanned", "--dry-run"),
            )
        lease.confirm()
        marks = note.marks
        # People write it: what they have said of the database until now stays.
        change_database(ports.replica, policy.replica.database, lambda found: as_primary(found.parameters, marks))
        write_promotion_note(ports.replica_files, policy, replace(note, is_done=True))
    return [f"{policy.replica} says again that it has taken over; nothing else was changed"]
