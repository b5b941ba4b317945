"""What is left of events when some tables are resynced."""

from collections.abc import Collection

from twinhive.core.model.changes.affected_objects import renaming, tables_of
from twinhive.core.model.changes.kinds import DropTable, Event
from twinhive.core.model.policy import Policy


def beside_whole(policy: Policy, event: Event, whole: Collection[str]) -> Event | None:
    """Return an event, None for one of tables that are resynced.

    Of a rename that links such a table with another one of the policy, what happens to the other one: its name is gone.
    """
    if policy.followed(tables_of(event.change)).isdisjoint(whole):
        return event
    rename = renaming(event.change)
    if rename and policy.followed([rename.before.name]) - set(whole):
        return Event(event.position, event.event_type, DropTable(rename.before))
    return None
