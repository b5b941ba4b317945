"""Measure what would be lost if a source died now: what its log holds that the replica's cluster does not.

An event whose files are staged is applied by a failover without its source, so that it is not lost, only late.
"""

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

from twinhive.core.model.marks import ReplicaState
from twinhive.core.threads.server_queries import Question
from twinhive.operations.monitoring.monitored_policy import Follower, metastore_name
from twinhive.replication.incremental.staged_windows import staged_position
from twinhive.replication.notification_log.event_backlog import COUNTED, Counted, NotApplied, count_events
from twinhive.replication.notification_log.log_pages import LogPages


def question_of_risk(one: Follower, state: ReplicaState, log: LogPages) -> Iterator[Question]:
    """Ask what comes after the last event that is staged; a thread of its own, so that nothing waits for it."""
    server = f"{metastore_name(one.ports.source)} (what is not staged)"
    yield Question(server, ("at risk", one.policy.name), partial(_not_staged, one, state, log))


def at_risk(one: Follower, answers: Mapping[Hashable, Any], behind: NotApplied) -> NotApplied | None:
    """Return the events that would be lost, None where nobody knows; `behind` are those that are not applied."""
    found = answers.get(("at risk", one.policy.name), Counted())
    if not isinstance(found, Counted):
        return None
    return behind if found == Counted() else found.found


def _not_staged(one: Follower, state: ReplicaState, log: LogPages) -> Counted:
    """Count the events after the last staged one; `Counted()` where none is staged: then all that wait are at risk."""
    staged = staged_position(one.ports, one.policy, state)
    return Counted() if staged == state.position else count_events(log, one.policy, staged, None, COUNTED)
