"""Judge which policies somebody has to look at, from how they were found, and from what has failed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow, Missing, TwinhiveError, Unreachable
from twinhive.core.model.human_readable import first_of, readable, spoken_time
from twinhive.core.model.marks import Phase
from twinhive.core.model.text import ResyncTable
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.core.model.watching.copy_activity import CopyAtWork
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.replication.replica.held_sets import HeldNote

ALL = "*"
"""Stands for the policy of what concerns all of them."""

_NAMED = 5


@dataclass(frozen=True)
class Alert:
    """What somebody has to look at.

    about   which of several of the same kind, as the phase whose task failed
    grace   how many seconds it has to last before anybody is told
    """

    policy: str
    kind: AlertKind
    error: TwinhiveError
    about: str = ""
    grace: float = 0.0

    @property
    def key(self) -> str:
        """Tell it from all others, from one minute to the next."""
        return f"{self.policy} {self.kind} {self.about}".rstrip()


@dataclass(frozen=True)
class Failing:
    """What has failed in a phase of a policy and nothing has made up for: how many tasks, what one of them says."""

    policy: str
    phase: str
    tasks: int
    error: TwinhiveError


def alerts_of(found: Sequence[PolicyLag], failing: Iterable[Failing] = ()) -> list[Alert]:
    """Return what is wrong, in the given order; without any policy, that.

    What is wrong with a policy as a whole comes alone, because it is the reason of the rest. A policy that a person has
    paused is nobody's emergency, unless its file or its replica is broken; one that is being loaded, or was never
    started, has no lag, and what fails there is told.
    """
    if not found:
        return [Alert(ALL, AlertKind.NO_POLICIES, _no_policies())]
    failed: dict[str, list[Failing]] = {}
    for one in failing:
        failed.setdefault(one.policy, []).append(one)
    return [alert for lag in found for alert in _of(lag, failed.get(lag.policy, []))]


def _of(lag: PolicyLag, failing: Sequence[Failing]) -> Iterator[Alert]:
    if lag.error is not None:
        kind = AlertKind.UNREACHABLE if isinstance(lag.error, Unreachable) else AlertKind.TROUBLE
        if not (lag.paused and kind is AlertKind.UNREACHABLE):
            yield Alert(lag.policy, kind, lag.error)
        return
    if not lag.paused:
        if lag.too_late:
            yield Alert(lag.policy, AlertKind.LATE, _late(lag))
        yield from (failure_alert(one, lag.limits.failed_for) for one in failing)
        yield from _stalled(lag)
        yield from _external(lag)
    yield from _always(lag)


def failure_alert(one: Failing, grace: float) -> Alert:
    """Return what is told of failures: at once where a person must act."""
    if isinstance(one.error, ActNow):
        return Alert(one.policy, AlertKind.STOPPED, one.error, one.phase)
    return Alert(one.policy, AlertKind.FAILED, one.error, one.phase, grace)


def _stalled(lag: PolicyLag) -> Iterator[Alert]:
    """Yield one alert a DAG: what one copy waits for, mostly all of them do."""
    by_dag: dict[str, list[CopyAtWork]] = {}
    for one in lag.stalled:
        by_dag.setdefault(one.dag_id, []).append(one)
    for dag_id, copies in by_dag.items():
        yield Alert(lag.policy, AlertKind.STALLED, _standing_still(lag, dag_id, copies), dag_id.rpartition(".")[2])


def _external(lag: PolicyLag) -> Iterator[Alert]:
    allowed, seen = lag.limits.external_age, lag.watched
    if allowed is None or lag.phase != Phase.FOLLOWING.value:
        return
    ages = {
        f"{seen.pending or 0:,} external tables wait for their data, the oldest": seen.pending_age,
        "the last complete pass over external data began": seen.external_age,
    }
    if old := [f"{what} since {spoken_time(age)}" for what, age in ages.items() if age is not None and age > allowed]:
        yield Alert(lag.policy, AlertKind.EXTERNAL, _old_data(lag, "; ".join(old), allowed))


def _always(lag: PolicyLag) -> Iterator[Alert]:
    seen = lag.watched
    if seen.quarantined:
        yield Alert(lag.policy, AlertKind.QUARANTINED, _quarantined(lag))
    least = lag.limits.free_bytes
    yield from _held(lag)
    if least is not None and seen.free_bytes is not None and seen.free_bytes < least:
        yield Alert(lag.policy, AlertKind.SPACE, _full(lag, seen.free_bytes, least))


def _held(lag: PolicyLag) -> Iterator[Alert]:
    allowed = lag.limits.held_for
    if allowed is None or lag.paused or lag.phase != Phase.FOLLOWING.value:
        return
    old = {name: one for name, one in (lag.watched.held or {}).items() if lag.at - one.since > allowed}
    if old:
        yield Alert(lag.policy, AlertKind.HELD, _held_long(lag, old, allowed))


def _held_long(lag: PolicyLag, old: Mapping[str, HeldNote], allowed: float) -> ActNow:
    oldest_first = sorted(old.items(), key=lambda one: (one[1].since, one[0]))
    told = (f"{name} since {spoken_time(lag.at - one.since)}: {one.why}" for name, one in oldest_first)
    return ActNow(
        f"sets of policy {lag.policy} are done at the source and not shown on the replica: {len(old):,}",
        found="; ".join(first_of(told, _NAMED)),
        expected=f"at most {spoken_time(allowed)} (watch.held_for)",
        next_step="do what stands behind 'next' for each; all are listed by: "
        f"twinhive status {lag.policy} (docs/runbooks.md, 'A set is held')",
    )


def _late(lag: PolicyLag) -> ActNow:
    more = "at least " if lag.at_least else ""
    return ActNow(
        f"the replica {lag.replica} of policy {lag.policy} is too far behind",
        found=f"the oldest of {more}{lag.lag_events:,} events that are not applied is "
        f"{spoken_time(lag.lag_seconds)} old; the replica is at event {lag.replicated}, the source at {lag.newest}",
        expected=f"at most {spoken_time(lag.max_lag)} (max_lag)",
        next_step=f"look at the newest run of the DAG {lag.policy}.incremental: a red task says what to do; "
        f"without a run, unpause the DAG: airflow dags unpause {lag.policy}.incremental; if its tasks stay scheduled, "
        "their pool may be missing: twinhive --airflow check",
    )


def _standing_still(lag: PolicyLag, dag_id: str, copies: Sequence[CopyAtWork]) -> ActNow:
    oldest = min(copies, key=lambda one: one.moved)
    more = f" (and {len(copies) - 1:,} more tasks)" if len(copies) > 1 else ""
    return ActNow(
        f"{dag_id}: a copy moves nothing",
        found=f"{stalled_line(oldest, lag.at)}; run {oldest.run_id}, try {oldest.try_number}{more}",
        expected=f"files or bytes within {spoken_time(lag.limits.stalled_for)} (watch.stalled_for)",
        next_step="see that Spark's master gives the job executors and that both clusters have their DataNodes; then "
        f"clear the task {oldest.task} of that run, also while it is running: what is staged is not copied again "
        "(docs/runbooks.md, 'A copy hangs or is slow')",
    )


def stalled_line(copy: CopyAtWork, at: float) -> str:
    """Say in one line which copy moves nothing, and since when."""
    what = f" ({copy.label})" if copy.label else ""
    return f"{copy.dag_id}, task {copy.task}{what} has moved nothing for {spoken_time(copy.stands(at))}"


def _old_data(lag: PolicyLag, found: str, allowed: float) -> ActNow:
    return ActNow(
        f"external data of the replica {lag.replica} of policy {lag.policy} is too old",
        found=found,
        expected=f"at most {spoken_time(allowed)} (watch.external_age)",
        next_step=f"look at the newest run of the DAG {lag.policy}.external: a red task says what to do; "
        f"without a run, unpause the DAG: airflow dags unpause {lag.policy}.external",
    )


def _quarantined(lag: PolicyLag) -> ActNow:
    tables = sorted(lag.watched.quarantined.items())
    return ActNow(
        f"tables of policy {lag.policy} are quarantined: {len(tables):,}",
        found="; ".join(first_of((f"{table}: {reason}" for table, reason in tables), _NAMED)),
        expected="no table that is frozen",
        next_step="mend the reason, then bring each over as it is: " + ResyncTable(lag.policy, tables[0][0]),
    )


def _full(lag: PolicyLag, free: int, least: int) -> ActNow:
    return ActNow(
        f"the file system of the replica {lag.replica} of policy {lag.policy} is nearly full",
        found=f"{readable(free)} free below the staging directory",
        expected=f"at least {readable(least)} (watch.free_bytes)",
        next_step="make room on the replica's cluster, or raise the quota",
    )


def _no_policies() -> ActNow:
    return Missing(
        "the configuration holds no policy",
        found="no file policies/*.yaml in the configuration directory",
        expected="at least one policy, as docs/configuration.md describes it",
        next_step="see that TWINHIVE_CONFIG names the directory and that workers have it; what is there is listed by: "
        "twinhive policies",
    )


def state_line(lag: PolicyLag) -> str:
    """Say in one line how a policy is."""
    said = [lag.policy, lag.phase]
    if lag.lag_seconds is not None:
        more = "+" if lag.at_least else ""
        said.append(f"at event {lag.replicated}, {lag.lag_events}{more} events behind, {spoken_time(lag.lag_seconds)}")
    if lag.watched.progress:
        said.append(lag.watched.progress.text)
    said += [stalled_line(one, lag.at) for one in lag.stalled[:_NAMED]]
    if lag.paused:
        said.append(f"paused: {lag.paused}")
    if lag.trouble:
        said.append(lag.trouble.splitlines()[0])
    return "; ".join(said)
