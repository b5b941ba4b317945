"""See that one replica of a source takes over from it, and say so at the source: it may have several.

The mark is set after the switch, as soon as the source answers: what does not answer must not keep a replica from
taking over. Until it is set the monitor says so.
"""

from functools import partial

from twinhive.core.model.errors import ActNow, Refused, TwinhiveError
from twinhive.core.model.failover.fence import FenceMark
from twinhive.core.model.failover.left_mark import LEFT_FOR, LeftMark
from twinhive.core.model.marks import followed_policy, replicated_by
from twinhive.core.model.next_steps import command
from twinhive.core.model.objects import Database, Parameters
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text, render
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.threads.server_queries import Question, ask_all
from twinhive.operations.failover.promotion import Promotion

_PATIENCE = 20.0
"""So many seconds a source is waited for that may be gone: a failover has no time for more."""


def refuse_left(ports: ReadPorts, policy: Policy) -> None:
    """Refuse to take over from a source that others have left, or that is a replica. Raises Refused."""
    if (error := left_source(ports, policy)) is not None:
        raise error


def left_source(ports: ReadPorts, policy: Policy) -> Refused | None:
    """Return why nobody may take over from a source; None also for one that does not answer: it says nothing."""
    database = _asked(ports, policy)
    return not_to_be_left(policy, database) if isinstance(database, Database) else None


def _asked(ports: ReadPorts, policy: Policy) -> Database | TwinhiveError | None:
    ask = partial(ports.source.database, policy.source.database)
    answer: Database | TwinhiveError | None = ask_all([Question("the source's metastore", "database", ask)], _PATIENCE)[
        "database"
    ]
    return answer


def not_to_be_left(policy: Policy, source: Database) -> Refused | None:
    """Return why nobody may take over from a source by this policy: it is no primary any more, or about to be none."""
    return left_otherwise(policy, source) or _fenced_otherwise(policy, source)


def left_otherwise(policy: Policy, source: Database) -> Refused | None:
    """Return that a source is no primary any more: it follows another one, or another replica has taken over."""
    parameters = source.parameters
    if (follows := followed_policy(parameters)) is not None:
        return _is_a_replica(policy, follows)
    mark = LeftMark.read(parameters)
    if mark is not None and mark.policy != policy.name:
        return _is_left(policy, mark)
    return None


def _fenced_otherwise(policy: Policy, source: Database) -> Refused | None:
    fence = _fence(source.parameters)
    if fence is not None and fence.policy != policy.name:
        return Refused(
            f"another failover of {policy.source} is under way, or has ended: that of policy {fence.policy}",
            found=f"its fence: {fence}",
            expected=f"no fence, or that of policy {policy.name}: two replicas must not take over",
            next_step="give that one up first: " + command("twinhive", "failover", fence.policy, "--abort"),
        )
    return None


def leave_source(ports: WritePorts, policy: Policy, replica: Database) -> list[str]:
    """Say at the source that its replica has taken over; trouble is only told. After a failback it is none any more."""
    promotion = Promotion.read(replica.parameters)
    mark = LeftMark(policy.name, str(policy.replica))
    try:
        database = _asked(ports, policy)
        if isinstance(database, TwinhiveError):
            raise database
        if database is not None and promotion is not None and not promotion.is_over(database.parameters):
            ports.source_marker.leave(database.name, mark)
    except TwinhiveError as error:
        return [
            f"not said at {policy.source} that {policy.replica} has taken over: {render(error.words.what)}; "
            f"when it answers: twinhive failover {policy.name}"
        ]
    return []


def left_behind(policy: Policy, source: Database) -> list[Text]:
    """Name the other replications of a source whose replica takes over: they stay behind with it."""
    if others := [name for name in replicated_by(source.parameters) if name != policy.name]:
        return [
            f"also replicated from {policy.source}: {', '.join(others)}; they go on with what is no primary any more: "
            f"end them, or give them {policy.replica} as their source"
        ]
    return []


def _fence(parameters: Parameters) -> FenceMark | None:
    try:
        return FenceMark.read(parameters)
    except ActNow:  # what nobody can read names nobody
        return None


def _is_a_replica(policy: Policy, follows: str) -> Refused:
    return Refused(
        f"{policy.source} is itself a replica: the replica of policy {policy.name} cannot take over from it",
        found=f"the mark of policy {follows}, which brings it what it holds",
        expected="a primary that people write",
        next_step=f"let the replica of policy {follows} take over, or replicate from the primary; end this one with: "
        + command("twinhive", "forget", policy.name),
    )


def _is_left(policy: Policy, mark: LeftMark) -> Refused:
    return Refused(
        f"another replica has taken over from {policy.source}: there would be two primaries",
        found=f"{LEFT_FOR} = {mark}: {mark.replica} is the primary, by policy {mark.policy}",
        expected=f"a source from which only policy {policy.name} takes over",
        next_step=f"replicate from {mark.replica}, and end this policy with: "
        + command("twinhive", "forget", policy.name)
        + f"; if {mark.replica} is gone for good, and its rows with it: ALTER DATABASE {policy.source.database} SET "
        f"DBPROPERTIES ('{LEFT_FOR}'='') on {policy.source.cluster}, then the failover again",
    )
