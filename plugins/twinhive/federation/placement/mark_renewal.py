"""Give marks of fresh copies a newer event before the log loses theirs: nobody could judge these copies any more.

Nothing is copied for it: who looks at a table has found its copies fresh as of the newest event. So it is with marks
that an event speaks against which has changed no file, as statistics, comments and properties do.
"""

from twinhive.core.model.changes.events import Position
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.policy import Policy
from twinhive.core.ports import EventLog, WritePorts
from twinhive.federation.placement.copy_freshness import TableFound
from twinhive.federation.placement.marking_copies import date_marks
from twinhive.federation.placement.placement_state import LookedAt

NOTHING = -1
"""No mark is of such an event."""
_YOUNG_SECONDS = 3600
"""The event of a mark is not taken for an old one before, however short the log is."""
_MOST_BEHIND = 10_000
"""Events: whoever judges a copy reads the log since its mark."""
_FOR_EACH_MARK = 10
"""Likewise, times the marks: to date one anew may be an event itself, which must not be what makes it due again."""


def due_event(log: EventLog, before: LookedAt | None, end: Position, now: float) -> int:
    """Return up to which event marks are to be dated anew, `NOTHING` where none is.

    They are when the oldest one lies in the older half of the time that the log tells of, or too many events behind;
    and when its event is gone.
    """
    oldest = before.oldest_mark if before else None
    if before is None or oldest is None or oldest >= end.event_id:
        return NOTHING
    following = log.events_after(oldest, 1)
    if not following or following[0].event_id > oldest + 1:
        return max(oldest, _middle(following[0].event_id if following else end.event_id, end))
    if end.event_id - oldest > max(_MOST_BEHIND, _FOR_EACH_MARK * before.number_of_marks):
        return _middle(oldest, end)
    # Where nothing happens the log gets no younger: the time that has passed since is ours.
    newest = end.time + (max(0.0, now - before.seen) if before.seen and before.position == end else 0.0)
    marked = following[0].time
    if newest - marked < _YOUNG_SECONDS:
        return NOTHING
    first = next(iter(log.events_after(0, 1)), following[0])
    is_old = 2 * (marked - first.time) < newest - first.time
    return max(oldest, _middle(first.event_id, end)) if is_old else NOTHING


def _middle(first: int, end: Position) -> int:
    return (first + end.event_id) // 2


def marks_due(found: TableFound, due: int) -> dict[Values, CopyMark]:
    """Return the marks that are to bear a newer event: old ones, and those that an event speaks against for nothing."""
    return {values: mark for values, mark in found.marks.items() if mark.event_id <= due or values in found.same}


def oldest_after(found: TableFound, due: int, event_id: int, before: int | None) -> int | None:
    """Return the oldest event of a table's marks once those that are due bear a newer one, or an older one.

    `before` is what was said before: of marks that were not looked at nothing else is known.
    """
    newer = marks_due(found, due)
    events = [event_id if one in newer else mark.event_id for one, mark in found.marks.items()]
    if found.unseen and before is not None:
        events.append(before)
    return min(events, default=None)


def date_anew(ports: WritePorts, policy: Policy, found: TableFound, due: int, event_id: int) -> int:
    """Let marks that are due bear an event as of which copies were found fresh; return how many. Raises LeaseLost."""
    return date_marks(ports.replica, policy, found.name, marks_due(found, due), event_id)
