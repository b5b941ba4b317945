"""Watch sources that a failover has fenced and that nobody has opened again: their writers have stood still since."""

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

from twinhive.core.model.errors import ActNow
from twinhive.core.model.failover.fence import FenceMark
from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database
from twinhive.core.threads.server_queries import Question
from twinhive.operations.monitoring.monitored_policy import Follower, metastore_name

LONG_SECONDS = 2 * 3600.0
"""So long a failover may take from its fence on: nobody is told before."""


def question_of_fence(one: Follower) -> Iterator[Question]:
    """Ask a source for its database, while its replica follows: a fence may stand of which the file says no more."""
    source, name = one.ports.source, one.policy.name
    yield Question(metastore_name(source), ("fence", name), partial(source.database, one.policy.source.database))


def stays_fenced(one: Follower, at: float, answers: Mapping[Hashable, Any]) -> ActNow | None:
    """Return that writers are kept away for long, None while they are not, or it cannot be asked."""
    policy, database = one.policy, answers.get(("fence", one.policy.name))
    if not isinstance(database, Database):
        return None
    try:
        mark = FenceMark.read(database.parameters)
    except ActNow as error:
        return error
    if mark is None or mark.policy != policy.name or at - mark.since <= LONG_SECONDS:
        return None
    return ActNow(
        f"{policy.source} is fenced, and its replica has not taken over (policy {policy.name})",
        found=f"its writers are kept away since {spoken_time(at - mark.since)}",
        expected=f"at most {spoken_time(LONG_SECONDS)}: then a failover has ended, or was given up",
        next_step="end it: "
        + command("twinhive", "failover", policy.name)
        + "; or let the writers in again: "
        + command("twinhive", "failover", policy.name, "--abort"),
    )
