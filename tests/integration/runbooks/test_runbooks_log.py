"""Follow the runbooks for a source whose log or kept files fail: lose, poison, restore; then do what the page says."""

from collections.abc import Callable

import pytest

from tests.integration.damage import SOURCE_LOG, Databases
from tests.integration.oncall import OnCall, event_named
from tests.support.users.source_writer import SourceWriter

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]
Compare = Callable[[], None]


def bootstrap_anew(oncall: OnCall) -> None:
    """Trigger the bootstrap with `again`, and wait for the load."""
    oncall.airflow.api.unpause(f"{oncall.policy}.consolidate")
    bootstrap = oncall.green_run("bootstrap", again=True)
    assert bootstrap.handed_over().wait() == "success"


@pytest.mark.runbook("The log has a gap")
def test_the_log_has_a_gap(oncall: OnCall, databases: Databases, writers: SourceWriter, assert_twin: Compare) -> None:
    lost = writers.metastore.current_event_id() + 1
    writers.insert("plain", None, [b"lost"])
    writers.insert("plain", None, [b"more"])
    databases.lose_event(lost)
    oncall.trigger()

    run = oncall.red_run("window")
    oncall.read(run, "window", "has a gap", "metastore.event.db.listener.timetolive")
    oncall.operate("resync-all", dry_run=True)
    oncall.operate("resync-all")
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("The source's metastore was restored from a backup")
def test_the_source_metastore_was_restored(
    oncall: OnCall, databases: Databases, writers: SourceWriter, assert_twin: Compare
) -> None:
    with databases.stopped("east-metastore"):
        databases.create("backup", like=SOURCE_LOG)
    writers.insert("plain", None, [b"forgotten"])
    oncall.green_run()
    with databases.stopped("east-metastore"):
        databases.drop(SOURCE_LOG)
        databases.create(SOURCE_LOG, like="backup")
        databases.drop("backup")
    oncall.trigger()

    # A run that began while the server was stopped waits for its next try first.
    run = oncall.red_run("window", for_good=True)
    oncall.read(run, "window", "is not the one it was", "cannot be told from this log")
    bootstrap_anew(oncall)
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("A file of an event is lost")
def test_a_file_of_an_event_is_lost(oncall: OnCall, writers: SourceWriter, assert_twin: Compare) -> None:
    writers.insert("plain", None, {"lost": b"lost"})
    writers.files.delete(f"{writers.location('plain')}/lost")
    oncall.trigger()

    run = oncall.red_run("window")
    oncall.read(run, "window", "files were not copied", "is lost", "a lost file comes back")
    oncall.operate("resync", "asked for", table="plain")
    oncall.clear(run, "window")
    assert_twin()


@pytest.mark.runbook("An event cannot be read")
def test_an_event_cannot_be_read(
    oncall: OnCall, databases: Databases, writers: SourceWriter, assert_twin: Compare
) -> None:
    poisoned = writers.metastore.current_event_id() + 1
    writers.set_parameters("plain", {"colour": "blue"})
    writers.insert("orders", ("1",), [b"more"])
    databases.poison_event(poisoned)
    oncall.trigger()

    run = oncall.red_run("window")
    event_id = event_named(oncall.read(run, "window", "cannot be read", "if the replica can do without it"))
    oncall.operate("skip-event", "would be passed over", dry_run=True, event_id=event_id, reason="see ticket 1")
    oncall.operate("skip-event", "the next run passes it over", event_id=event_id, reason="see ticket 1")
    oncall.operate("resync", table="plain")
    oncall.clear(run, "window")
    oncall.operate("status", "skipped event")
    assert_twin()
