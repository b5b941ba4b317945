"""Say of a placement's copies what the page shows: a row for each table."""

from collections.abc import Iterator

from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.federation.placement.copies_status import TableCopies, copies_of
from twinhive.federation.placement.placement_layout import copies_directory
from twinhive.operations.journal.records import RecordedCopies


def seen_copies(ports: ReadPorts, policy: Policy, at: float) -> Iterator[RecordedCopies]:
    """Look at the copies of a placement as `twinhive copies` does; its tables and their partitions are read."""
    for one in copies_of(ports, policy):
        yield _row(policy, one, at)


def _row(policy: Policy, one: TableCopies, at: float) -> RecordedCopies:
    reasons = [copy.stale for copy in one.copies if copy.stale]
    return RecordedCopies(
        policy=policy.name,
        table=str(one.name),
        source=policy.source.cluster,
        cluster=policy.replica.cluster,
        place=copies_directory(policy),
        fresh=one.fresh,
        stale=len(reasons),
        missing=one.missing - len(reasons) if one.missing >= len(reasons) else 0,
        bytes=one.bytes,
        at=at,
        since=reasons[0] if reasons else None,
        left_out=one.left_out[0] if one.left_out else None,
    )
