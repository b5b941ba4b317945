"""The second witness of a promotion: a note in staging, on the replica's file system.

The replica's database says that it has taken over, until its metastore is restored to before that. Then it says that it
follows, and what its users have written since would be taken for differences, and removed. So the note is written right
before the one call that promotes, under the lease, and once more after it, as done; whoever holds that lease to change
the replica asks for it.

A try that was killed between note and call leaves the note of a promotion that never was. Nobody can tell that for
certain from a restored metastore, so that the replica stands still until the failover is run again, or given up.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import join
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import FileReader, FileWriter, ReadPorts


@dataclass(frozen=True)
class PromotionNote:
    """What the replica's database says, or is about to say, of its promotion.

    event_id   the event of the source that it had reached
    marks      the parameters that say since when it is a primary
    is_done    the database says it, or has said it; else it was about to
    """

    event_id: int = 0
    marks: Mapping[str, str] = field(default_factory=dict)
    is_done: bool = False

    @property
    def is_readable(self) -> bool:
        """False for one that says nothing but that it is there."""
        return bool(self.marks)

    def written(self) -> bytes:
        """Return it as JSON."""
        said = {"event": self.event_id, "marks": dict(self.marks), "done": self.is_done}
        return json.dumps(said, indent=1).encode()

    @classmethod
    def read(cls, content: bytes) -> "PromotionNote":
        """Return what a file says; one that cannot be read is a note all the same."""
        try:
            said = json.loads(content)
            marks = {str(key): str(value) for key, value in said["marks"].items()}
            return cls(int(said["event"]), marks, bool(said["done"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls()


def promotion_note_path(policy: Policy) -> str:
    """Return where the note of a policy lies."""
    return join(policy.staging, "control", "promoted.json")


def promotion_note(files: FileReader, policy: Policy) -> PromotionNote | None:
    """Return the note of a replica that has taken over, None without one."""
    path = promotion_note_path(policy)
    return None if files.status(path) is None else PromotionNote.read(files.read(path))


def write_promotion_note(files: FileWriter, policy: Policy, note: PromotionNote) -> None:
    """Write it down; whoever promotes holds the lease, and has just proved it."""
    files.write(promotion_note_path(policy), note.written())


def end_promotion_note(files: FileWriter, policy: Policy) -> None:
    """Take it away: by a person's will the database is a replica again from now on, or was never anything else."""
    files.delete_file(promotion_note_path(policy))


def disagreement(policy: Policy, database: Database | None, note: PromotionNote | None) -> ActNow | None:
    """Return that the note tells of a promotion of which the replica's database knows nothing; None where they agree.

    A database that is gone was dropped by people.
    """
    state = ReplicaState.read(database.parameters if database else None)
    if note is None or state.policy != policy.name or state.phase is Phase.PROMOTED:
        return None
    said = "; ".join(f"{key} = {value}" for key, value in note.marks.items()) or "a text that cannot be read"
    cause = "its metastore was restored to before that" + ("" if note.is_done else ", or the failover killed too early")
    return ActNow(
        f"the replica {policy.replica} of policy {policy.name} has taken over, as a note says, and its database does "
        f"not: {cause}; nothing is changed",
        found=f"phase {state.phase.value}; the note {promotion_note_path(policy)}: {said}",
        expected="the same of both",
        next_step=_way_on(policy, note),
    )


def _way_on(policy: Policy, note: PromotionNote) -> Text:
    put_back = (
        "if people write the replica, let it say again that it has taken over; nothing else is changed: "
        + command("twinhive", "failover", policy.name, "--unplanned", "--at", str(note.event_id), "--reason", "...")
        if note.is_readable
        else f"if people write the replica, keep all DAGs of policy {policy.name} paused, and mend the note"
    )
    if note.is_done:
        return put_back
    return (
        put_back
        + "; if nobody ever wrote it: "
        + command("twinhive", "failover", policy.name)
        + ", or, to give the failover up: "
        + command("twinhive", "failover", policy.name, "--abort")
    )


def refuse_unlike_note(ports: ReadPorts, policy: Policy) -> None:
    """Let nobody change a replica that has taken over and does not know it; asked under the lease. Raises ActNow."""
    note = promotion_note(ports.replica_files, policy)
    if note is None:
        return
    if (error := disagreement(policy, ports.replica.database(policy.replica.database), note)) is not None:
        raise error
