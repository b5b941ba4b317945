"""Count the events that wait for a policy, and remember from one minute to the next how far they were counted.

A policy that is failed, or nobody unpauses, stays at one position: without a memory each look would read the same
thousands of rows of its source's log again. What is remembered counts for one position and one choice of tables only.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from twinhive.core.model.changes.events import NOWHERE, Position
from twinhive.core.model.policy import Policy
from twinhive.hive.events.reader import read_events
from twinhive.replication.notification_log.log_pages import LogPages, concerns

COUNTED = 3_000
_FURTHEST = 10_000
_WORTH_KEEPING = 300
_MOST_KEPT = 150
"""So many fit into what Airflow keeps beside an asset's name."""


@dataclass(frozen=True)
class NotApplied:
    """What a log holds for a policy after a position.

    events    how many events concern the policy
    oldest    when the oldest of them happened, in seconds since 1970; None without one
    at_least  the log goes on behind what was read
    """

    events: int = 0
    oldest: int | None = None
    at_least: bool = False

    def age(self, at: float) -> float:
        """Return the seconds from the oldest event to a time, 0 without one; clocks may differ."""
        return 0.0 if self.oldest is None else max(0.0, at - self.oldest)


@dataclass(frozen=True)
class Counted:
    """What was counted after a position, among how many rows, and the last of these."""

    begin: Position = NOWHERE
    scope: int = 0
    rows: int = 0
    last: Position = NOWHERE
    found: NotApplied = NotApplied()

    def written(self) -> list[Any]:
        """Return it for JSON."""
        begin, last, found = self.begin, self.last, self.found
        positions = [begin.event_id, begin.time, begin.digest, last.event_id, last.time, last.digest]
        return [*positions, self.scope, self.rows, found.events, found.oldest, found.at_least]

    @classmethod
    def read(cls, written: Any) -> "Counted | None":
        """Return what `written` gave, None for anything else."""
        try:
            *positions, scope, rows, events, oldest, at_least = written
            begin, last = Position(*positions[:3]), Position(*positions[3:])
            return cls(begin, int(scope), int(rows), last, NotApplied(int(events), oldest, bool(at_least)))
        except (TypeError, ValueError):
            return None


def count_events(
    log: LogPages,
    policy: Policy,
    position: Position,
    known: Counted | None = None,
    most: int = COUNTED,
    but: Collection[str] = (),
) -> Counted:
    """Count the events after a position that concern a policy, among the next few thousand (`most`) of the log.

    When none of ten thousand does, the first that was not looked at counts as the oldest: the position of a policy
    whose runs work does not stay that far behind. Events of the types `but` are left out. A table that was renamed out
    of the database into another one is not noticed, because the log files that under the other one. Raises ActNow for a
    log with a gap, and for another log.
    """
    scope = scope_of(policy)
    if known is None or (known.begin, known.scope) != (position, scope):
        known = Counted(position, scope, last=position)
    else:
        # What was read before is not read again: whether the log still has it is.
        log.still_goes_on_after(position)
        if known.found.at_least and _is_enough(known.rows, known.found, most):
            return known
    return _go_on(log, policy, known, most, but)


def _go_on(log: LogPages, policy: Policy, known: Counted, most: int, but: Collection[str]) -> Counted:
    rows, last = known.rows, known.last
    events, oldest = known.found.events, known.found.oldest if known.found.events else None
    for row in read_events(log, last):
        if _is_enough(rows, NotApplied(events, oldest), most):
            found = NotApplied(events, row.time if oldest is None else oldest, at_least=True)
            return Counted(known.begin, known.scope, rows, last, found)
        if row.event_type not in but and concerns(row, policy):
            events, oldest = events + 1, row.time if oldest is None else oldest
        rows, last = rows + 1, row.position
    return Counted(known.begin, known.scope, rows, last, NotApplied(events, oldest))


def _is_enough(rows: int, found: NotApplied, most: int) -> bool:
    return rows >= _FURTHEST or (rows >= most and found.events > 0)


def scope_of(policy: Policy) -> int:
    """Tell which events concern a policy from which did before its file was changed."""
    return crc32(repr((policy.source, policy.include, policy.exclude)).encode())


def remembered(counted: Mapping[str, Counted]) -> dict[str, list[Any]]:
    """Return for JSON what is worth keeping: by policy, the longest counts first."""
    far = sorted(counted.items(), key=lambda item: -item[1].rows)[:_MOST_KEPT]
    return {name: one.written() for name, one in sorted(far) if one.rows >= _WORTH_KEEPING}


def recalled(memory: Any) -> dict[str, Counted]:
    """Return what `remembered` gave; what cannot be read is counted anew."""
    written: Iterable[tuple[str, Any]] = memory.items() if isinstance(memory, dict) else ()
    return {name: known for name, one in written if (known := Counted.read(one)) is not None}
