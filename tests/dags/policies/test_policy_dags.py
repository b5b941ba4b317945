"""Parse the DAG file as Airflow does, and look at the DAGs of a policy."""

import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import DagSerialization

from tests.dags.airflow_home import CHECKOUT, parse_dags
from tests.support.policies import PolicyFiles
from twinhive.runtime.pipeline.phases import HAND_OVERS, PHASES
from twinhive.runtime.pipeline.switches import FAILBACK, FAILOVER
from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow import dag_factory
from twinhive.surfaces.airflow.dags.operate_dag import FORMS
from twinhive.surfaces.airflow.dags.run_ids import StartedByPeople
from twinhive.surfaces.airflow.dags.schedule import schedule_of

UPSTREAM: dict[str, dict[str, set[str]]] = {
    "bootstrap": {
        "preflight": set(),
        "list_objects": {"preflight"},
        "tables.list_files": {"list_objects"},
        "tables.copy": {"tables.list_files", "list_objects"},
        "external": {"list_objects"},
        "consolidate": {"tables.copy"},
    },
    "consolidate": {
        "round": set(),
        "copy": {"round"},
        "gate": {"copy"},
        "load": {"gate"},
        "next_round": {"gate"},
    },
    "incremental": {"window": set(), "copy": {"window"}, "apply": {"copy"}},
    "scan": {"scan": set()},
    "verify": {"verify": set(), "look_again": {"verify"}},
    "external": {
        "check_base": set(),
        "list_external": {"check_base"},
        "sync": {"list_external"},
        "next_pass": {"sync"},
    },
}
MAPPED = {
    "bootstrap": {"tables.list_files", "tables.copy"},
    "consolidate": {"copy"},
    "incremental": {"copy"},
    "scan": set(),
    "verify": set(),
    "external": {"sync"},
}
COPIES = {"bootstrap": "tables.copy", "consolidate": "copy", "incremental": "copy"}
EXTERNAL_TABLES = {"base_directory": "hdfs://west/external", "every_minutes": 7, "pool": "links"}


@pytest.fixture
def dags(policies: PolicyFiles) -> dict[str, DAG]:
    """The DAGs of one policy with options of its own, by their phases."""
    options = {
        "copy_threads": 3,
        "parallel_copies": 2,
        "parallelism": 5,
        "approx_max_load_tasks": 200,
        "spark_conf": {"spark.cores.max": "4"},
    }
    policies.add("sales", options=options, external_tables=EXTERNAL_TABLES)
    parsed = parse_dags(policies.directory)
    return {dag_id.removeprefix("sales."): dag for dag_id, dag in parsed.items() if dag_id.startswith("sales.")}


@pytest.fixture(params=sorted(PHASES))
def phase(request: pytest.FixtureRequest) -> str:
    """Each phase in turn."""
    return str(request.param)


@pytest.fixture
def dag(dags: dict[str, DAG], phase: str) -> DAG:
    """The DAG of a phase."""
    return dags[phase]


def test_the_configuration_of_the_checkout_gives_dags_for_every_policy_file() -> None:
    files = sorted((CHECKOUT / "dags" / "policies").glob("*.yaml"))
    dags = parse_dags(CHECKOUT / "dags")
    policies = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    names = [policy["policy"] for policy in policies]
    names += [f"{policy['policy']}_back" for policy in policies if "reverse" in policy.get("failover", {})]
    phases = {f"{name}.{phase}" for name in names for phase in (*PHASES, *FORMS, FAILOVER, FAILBACK)}
    assert set(dags) == {*phases, "twinhive.monitor", "twinhive.sql"}
    assert not any("invalid" in dag.tags for dag in dags.values())


def test_a_policy_becomes_a_dag_for_each_phase(dag: DAG, phase: str) -> None:
    assert dag.dag_id == f"sales.{phase}"
    assert dag.max_active_runs == 1
    assert not dag.catchup
    assert dag.tags == {"twinhive", "sales"}
    assert dag.description == f"{phase}: east/sales to west/sales"
    assert "sales.yaml" in dag.doc_md


def test_a_person_starts_the_first_copy_and_the_rest_goes_on_by_itself(dags: dict[str, DAG]) -> None:
    assert {phase for phase, dag in dags.items() if dag.is_paused_upon_creation} == {"bootstrap"}
    by_people = {phase for phase, dag in dags.items() if isinstance(dag.schedule, StartedByPeople | None)}
    assert set(dags) - by_people == {"incremental", "scan", "verify", "external"}


def test_of_two_requests_within_seconds_none_is_taken_for_a_second_click(dags: dict[str, DAG]) -> None:
    assert {phase for phase, dag in dags.items() if dag.schedule is None} == {*FORMS, FAILOVER, FAILBACK}


def test_the_tasks_are_the_stages_of_the_phase_and_what_it_hands_over_to(dag: DAG, phase: str) -> None:
    stages = {stage.name for stage in PHASES[phase]}
    handed_over = {hand_over.name for hand_over in HAND_OVERS.get(phase, ())}
    assert {task.task_id.rpartition(".")[2] for task in dag.tasks} == stages | handed_over


def test_every_task_waits_for_the_ones_before(dag: DAG, phase: str) -> None:
    assert {task.task_id: task.upstream_task_ids for task in dag.tasks} == UPSTREAM[phase]


def test_a_phase_with_nothing_to_copy_goes_on_and_a_failure_stops_it(dag: DAG, phase: str) -> None:
    first = [task_id for task_id, before in UPSTREAM[phase].items() if not before]
    strict = {*first, *MAPPED[phase]}
    for task in dag.tasks:
        assert task.trigger_rule.value == ("all_success" if task.task_id in strict else "none_failed"), task.task_id


def test_mapped_tasks_are_named_by_their_batches(dag: DAG, phase: str) -> None:
    mapped = {task.task_id for task in dag.tasks if task.is_mapped or list(task.iter_mapped_task_groups())}
    assert mapped == MAPPED[phase]
    templates = {task.task_id: task.map_index_template for task in dag.tasks}
    assert {name for name, template in templates.items() if template == "{{ task.batch['label'] }}"} == mapped
    assert all("batch" in dag.task_dict[name].template_fields for name in mapped)


def test_all_tasks_are_retried_more_and_more_slowly(dag: DAG) -> None:
    for task in dag.tasks:
        assert task.retries == 3
        assert task.retry_exponential_backoff
        assert task.retry_delay.total_seconds() == 15


@pytest.mark.parametrize("phase", COPIES)
def test_a_copy_forgets_its_old_spark_job_and_uses_the_connection_and_the_options_of_the_policy(
    dag: DAG, phase: str
) -> None:
    copy = dag.task_dict[COPIES[phase]]
    if copy.is_mapped:
        assert copy.max_active_tis_per_dagrun == 2
        copy = copy.unmap({"batch": {"name": "b1"}})
    assert copy.durable is False
    assert copy._conn_id == "west_spark"
    assert copy.application == str(CHECKOUT / "spark_jobs" / "copy_files.py")
    assert copy.conf == {"spark.cores.max": "4"}
    assert copy.max_active_tis_per_dagrun == 2


@pytest.mark.parametrize("phase", COPIES)
def test_the_trigger_form_offers_the_threads_of_the_policy_within_limits(dag: DAG) -> None:
    param = dag.params.get_param("copy_threads")
    assert param.value == 3
    assert (param.schema["type"], param.schema["minimum"], param.schema["maximum"]) == ("integer", 1, 64)


def test_only_a_bootstrap_can_be_asked_to_start_anew(dags: dict[str, DAG]) -> None:
    assert {phase for phase, dag in dags.items() if "again" in dag.params} == {"bootstrap"}
    again = dags["bootstrap"].params.get_param("again")
    assert (again.value, again.schema["type"]) == (False, "boolean")
    assert "the replica is replaced when the new load begins" in again.description


def test_one_dump_is_taken_over_by_one_run_which_a_repetition_clears(dags: dict[str, DAG]) -> None:
    started = set()
    for phase, hand_overs in HAND_OVERS.items():
        for hand_over in hand_overs:
            task = dags[phase].task_dict[hand_over.name]
            started.add((phase, task.trigger_dag_id))
            assert task.reset_dag_run and task.logical_date is None and not task.wait_for_completion
    assert started == {
        ("bootstrap", "sales.consolidate"),
        ("bootstrap", "sales.external"),
        ("consolidate", "sales.consolidate"),
        ("external", "sales.external"),
    }


def test_what_brings_the_replica_to_another_event_says_so_by_its_asset(dags: dict[str, DAG]) -> None:
    said = {
        f"{phase}.{task.task_id}": {outlet.name for outlet in task.outlets}
        for phase, dag in dags.items()
        for task in dag.tasks
        if task.outlets
    }
    outlets = {"twinhive://west/sales", "sales.backlog", "sales.waiting"}
    assert said.pop("verify.look_again") == {"sales.verification"}
    assert said == {"consolidate.load": outlets, "incremental.apply": outlets, "external.sync": {"sales.backlog"}}


def test_a_policy_that_announces_tables_may_say_so_where_they_are_published(policies: PolicyFiles) -> None:
    policies.add("sales", announced_tables=["orders.*"])
    dags = parse_dags(policies.directory)
    tasks = [task for phase in PHASES for task in dags[f"sales.{phase}"].tasks]
    alias = {task.task_id for task in tasks if "sales.tables" in {outlet.name for outlet in task.outlets}}
    assert alias == {"load", "apply", "window"}


def test_following_is_started_by_the_log_of_the_source_and_every_two_minutes(dags: dict[str, DAG]) -> None:
    schedule = dags["incremental"].schedule
    [asset] = schedule.asset_condition.objects
    [watcher] = asset.watchers
    assert asset.name == "sales.source"
    assert watcher.trigger.database == "sales"
    assert json.loads(watcher.trigger.metastore)["connection"] == "east_metastore"
    assert schedule.timetable.expression.endswith("-59/2 * * * *")


def test_a_scan_runs_every_quarter_of_an_hour_and_can_be_asked_to_compare_every_file(dags: dict[str, DAG]) -> None:
    assert dags["scan"].schedule.expression.endswith("-59/15 * * * *")
    assert dags["scan"].params.get_param("deep").value is False


def test_a_verification_runs_once_a_night_and_says_what_came_of_it(dags: dict[str, DAG]) -> None:
    minute, hour, *rest = dags["verify"].schedule.expression.split()
    assert (rest, int(hour) < 6, int(minute) < 60) == (["*", "*", "*"], True, True)
    assert [one.name for one in dags["verify"].task_dict["look_again"].outlets] == ["sales.verification"]
    assert dags["verify"].params.get_param("deep").value is False


def test_external_tables_are_looked_at_as_often_as_the_policy_says_and_when_some_wait(dags: dict[str, DAG]) -> None:
    schedule = dags["external"].schedule
    [asset] = schedule.asset_condition.objects
    assert (asset.name, asset.uri) == ("sales.pending", "twinhive-external://east/sales/sales")
    assert schedule.timetable.expression.endswith("-59/7 * * * *")
    assert "copy_threads" in dags["external"].params


@pytest.mark.parametrize(
    "external_tables",
    [{}, {**EXTERNAL_TABLES, "include": False}, {**EXTERNAL_TABLES, "data": "metadata_only"}],
)
def test_a_policy_that_brings_no_data_of_external_tables_starts_no_tasks_for_it(
    policies: PolicyFiles, external_tables: dict[str, Any]
) -> None:
    policies.add("sales", external_tables=external_tables)
    dags = parse_dags(policies.directory)
    assert isinstance(dags["sales.external"].schedule, StartedByPeople)
    assert "external" not in dags["sales.bootstrap"].task_dict


def test_copies_of_external_tables_leave_a_slot_to_the_events_and_use_their_own_pool(dags: dict[str, DAG]) -> None:
    sync = dags["external"].task_dict["sync"]
    assert (sync.max_active_tis_per_dagrun, sync.pool) == (4, "links")
    pools = {
        task.pool for phase, dag in dags.items() for task in dag.tasks if (phase, task.task_id) != ("external", "sync")
    }
    assert pools == {"default_pool"}


def test_whatever_brings_events_is_chosen_before_whatever_copies_external_tables(dags: dict[str, DAG]) -> None:
    read = {phase: DagSerialization.from_dict(DagSerialization.to_dict(dag)) for phase, dag in dags.items()}
    weights = {phase: {_weight(task) for task in dag.task_dict.values()} for phase, dag in read.items()}
    assert weights.pop("external") == weights.pop("scan") == weights.pop("verify") == {1}
    assert set(map(tuple, weights.values())) == {(2,)}


def _weight(task: Any) -> int:
    weight: int = task.weight_rule.get_weight(SimpleNamespace(task=task))
    return weight


def test_only_policies_that_bound_their_passes_start_another_one(policies: PolicyFiles) -> None:
    policies.add("sales", external_tables=EXTERNAL_TABLES)
    dags = parse_dags(policies.directory)
    assert set(dags["sales.external"].task_dict) == {"check_base", "list_external", "sync"}
    assert "external" in dags["sales.bootstrap"].task_dict


def test_policies_take_turns(policies: PolicyFiles) -> None:
    for number in range(15):
        policies.add(f"db{number}")
    dags = [dag for dag_id, dag in parse_dags(policies.directory).items() if dag_id.endswith(".incremental")]
    assert {dag.schedule.timetable.expression for dag in dags} == {"0-59/2 * * * *", "1-59/2 * * * *"}


def test_a_dag_survives_being_stored_and_read_back(dag: DAG, phase: str) -> None:
    stored = json.loads(json.dumps(DagSerialization.to_dict(dag)))
    read = DagSerialization.from_dict(stored)
    assert set(read.task_dict) == set(UPSTREAM[phase])
    for task in dag.tasks:
        same = read.task_dict[task.task_id]
        assert (same.upstream_task_ids, same.retries) == (task.upstream_task_ids, task.retries)
        assert same.trigger_rule == task.trigger_rule
    assert (read.max_active_runs, read.is_paused_upon_creation) == (1, phase == "bootstrap")
    assert read.timetable.can_be_scheduled == (phase in ("incremental", "scan", "verify", "external"))


def test_parsing_twice_gives_the_same_dags_so_that_no_version_is_made_for_nothing(policies: PolicyFiles) -> None:
    policies.add("sales")
    once, again = (_stored(parse_dags(policies.directory)) for _ in range(2))
    assert len(once) == len(PHASES) + len(FORMS) + 4
    assert once == again


def _stored(dags: dict[str, Any]) -> dict[str, str]:
    return {dag_id: json.dumps(DagSerialization.to_dict(dag), sort_keys=True) for dag_id, dag in dags.items()}


AIRFLOW = {
    "owner": "data-platform",
    "default": {"queue": "slow", "timeout_minutes": 720},
    "events": {"pool": "events", "queue": "quick"},
    "copies": {"pool": "copies", "executor_config": {"pod_template_file": "/templates/spark.yaml"}},
    "external": {"pool": "links", "timeout_minutes": 60},
    "forms": {"queue": "people"},
}


@pytest.mark.parametrize(
    ("dag_id", "task_id", "pool", "queue", "hours"),
    [
        ("sales.bootstrap", "preflight", "default_pool", "slow", 12),
        ("sales.bootstrap", "tables.copy", "copies", "slow", 12),
        ("sales.consolidate", "load", "default_pool", "slow", 12),
        ("sales.incremental", "window", "events", "quick", 12),
        ("sales.incremental", "copy", "copies", "slow", 12),
        ("sales.incremental", "apply", "events", "quick", 12),
        ("sales.external", "check_base", "default_pool", "slow", 12),
        ("sales.external", "sync", "links", "slow", 1),
        ("sales.scan", "scan", "default_pool", "slow", 12),
        ("sales.operate", "operate", "default_pool", "people", 12),
        ("sales.give_up", "give_up", "default_pool", "people", 12),
    ],
)
def test_a_policy_says_where_each_kind_of_its_tasks_runs(
    policies: PolicyFiles, dag_id: str, task_id: str, pool: str, queue: str, hours: int
) -> None:
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"}, airflow=AIRFLOW)
    task = parse_dags(policies.directory)[dag_id].task_dict[task_id]
    assert (task.pool, task.queue, task.owner) == (pool, queue, "data-platform")
    assert task.execution_timeout == timedelta(hours=hours)
    wanted = {"pod_template_file": "/templates/spark.yaml"} if pool == "copies" else {}
    assert dict(task.executor_config or {}) == wanted


def test_an_executor_that_airflow_does_not_have_turns_one_policy_red_and_no_other(policies: PolicyFiles) -> None:
    policies.add("sales", airflow={"copies": {"executor": "NowhereExecutor"}})
    policies.add("other", airflow={"copies": {"executor": "LocalExecutor"}})
    dags = parse_dags(policies.directory)
    assert "invalid" in dags["sales.bootstrap"].tags
    assert "airflow.copies.executor" in dags["sales.bootstrap"].doc_md
    assert "NowhereExecutor" in dags["sales.bootstrap"].doc_md
    assert "invalid" not in dags["other.bootstrap"].tags


def test_a_policy_that_airflow_cannot_take_is_red_and_takes_nobody_along(
    policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(entry: PolicyEntry, *rest: Any) -> Any:
        if entry.settings is not None and entry.name == "odd":
            raise ValueError("Airflow does not like this")
        return schedule_of(entry, *rest)

    policies.add("odd")
    policies.add("sales")
    monkeypatch.setattr(dag_factory, "schedule_of", odd)
    dags = dag_factory.replication_dags(policies.directory, CHECKOUT)
    assert "Airflow does not like this" in (dags["odd.incremental"].doc_md or "")
    assert "invalid" in dags["odd.incremental"].tags
    assert {"twinhive.monitor", "sales.incremental", "sales.operate"} <= set(dags)
    assert "invalid" not in dags["sales.incremental"].tags


def test_a_run_has_as_many_tasks_at_once_as_its_copies_may_be(policies: PolicyFiles) -> None:
    policies.add("few")
    policies.add("many", options={"parallel_copies": 64})
    policies.add("said", options={"parallel_copies": 64}, airflow={"max_active_tasks": 5})
    dags = parse_dags(policies.directory)
    most = {name: dags[f"{name}.bootstrap"].max_active_tasks for name in ("few", "many", "said")}
    assert most == {"few": 16, "many": 72, "said": 5}


def test_every_dag_uses_the_files_as_they_are_now_also_from_a_versioned_bundle(policies: PolicyFiles) -> None:
    policies.add("sales")
    dags = parse_dags(policies.directory)
    assert all(dag.disable_bundle_versioning for dag in dags.values())
    assert not any(dag.catchup for dag in dags.values())


def test_the_form_for_statements_can_be_left_out(policies: PolicyFiles) -> None:
    policies.add("sales")
    dags = dag_factory.replication_dags(policies.directory, CHECKOUT, statements=False)
    assert "twinhive.sql" not in dags and "twinhive.monitor" in dags
