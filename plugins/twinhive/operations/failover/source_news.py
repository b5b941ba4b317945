"""Say what a source has logged of a policy after a position: news keep its replica from taking over."""

from twinhive.core.model.changes.events import EventRow, Position
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.hive.events.event_errors import UnreadableEvent
from twinhive.hive.events.event_message import names_touched
from twinhive.operations.failover.fence.fencing import or_abort
from twinhive.operations.failover.late_set_marks import set_news
from twinhive.replication.notification_log.event_stream import EventStream

_NAMED = 5


def lacks_events(ports: ReadPorts, policy: Policy, position: Position) -> str | None:
    """Say which events a replica at a position lacks, None when it lacks none."""
    _, news = _first_news(ports, policy, position)
    return _behind(position, news) if news else None


def newest_event(ports: ReadPorts, policy: Policy, position: Position) -> Position:
    """Return the newest event of a log that tells nothing of the policy after a position. Raises TryAgain."""
    end, news = _first_news(ports, policy, position)
    if news:
        raise TryAgain(
            f"the replica of policy {policy.name} is not at the source's newest event yet",
            found=_behind(position, news),
            expected="no event of this policy after the replica's position",
            next_step="stop all writers; then bring it further with: "
            + command("twinhive", "run", policy.name, "incremental"),
        )
    return end


def refuse_news(ports: ReadPorts, policy: Policy, quiet_since: Position) -> None:
    """Refuse a source that has logged anything of the policy after an event, or whose sets were marked."""
    _, news = _first_news(ports, policy, quiet_since)
    again = command("twinhive", "failover", policy.name) + "; " + or_abort(policy)
    if news:
        raise ActNow(
            f"{policy.source} is still written"
            + (" behind its fence" if policy.fence.rungs else "")
            + ": no failover without loss",
            found=f"after event {quiet_since.event_id}: {_told(news)}",
            expected=f"no event of this policy for {policy.quiet_seconds:.0f} s, nor while both sides are compared",
            next_step="find these writers and stop them; then again: " + again,
        )
    if marked := set_news(ports, policy, quiet_since):
        raise ActNow(
            f"sets of {policy.source} are still marked: its replica would take over without them",
            found=f"after event {quiet_since.event_id}: {_told(marked)}",
            expected=f"no set marked or unmarked for {policy.quiet_seconds:.0f} s, nor while both sides are compared",
            next_step=f"mark sets on {policy.replica} when it has taken over; start again: " + again,
        )


def _first_news(ports: ReadPorts, policy: Policy, begin: Position) -> tuple[Position, tuple[EventRow, ...]]:
    """Return the first events of the policy after a position, none at the log's end, and how far was read."""
    others, end = _TablesOfOthers(ports, policy), begin
    for event_range in EventStream.of(ports, policy).event_ranges_after(begin):
        end = event_range.end
        if rows := tuple(row for row in event_range.rows if not others.has_all_of(row)):
            return end, rows
    return end, ()


class _TablesOfOthers:
    """Know the tables that no policy brings, and that are none of the replica's either; each is asked for once.

    Their users were never asked to stop: commits to an Iceberg table each minute must not forbid a failover.
    """

    def __init__(self, ports: ReadPorts, policy: Policy) -> None:
        self._ports, self._policy = ports, policy
        self._known: dict[TableName, bool] = {}

    def has_all_of(self, row: EventRow) -> bool:
        """True for an event that concerns such tables alone: of a rename both names count."""
        try:
            names = names_touched(row) if row.table else ()
        except UnreadableEvent:
            return False
        return bool(names) and all(map(self._has, names))

    def _has(self, name: TableName) -> bool:
        if name not in self._known:
            self._known[name] = self._is_of_others(name)
        return self._known[name]

    def _is_of_others(self, name: TableName) -> bool:
        table = self._ports.source.table(name) if name.database == self._policy.source.database else None
        if table is None or self._policy.replicates(table):
            return False
        there = self._ports.replica.table(self._policy.on_replica(name))
        return there is None or not self._policy.replicates(there)


def _behind(position: Position, news: tuple[EventRow, ...]) -> str:
    return f"the replica at event {position.event_id}; the next of this policy: {_told(news)}"


def _told(rows: tuple[EventRow, ...]) -> str:
    said = (f"event {row.event_id} {row.event_type} {row.table or row.database}" for row in rows)
    return "; ".join(first_of(said, _NAMED))
