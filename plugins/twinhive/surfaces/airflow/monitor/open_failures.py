"""What the journal holds of failures that are open as what the monitor judges."""

from collections.abc import Iterable

from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.journal.records import Failure, OpenFailures
from twinhive.operations.monitoring.lag_alerts import Failing
from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES
from twinhive.surfaces.airflow.monitor import metrics


def failing_of(failures: Iterable[OpenFailures]) -> list[Failing]:
    """Return what has failed in the phases; what somebody tried by a form is between the form and him.

    Of a phase where a person must act, what may pass by itself is not told beside it.
    """
    mine = [one for one in failures if _phase(one.newest) in {*PHASES, *PLACEMENT_PHASES}]
    stopped = {one.newest.dag_id for one in mine if one.newest.act_now}
    told = [one for one in mine if one.newest.act_now or one.newest.dag_id not in stopped]
    return [Failing(one.newest.policy, _phase(one.newest), one.number, _error(one)) for one in told]


def topics_open(failures: Iterable[OpenFailures]) -> frozenset[str]:
    """Return of what people may have been told, as `Alert.key` says it, and nothing has made up for it."""
    return frozenset(f"{one.newest.policy} {_kind(one.newest)} {_phase(one.newest)}" for one in failures)


def send_metrics(policies: Iterable[str], failures: Iterable[OpenFailures]) -> None:
    """Send how many failures are open, by policy or placement, and family."""
    counted: dict[tuple[str, str], int] = {}
    for one in failures:
        if _phase(one.newest) in {*PHASES, *PLACEMENT_PHASES}:
            key = one.newest.policy, metrics.family_of(act_now=one.newest.act_now)
            counted[key] = counted.get(key, 0) + one.number
    metrics.failures_open(policies, counted)


def _kind(failure: Failure) -> AlertKind:
    return AlertKind.STOPPED if failure.act_now else AlertKind.FAILED


def _phase(failure: Failure) -> str:
    return failure.dag_id.removeprefix(f"{failure.policy}.")


def _error(one: OpenFailures) -> TwinhiveError:
    newest = one.newest
    family = ActNow if newest.act_now else TryAgain
    more = f" (and {one.number - 1:,} more tasks)" if one.number > 1 else ""
    return family(
        f"{newest.dag_id}, task {newest.task_id}: {newest.what}{more}",
        found=newest.found,
        expected=newest.expected,
        next_step=newest.next_step,
    )
