"""Give what is copied into staging, and the directories it is placed in, what the source's has besides its bytes.

Owner, group, permission and ACL, by the engine of trees. Without it all belongs to the user that copies, and nobody
else may write into a replica that has taken over.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import Missing, Refused, refused_as
from twinhive.core.model.files import parent
from twinhive.core.model.next_steps import ONLY_IN_A_POLICY_FILE, RETRIES
from twinhive.core.model.policy import Options
from twinhive.core.ports import TreeReader, TreeWriter
from twinhive.transfer.engine.attributes import UNKNOWN, AttributeCopier

CARRIED = frozenset("ugpa")
"""User, group, permission, ACL."""


@dataclass(frozen=True)
class Ownership:
    """Carry them from the source to the replica; may be shared between threads."""

    source: TreeReader
    target: TreeWriter

    def give(self, original: str, path: str) -> bool:
        """Give a file or directory what its original has; False where that is gone. Raises Missing, Refused."""
        status = self.source.status(original)
        if status is None:
            return False
        there = self.target.status(path)
        if there is None:
            raise Missing(
                f"{path}: it is gone before it has its owner",
                found="nothing",
                expected=f"the copy of {original}",
                next_step=RETRIES,
            )
        try:
            AttributeCopier(self.source, self.target, CARRIED, UNKNOWN).align(status, there)
        except Refused as error:
            raise refused_as(
                error,
                f"{path} cannot be given the owner, group, permission and ACL of {original}",
                found=error,
                expected="a user of the replica's file system that may set them: HDFS's superuser",
                next_step="let the replica's connection be of such a user, or set options.permissions: replica "
                + ONLY_IN_A_POLICY_FILE,
            ) from error
        return True


def ownership_of(options: Options, source: TreeReader, target: TreeWriter) -> Ownership | None:
    """Return what carries ownership over; None where the replica has its own."""
    return Ownership(source, target) if options.permissions == "source" else None


def directories_around(original: str, relative: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the source's directories of a file that is placed at `target`, and those on the replica, up to its leaf's.

    None for a file that was found elsewhere than where it belongs: that directory tells nothing.
    """
    if original.endswith(f"/{relative}"):
        for _ in range(relative.count("/") + 1):
            original, target = parent(original), parent(target)
            yield original, target


def first_of_each(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the source's directory by the replica's."""
    found: dict[str, str] = {}
    for original, target in pairs:
        found.setdefault(target, original)
    return found
