"""Make a policy's staging with its mark, and prove by the mark that a directory is one.

What lies in staging: copies that wait, notes, leases, requests (docs/on-disk.md).
"""

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, claim, foreign, proven
from twinhive.core.model.errors import Foreign
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter


def staging_mark(policy: str) -> Mark:
    """Return the mark of a policy's staging."""
    return Mark(Purpose.STAGING, policy)


def claim_staging(files: FileWriter, policy: Policy) -> Owned:
    """Make a policy's staging, or find it. Raises Foreign for a directory of somebody else's."""
    return claim(files, policy.staging, staging_mark(policy.name))


def make_staging(files: FileWriter, policy: Policy) -> None:
    """Make a policy's staging where there is none: whatever is written there first, the mark is there before."""
    if files.status(policy.staging) is None:
        claim_staging(files, policy)


def own_staging(files: FileWriter, policy: Policy) -> Owned | None:
    """Return a policy's staging, None when nothing proves that it is ours."""
    return staging_of(files, policy.staging, policy.name)


def staging_of(files: FileWriter, directory: str, policy: str) -> Owned | None:
    """Return the staging of a policy of that name, None when nothing proves that it is ours."""
    return proven(files, directory, staging_mark(policy))


def foreign_staging(files: FileReader, policy: Policy) -> Foreign | None:
    """Return what keeps a policy's staging from being used, None when nothing does."""
    return foreign(files, policy.staging, staging_mark(policy.name))
