"""What Airflow is told when something goes wrong: retry, or fail for good; and what a person reads."""

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.definitions.retry_policy import RetryAction
from airflow.sdk.exceptions import AirflowException, AirflowSecretsBackendAccessDenied, DagRunTriggerException

from tests.dags.airflow_home import parse_dags
from tests.dags.task_context import a_context
from tests.support.builders import a_policy
from tests.support.policies import PolicyFiles
from twinhive.core.model.batches import Batch
from twinhive.core.model.errors import (
    ActNow,
    Foreign,
    InvalidSettings,
    LeaseLost,
    Missing,
    TryAgain,
    TwinhiveError,
    Unreachable,
)
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.consolidation_round import Folded
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.replication.bootstrap.gate import GateOpen
from twinhive.replication.bootstrap.list_objects import ObjectsListed
from twinhive.replication.external_tables.list_external import ExternalListed
from twinhive.replication.incremental.window_stage import WindowCut
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.policy_assets import announce, announce_data, announce_pending, replica_asset
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.task_failures import RETRY_RULES, MayPass, PersonMustAct, as_airflow_failures
from twinhive.surfaces.airflow.tasks.spark_exit_codes import explain_spark_failure
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.surfaces.airflow.tasks.step_task import batches_of, passed_over, summary_of


@pytest.fixture
def dag(policies: PolicyFiles) -> Any:
    """The DAG of a policy over clusters whose connections Airflow does not know."""
    policies.add("sales")
    return parse_dags(policies.directory)["sales.bootstrap"]


@pytest.mark.parametrize("family", [TryAgain, Unreachable, LeaseLost])
def test_what_may_pass_by_itself_is_retried(family: type[TwinhiveError]) -> None:
    with pytest.raises(MayPass), as_airflow_failures():
        raise family("the metastore is away", next_step="wait")


@pytest.mark.parametrize("family", [ActNow, Foreign, Missing, InvalidSettings])
def test_what_needs_a_person_fails_for_good(family: type[TwinhiveError]) -> None:
    with pytest.raises(PersonMustAct), as_airflow_failures():
        raise family("the database is not ours")


def test_the_last_lines_of_a_failure_name_kind_findings_and_next_step() -> None:
    with pytest.raises(PersonMustAct) as failure, as_airflow_failures():
        raise Foreign("sales is not ours", found="no mark", expected="our mark", next_step="drop it, then clear load")
    assert str(failure.value).splitlines() == [
        "Foreign: sales is not ours",
        "  found:    no mark",
        "  expected: our mark",
        "  next:     drop it, then clear load",
    ]
    assert failure.value.__suppress_context__


def test_an_unknown_key_of_the_trigger_form_is_refused_before_anything_else(dag: Any) -> None:
    preflight = dag.task_dict["preflight"]
    with pytest.raises(PersonMustAct) as failure:
        preflight.execute(a_context(dag, "preflight", copy_treads=4, colour="red"))
    assert "the trigger form of sales.bootstrap holds unknown keys" in str(failure.value)
    assert "colour, copy_treads" in str(failure.value)
    assert "only again, copy_threads, dry_run" in str(failure.value)


def test_a_known_key_and_an_empty_form_are_accepted(dag: Any) -> None:
    usual = {"dry_run": False, "again": False, "copy_threads": dag.params["copy_threads"]}
    assert checked_form(a_context(dag, "preflight", copy_threads=2)) == {**usual, "copy_threads": 2}
    assert checked_form(a_context(dag, "preflight")) == usual
    assert checked_form({**a_context(dag, "preflight"), "dag_run": type("Run", (), {"conf": None})}) == usual


def test_an_unknown_connection_is_tried_again_because_a_backend_that_failed_looks_the_same(dag: Any) -> None:
    with pytest.raises(Unreachable, match="Airflow gave no connection nowhere") as failure:
        resolve_from_airflow("nowhere")
    assert "none of this id, or a secrets backend that could not be asked" in str(failure.value)
    assert "connections add" not in str(failure.value)
    with pytest.raises(MayPass, match="Airflow gave no connection") as ending:
        dag.task_dict["preflight"].execute(a_context(dag, "preflight"))
    assert RETRY_RULES.evaluate(ending.value, 1, 3).action is not RetryAction.FAIL


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AirflowSecretsBackendAccessDenied("401 for 'hdfs'"), "kept connection hdfs to itself"),
        (TimeoutError("sealed"), "could not be asked for connection hdfs"),
        (RuntimeError("the supervisor is gone"), "could not be asked for connection hdfs"),
    ],
)
def test_whatever_keeps_a_connection_from_us_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def refuse(connection_id: str) -> None:
        raise error

    monkeypatch.setattr("airflow.sdk.BaseHook.get_connection", refuse)
    with pytest.raises(Unreachable, match=said) as failure:
        resolve_from_airflow("hdfs")
    assert str(error) in str(failure.value) and "If it goes on" in str(failure.value)


def test_a_connection_of_the_environment_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "AIRFLOW_CONN_SOME_HDFS", '{"conn_type": "hdfs", "host": "nn", "port": 9000, "extra": {"user": "etl"}}'
    )
    found = resolve_from_airflow("some_hdfs")
    assert (found.host, found.port, found.extra) == ("nn", 9000, {"user": "etl"})


MEND = CopyBatch(Work(a_policy(), "b", "bootstrap-7-7-1234")).mend


@pytest.mark.parametrize(
    ("message", "family", "said"),
    [
        (f"Cannot execute: spark-submit. Error code is: {ExitCode.ACT_NOW}.", ActNow, "clear this task with all"),
        (f"Cannot execute: spark-submit. Error code is: {ExitCode.UNUSABLE}.", ActNow, "mend the Spark connection"),
        (f"Cannot execute: spark-submit. Error code is: {ExitCode.TRY_AGAIN}.", TryAgain, "exit code 3"),
        ("Cannot execute: spark-submit. Error code is: 1.", TryAgain, "exit code 1"),
        ("Cannot execute: spark-submit. Error code is: 137.", TryAgain, "exit code 137"),
        ("Cannot execute: spark-submit. Error code is: 44.", TryAgain, "exit code 44"),
        ("No such file or directory: spark-submit\nmore lines", TryAgain, "No such file or directory: spark-submit"),
    ],
)
def test_the_exit_code_of_spark_submit_decides_who_acts(message: str, family: type[TwinhiveError], said: str) -> None:
    explained = explain_spark_failure(AirflowException(message), "sales.orders +1 tables", MEND)
    assert isinstance(explained, family)
    assert explained.what.startswith("sales.orders +1 tables: ")
    assert said in str(explained)
    assert "more lines" not in str(explained)
    assert explained.next_step


def test_mapped_tasks_are_expanded_over_names_and_labels_only() -> None:
    listed = ObjectsListed("bootstrap-7-7-1234", (Batch("b0001", "sales.orders +2 tables", ()),))
    assert batches_of(listed) == [{"dump": "bootstrap-7-7-1234", "name": "b0001", "label": "sales.orders +2 tables"}]


def test_what_was_planned_is_said_in_short_beside_the_batches() -> None:
    cut = WindowCut("incremental-1-9-1234", (Batch("w0001", "sales.orders", ()),), idle=False, events=3, begin=1, end=9)
    summary = summary_of(cut)
    assert (summary["dump"], summary["events"], summary["end"]) == ("incremental-1-9-1234", 3, 9)
    assert "batches" not in summary


def stage(phase: str, name: str) -> StageOf:
    return StageOf("config", "sales", phase, name)


def test_after_an_idle_window_nothing_is_run_and_after_another_one_everything() -> None:
    assert passed_over(WindowCut(), stage("incremental", "window"), {"copy", "apply"}) == ["apply", "copy"]
    assert passed_over(WindowCut("d", idle=False), stage("incremental", "window"), {"copy", "apply"}) == []


def test_a_pass_over_external_tables_that_is_idle_copies_nothing() -> None:
    listing, after = stage("external", "list_external"), {"sync", "next_pass"}
    assert passed_over(ExternalListed(idle="paused: upgrade"), listing, after) == ["next_pass", "sync"]
    assert passed_over(ExternalListed("pass-7-1234"), listing, after) == []


def test_a_gate_leads_to_the_load_or_to_another_round_never_to_both() -> None:
    after = {"load", "next_round"}
    assert passed_over(GateOpen(), stage("consolidate", "gate"), after) == ["next_round"]
    assert passed_over(Folded("d", ()), stage("consolidate", "round"), {*after, "gate"}) == []
    assert passed_over(GateOpen(another_round=True), stage("consolidate", "gate"), after) == ["load"]


def handed_over(dag: Any, planned: Any, task_id: str = "consolidate", **conf: Any) -> DagRunTriggerException | None:
    """Let a task hand over; return the run that it starts, None without one."""
    task = dag.task_dict[task_id]
    context = a_context(dag, task_id, **conf)
    context["params"] |= conf
    wanted = (task.hand_over.dump_of, "summary")
    context["ti"].xcom_pull = lambda task_ids, key: planned if (task_ids, key) == wanted else None
    try:
        task.execute(context)
    except DagRunTriggerException as started:
        return started
    return None


def test_a_bootstrap_hands_its_dump_over_to_a_run_that_is_named_by_it(dag: Any) -> None:
    started = handed_over(dag, {"dump": "bootstrap-7-7-1234", "already": None}, copy_threads=2)
    assert started is not None
    assert (started.trigger_dag_id, started.dag_run_id) == ("sales.consolidate", "after-bootstrap-7-7-1234")
    assert started.reset_dag_run
    # What the other form does not have would be refused there.
    assert started.conf == {"copy_threads": 2}


def test_a_bootstrap_of_a_published_replica_hands_nothing_over(dag: Any) -> None:
    assert handed_over(dag, {"dump": "bootstrap-7-7-1234", "already": "already applied"}) is None


def test_a_bootstrap_whose_notes_are_lost_hands_over_all_the_same(dag: Any) -> None:
    started = handed_over(dag, None)
    assert started is not None and started.dag_run_id == "after-manual__1"


@pytest.fixture
def external_dags(policies: PolicyFiles) -> dict[str, Any]:
    """The DAGs of a policy that copies external tables in bounded passes."""
    external = {"base_directory": "hdfs://west/external"}
    policies.add("sales", external_tables=external, options={"approx_max_load_tasks": 200})
    return parse_dags(policies.directory)


def test_a_bootstrap_starts_the_data_lane_once_for_a_dump(external_dags: dict[str, Any]) -> None:
    planned = {"dump": "bootstrap-7-7-1234", "already": None}
    started = handed_over(external_dags["sales.bootstrap"], planned, "external", copy_threads=2)
    assert started is not None
    assert (started.trigger_dag_id, started.dag_run_id) == ("sales.external", "after-bootstrap-7-7-1234")
    assert started.reset_dag_run and started.conf == {"copy_threads": 2}


def test_a_pass_that_leaves_something_starts_the_next_one_and_else_none(external_dags: dict[str, Any]) -> None:
    dag = external_dags["sales.external"]
    started = handed_over(dag, {"dump": "pass-7-1234", "remaining": 93}, "next_pass")
    assert started is not None
    assert (started.trigger_dag_id, started.dag_run_id) == ("sales.external", "after-pass-7-1234")
    for planned in ({"dump": "pass-7-1234", "remaining": 0}, None):
        assert handed_over(dag, planned, "next_pass") is None


def test_an_unknown_key_of_the_data_lanes_form_is_refused(external_dags: dict[str, Any]) -> None:
    dag = external_dags["sales.external"]
    for task_id in ("check_base", "next_pass"):
        with pytest.raises(PersonMustAct, match="only copy_threads, dry_run"):
            dag.task_dict[task_id].execute(a_context(dag, task_id, again=True))


class Outlets(dict[Any, Any]):
    """Remember what a task has said by its aliases."""

    def __missing__(self, key: Any) -> Any:
        self[key] = SimpleNamespace(added=[])
        self[key].add = lambda asset, extra: self[key].added.append((asset.name, extra))
        return self[key]


def test_tables_that_begin_to_wait_start_the_data_lane_and_data_that_came_the_event_lane(policies: PolicyFiles) -> None:
    settings = policies.wiring(policies.add("sales")).settings
    outlets = Outlets()
    announce_pending(outlets, settings, ())
    announce_data(outlets, settings, ())
    assert outlets == {}
    announce_pending(outlets, settings, ("clicks", "views"))
    announce_data(outlets, settings, ("views",))
    said = {alias.name: kept.added for alias, kept in outlets.items()}
    assert said == {
        "sales.waiting": [("sales.pending", {"tables": 2})],
        "sales.backlog": [("sales.source", {"waiting": 1})],
    }


@pytest.mark.parametrize(
    ("waiting", "frozen", "shown"),
    [
        ((), {}, {}),
        (("views", "clicks"), {}, {"pending": ["clicks", "views"], "incomplete": True}),
        ((), {"orders": "no room"}, {"quarantined": ["orders"], "incomplete": True}),
    ],
)
def test_the_event_of_the_replicas_asset_says_what_is_not_as_its_event_id_says(
    policies: PolicyFiles, waiting: tuple[str, ...], frozen: dict[str, str], shown: dict[str, Any]
) -> None:
    settings = policies.wiring(policies.add("sales")).settings
    outlets = Outlets()
    announce(outlets, settings, 7, 7, waiting, frozen)
    assert outlets[replica_asset(settings)].extra == {"event_id": 7, **shown}
