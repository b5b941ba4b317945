"""Follow the runbooks for what the monitor tells, and for what nobody tells."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.integration.airflow_fixtures import Run
from tests.integration.oncall import OnCall
from tests.support.messages.notification_inbox import Hook, serving
from tests.support.users.source_writer import SourceWriter

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]
Compare = Callable[[], None]
AT_ONCE = 0.001
PAGER = "runbook_pager"


def look(oncall: OnCall) -> Run:
    """Let the monitor look once; return its run."""
    return oncall.airflow.measure()


def is_named(oncall: OnCall, run: Run) -> bool:
    return run.states()["alert"] == {"failed"} and oncall.policy in run.log("alert")


def write_while_nobody_follows(oncall: OnCall, writers: SourceWriter) -> None:
    oncall.airflow.api.pause(f"{oncall.policy}.incremental")
    writers.insert("plain", None, [b"more"])


@pytest.mark.runbook("A replica is too far behind", max_lag=AT_ONCE)
def test_a_replica_is_too_far_behind(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    write_while_nobody_follows(oncall, writers)
    oncall.read(look(oncall), "alert", "is too far behind", "events that are not applied")
    # It unpauses the DAG, too.
    oncall.green_run()
    assert not is_named(oncall, look(oncall))
    assert_twin()


@pytest.mark.runbook("The monitor is red", max_lag=AT_ONCE)
def test_the_monitor_is_red(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    write_while_nobody_follows(oncall, writers)
    run = look(oncall)
    log = oncall.read(run, "alert", "policies that need attention")
    assert f"airflow dags unpause {oncall.policy}.incremental" in log
    oncall.green_run()
    assert not is_named(oncall, look(oncall))
    assert_twin()


@pytest.mark.runbook("Nobody was told", max_lag=AT_ONCE, notifications={"send": [{"webhook": PAGER}]})
def test_nobody_was_told(oncall: OnCall, writers: SourceWriter) -> None:
    write_while_nobody_follows(oncall, writers)
    oncall.read(look(oncall), "measure", "nobody was told through")
    hook = Hook()
    with serving(hook):
        connection = {"connection_id": PAGER, "conn_type": "http", "host": hook.url}
        oncall.airflow.api._send("POST", "/connections", connection)
        look(oncall)
    told = [alert for body in hook.bodies for alert in body["alerts"] if alert["policy"] == oncall.policy]
    assert [(alert["kind"], alert["state"]) for alert in told] == [("late", "stands")]


@contextmanager
def stopped(processes: list[int]) -> Iterator[None]:
    """Let processes do nothing inside; those that were killed meanwhile go then."""
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@pytest.mark.runbook(
    "A copy hangs or is slow",
    options={"spark_above_files": 0, "spark_above_bytes": 0},
    watch={"stalled_for": AT_ONCE},
)
def test_a_copy_hangs_or_is_slow(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    writers.insert("plain", None, [b"more"])
    oncall.trigger()
    run = oncall.run_at_work("copy")
    with stopped(run.wait_for_spark()):
        oncall.read(look(oncall), "alert", "a copy moves nothing", "has moved nothing for")
        oncall.clear(run, "copy")
    oncall.read(run, "copy", "files with")
    assert_twin()
