"""Watch databases that were failed over from: what is written there reaches nobody, and one replica may leave them.

A replica that has taken over has said so at its source, if that answered (`operations/failover/left_source.py`).
"""

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.core.model.failover.left_mark import LEFT_FOR, LeftMark
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.threads.server_queries import Question
from twinhive.hive.events.event_types import EventType
from twinhive.operations.failover.left_source import left_otherwise
from twinhive.operations.failover.promotion import Promotion
from twinhive.operations.monitoring.monitored_policy import Follower, metastore_name
from twinhive.replication.notification_log.event_backlog import COUNTED, Counted, count_events
from twinhive.replication.notification_log.log_pages import LogPages

_OUR_MARKS = (EventType.ALTER_DATABASE,)
"""The failover itself marks the source: that is no writer."""


def questions_of_old(
    one: Follower, database: object, logs: Mapping[str, LogPages], known: Counted | None
) -> Iterator[Question]:
    """Ask, for a replica that has taken over, what its old source logs since then, and whether it is a replica now."""
    server, name = metastore_name(one.ports.source), one.policy.name
    promotion = Promotion.read(database.parameters) if isinstance(database, Database) else None
    if promotion is None or server not in logs:
        return
    count = partial(count_events, logs[server], one.policy, promotion.position, known, COUNTED, _OUR_MARKS)
    yield Question(server, ("after", name), count)
    yield Question(server, ("old", name), partial(one.ports.source.database, one.policy.source.database))


def trouble_with_source(one: Follower, answers: Mapping[Hashable, Any]) -> Iterator[TwinhiveError]:
    """Yield what is wrong with a source that was left, or is to be: it is written, or two replicas take it over."""
    policy, name = one.policy, one.policy.name
    source, old, replica = answers.get(("fence", name)), answers.get(("old", name)), answers.get(("replica", name))
    promotion = Promotion.read(replica.parameters) if isinstance(replica, Database) else None
    try:
        if isinstance(source, Database) and (error := left_otherwise(policy, source)) is not None:
            yield error
        if isinstance(old, Database) and promotion is not None and promotion.is_over(old.parameters):
            return
        yield from _written_after(policy, answers.get(("after", name)))
        if isinstance(old, Database):
            yield from _not_left(policy, old)
    except TwinhiveError as error:  # a phase that nobody knows
        yield error


def _written_after(policy: Policy, news: object) -> Iterator[ActNow]:
    if not isinstance(news, Counted) or not news.found.events:
        return
    yield ActNow(
        f"{policy.source} is written, though {policy.replica} has taken over from it (policy {policy.name})",
        found=f"{'at least ' if news.found.at_least else ''}{news.found.events:,} events of this policy since then",
        expected="no writer: what is written there reaches nobody",
        next_step="find who writes there and stop them; what they have written is shown, and replaced, by a failback "
        "(docs/failover.md)",
    )


def _not_left(policy: Policy, old: Database) -> Iterator[ActNow]:
    """Yield that a source does not say who has taken over from it; other replicas of it could do so, too."""
    mark = LeftMark.read(old.parameters)
    if mark is not None and mark.policy == policy.name:
        return
    yield ActNow(
        f"{policy.source} does not say that {policy.replica} has taken over from it (policy {policy.name})",
        found=f"{LEFT_FOR} = {mark or '(not set)'}",
        expected=f"the mark of policy {policy.name}, by which no other replica takes over",
        next_step="two are the primary; decide which stays, and end the policy of the other with: "
        + command("twinhive", "forget", mark.policy)
        if mark
        else "let the failover say so, now that the source answers: " + command("twinhive", "failover", policy.name),
    )
