"""Find what fence stands at a source: the mark of its database, and the note of what was there before."""

from twinhive.core.model.errors import ActNow, Foreign
from twinhive.core.model.failover.fence import FenceMark, FenceNote
from twinhive.core.model.files import join
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader


def note_path(policy: Policy) -> str:
    """Return where the note of a policy's fence lies, on the replica."""
    return join(policy.staging, "control", "fence.json")


def mark_of(policy: Policy, parameters: Parameters) -> FenceMark | None:
    """Return the policy's mark at its source, None without a fence. Raises Foreign for that of another policy."""
    mark = FenceMark.read(parameters)
    if mark is not None and mark.policy != policy.name:
        raise Foreign(
            f"{policy.source} is fenced by another failover",
            found=f"the mark of policy {mark.policy}",
            expected=f"no fence, or that of policy {policy.name}",
            next_step="end that one first: " + command("twinhive", "failover", mark.policy, "--abort"),
        )
    return mark


def note_of(files: FileReader, mark: FenceMark) -> FenceNote:
    """Return the note that a mark speaks of. Raises ActNow where it is gone, or is another's."""
    note = FenceNote.read(files.read(mark.note), mark.note) if files.status(mark.note) is not None else None
    if note is None or note.token != mark.token:
        raise ActNow(
            "nobody knows any more what was there before a database was fenced",
            found=f"{mark.note}: {'no file' if note is None else 'the note of another fence'}",
            expected=f"the note {mark.token} of policy {mark.policy}",
            next_step="find the directories with a quota of 1 (hdfs dfs -count -q), clear it there (hdfs dfsadmin "
            "-clrQuota), let the writers in by hand, and take twinhive.fenced off the database",
        )
    return note
