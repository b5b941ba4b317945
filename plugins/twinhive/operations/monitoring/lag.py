"""Measure how far the replicas of many policies are behind their sources, asking each server once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from zlib import crc32

from twinhive.core.model.errors import Missing, TwinhiveError, Unreachable
from twinhive.core.model.marks import UNREACHABLE, UNUSABLE, Phase, ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.core.ports import FileReader, MetastoreReader
from twinhive.core.threads.server_queries import Answers, Question, ask_all
from twinhive.operations.monitoring.monitored_policy import Follower, Limits, file_system_name, metastore_name
from twinhive.operations.monitoring.old_primaries import questions_of_old, trouble_with_source
from twinhive.operations.monitoring.policy_health import WatchedPolicy, first_questions, second_questions, watched
from twinhive.operations.monitoring.recovery_point import at_risk, question_of_risk
from twinhive.operations.monitoring.standing_fences import question_of_fence, stays_fenced
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import dumps_of
from twinhive.replication.notification_log.event_backlog import COUNTED, Counted, count_events
from twinhive.replication.notification_log.log_pages import LogPages
from twinhive.replication.operator_requests.request_files import paused_policies, policies_with_requests
from twinhive.replication.replica.replica_state import shown_state

_WAITS_LONG_SECONDS = 120.0
_TURNS = 5
_OF_ONE_PAUSED = 50


@dataclass(frozen=True)
class PolicyLag:
    """How one policy was found.

    at           when, in seconds since 1970
    phase        `absent`, `loading`, `following`, `promoted`, or `unusable` (the policy file), `unreachable` (a server
                 of it)
    replicated   the replicated event id; None unless the replica follows
    newest       the newest event of the source's log, of whatever database
    lag_events   events that concern the policy and are not applied; with `at_least` there may be more
    lag_seconds  age of the oldest of them, 0 without one; None for a replica that does not follow
    limits       from when on somebody has to look
    watched      what else was found of the replica
    paused       why a person holds the policy back, None when nobody does
    requested    a person has asked for tables to be brought over as they are, and no run has done it yet
    rpo_events, rpo_seconds   how many of them would be lost if the source died now, because not all of their files are
                 on the replica's cluster, and the age of the oldest; None where nobody knows
    stalled      the copies that run and move nothing, as far as somebody has looked
    error        what is wrong, None when nothing is
    counted      how far the log was counted, for the next measurement
    """

    policy: str
    at: float
    source: str = ""
    replica: str = ""
    phase: str = UNUSABLE
    replicated: int | None = None
    newest: int | None = None
    lag_events: int | None = None
    lag_seconds: float | None = None
    limits: Limits = field(default_factory=Limits)
    watched: WatchedPolicy = field(default_factory=WatchedPolicy)
    paused: str | None = None
    requested: bool = False
    rpo_events: int | None = None
    rpo_seconds: float | None = None
    stalled: tuple[CopyAtWork, ...] = ()
    error: TwinhiveError | None = None
    at_least: bool = False
    counted: Counted | None = None

    @property
    def trouble(self) -> str | None:
        """What is wrong, in one line."""
        return None if self.error is None else self.error.words.what

    @property
    def wants_a_run(self) -> bool:
        """True when a run of the incremental DAG has something to do, and nothing may have started it.

        A request always; events that wait since two minutes in one minute of five, each policy in its own, so that
        neither runs that fail nor those of hundreds of policies are started all the time.
        """
        if self.phase != Phase.FOLLOWING.value or self.error is not None or self.paused:
            return False
        takes_its_turn = (int(self.at) // 60 + crc32(self.policy.encode())) % _TURNS == 0
        return self.requested or (takes_its_turn and (self.lag_seconds or 0) >= _WAITS_LONG_SECONDS)

    @property
    def max_lag(self) -> float | None:
        """The lag in seconds that is too much, None: none is."""
        return self.limits.max_lag

    @property
    def too_late(self) -> bool:
        """True when the lag is more than the policy allows."""
        return self.max_lag is not None and self.lag_seconds is not None and self.lag_seconds > self.max_lag


def measure(
    followers: Sequence[Follower], at: float, patience: float, known: Mapping[str, Counted] | None = None
) -> list[PolicyLag]:
    """Return how each policy is, in the given order. Raises nothing.

    Servers are asked beside each other, in two rounds of at most `patience` seconds: one that is dead or hangs makes
    its own policies unreachable, and holds back no others. Each log is read once, from the oldest position on; of a
    policy whose events were counted before (`known`), from there on.
    """
    first = ask_all((*_first_questions(followers), *first_questions(followers)), patience)
    databases = {one.policy.source.database for one in followers}
    logs = {
        server: LogPages(one.ports.source, found[1], databases)
        for one in followers
        if isinstance(found := first["log", server := metastore_name(one.ports.source)], tuple)
    }
    second = ask_all(
        (*_second_questions(followers, first, logs, known or {}), *second_questions(followers, first, at)), patience
    )
    return [_found(one, at, {**first, **second}) for one in followers]


def _first_questions(followers: Sequence[Follower]) -> Iterator[Question]:
    """Ask each source for its log, each replica for its database, each file system who is paused or has requests."""
    sources = {metastore_name(one.ports.source): one.ports.source for one in followers}
    for server, source in sources.items():
        yield Question(server, ("log", server), partial(_log, source))
    files = {one.ports.replica_files.root: one.ports.replica_files for one in followers}
    for root, some in files.items():
        policies = [one.policy for one in followers if one.ports.replica_files.root == root]
        yield Question(file_system_name(some), ("paused", root), partial(paused_policies, some, policies))
        yield Question(file_system_name(some), ("requested", root), partial(policies_with_requests, some, policies))
    for one in followers:
        replica, database = one.ports.replica, one.policy.replica.database
        yield Question(metastore_name(replica), ("replica", one.policy.name), partial(replica.database, database))


def _second_questions(
    followers: Sequence[Follower], first: Answers, logs: Mapping[str, LogPages], known: Mapping[str, Counted]
) -> Iterator[Question]:
    """Ask the log what is not applied yet, and for replicas that are absent the dumps whether they have followed."""
    for one in followers:
        name, server = one.policy.name, metastore_name(one.ports.source)
        state = _state(one, first)
        if isinstance(state, TwinhiveError):
            continue
        if state.phase is Phase.FOLLOWING and server in logs:
            paused = first["paused", one.ports.replica_files.root]
            # It stands still for long, and each minute a little more of the log would be read for it.
            most = _OF_ONE_PAUSED if isinstance(paused, dict) and name in paused else COUNTED
            count = partial(count_events, logs[server], one.policy, state.position, known.get(name), most)
            yield Question(server, ("behind", name), count)
            if first["log", server][1] > state.position.event_id:
                yield from question_of_risk(one, state, logs[server])
            yield from question_of_fence(one)
        if state.phase is Phase.PROMOTED:
            yield from questions_of_old(one, first["replica", name], logs, known.get(name))
        if state.phase is Phase.ABSENT:
            files = one.ports.dump_files
            yield Question(file_system_name(files), ("followed", name), partial(_has_followed, files, one.policy))


def _found(one: Follower, at: float, answers: Answers) -> PolicyLag:
    policy = one.policy
    log = answers["log", metastore_name(one.ports.source)]
    paused, requested = (answers[kind, one.ports.replica_files.root] for kind in ("paused", "requested"))
    state = _state(one, answers)
    behind = answers.get(("behind", policy.name), Counted())
    followed = answers.get(("followed", policy.name), False)
    errors = [
        answer for answer in (log, state, paused, requested, behind, followed) if isinstance(answer, TwinhiveError)
    ]
    if followed is True:
        errors.append(_gone(policy))
    if isinstance(behind, TwinhiveError):
        behind.policy = policy.name
    errors += trouble_with_source(one, answers)
    errors += [fenced] if (fenced := stays_fenced(one, at, answers)) else []
    error = min(errors, key=lambda error: not isinstance(error, Unreachable), default=None)
    following = isinstance(state, ReplicaState) and state.phase is Phase.FOLLOWING
    known = following and isinstance(log, tuple) and isinstance(behind, Counted)
    lost = at_risk(one, answers, behind.found) if known else None
    return PolicyLag(
        policy.name,
        at,
        str(policy.source),
        str(policy.replica),
        phase=UNREACHABLE if isinstance(error, Unreachable) else _phase(state),
        replicated=state.last_event_id if isinstance(state, ReplicaState) else None,
        newest=log[1] if isinstance(log, tuple) else None,
        lag_events=behind.found.events if known else None,
        lag_seconds=behind.found.age(at) if known else None,
        rpo_events=lost.events if lost else None,
        rpo_seconds=lost.age(at) if lost else None,
        limits=one.limits,
        watched=watched(one, at, answers),
        paused=paused.get(policy.name) if isinstance(paused, dict) else None,
        requested=isinstance(requested, frozenset) and policy.name in requested,
        error=error,
        at_least=known and behind.found.at_least,
        counted=behind if known else None,
    )


def _state(one: Follower, answers: Answers) -> ReplicaState | TwinhiveError:
    """Return what the replica says; without the source's answer, whose log it follows is not judged."""
    database = answers["replica", one.policy.name]
    log = answers["log", metastore_name(one.ports.source)]
    if isinstance(database, TwinhiveError):
        return database
    try:
        state = ReplicaState.read(database.parameters if database else None)
        return state if isinstance(log, TwinhiveError) else shown_state(database, one.policy, log[0])
    except TwinhiveError as error:
        return error


def _phase(state: ReplicaState | TwinhiveError) -> str:
    return UNUSABLE if isinstance(state, TwinhiveError) else state.phase.value


def _log(source: MetastoreReader) -> tuple[str, int]:
    return source.log_id(), source.current_event_id()


def _has_followed(files: FileReader, policy: Policy) -> bool:
    """Tell whether there are windows: they are cut only for a replica that follows."""
    return bool(dumps_of(files, policy, DumpKind.INCREMENTAL))


def _gone(policy: Policy) -> Missing:
    return Missing(
        f"the replica of policy {policy.name} is gone",
        found=f"no database {policy.replica.database} on {policy.replica.cluster}, but windows in {policy.dumps}",
        expected="the database that it has followed into",
        next_step=f"start the DAG {policy.name}.bootstrap, or remove the policy file if nobody needs the replica",
    )
