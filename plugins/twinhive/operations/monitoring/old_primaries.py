"""Watch databases that were failed over from: what is written there reaches nobody."""

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import PHASE
from twinhive.core.model.objects import Database
from twinhive.core.threads.server_queries import Question
from twinhive.operations.failover.promotion import Promotion
from twinhive.operations.monitoring.monitored_policy import Follower, metastore_name
from twinhive.replication.notification_log.event_backlog import COUNTED, Counted, count_events
from twinhive.replication.notification_log.log_pages import LogPages


def questions_of_old(
    one: Follower, database: object, logs: Mapping[str, LogPages], known: Counted | None
) -> Iterator[Question]:
    """Ask, for a replica that has taken over, what its old source logs since then, and whether it is a replica now."""
    server, name = metastore_name(one.ports.source), one.policy.name
    promotion = Promotion.read(database.parameters) if isinstance(database, Database) else None
    if promotion is None or server not in logs:
        return
    count = partial(count_events, logs[server], one.policy, promotion.position, known, COUNTED)
    yield Question(server, ("after", name), count)
    yield Question(server, ("old", name), partial(one.ports.source.database, one.policy.source.database))


def written_after(one: Follower, answers: Mapping[Hashable, Any]) -> ActNow | None:
    """Return that the old source is written, None while it is not, cannot be asked, or is a replica itself."""
    policy = one.policy
    news, old = answers.get(("after", policy.name)), answers.get(("old", policy.name))
    if not isinstance(news, Counted) or not news.found.events:
        return None
    if isinstance(old, Database) and PHASE in old.parameters:
        return None
    return ActNow(
        f"{policy.source} is written, though {policy.replica} has taken over from it (policy {policy.name})",
        found=f"{'at least ' if news.found.at_least else ''}{news.found.events:,} events of this policy since then",
        expected="no writer: what is written there reaches nobody",
        next_step="find who writes there and stop them; what they have written is shown, and replaced, by a failback "
        "(docs/failover.md)",
    )
