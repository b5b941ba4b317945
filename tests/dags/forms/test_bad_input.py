"""What a trigger form, a connection of Airflow or a sensor gets wrong is one error, and changes nothing.

The rules of forms are read from their fields; the places that refuse from the code. See tests/unit/test_bad_input.py.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.bad_input.sites import made_errors, reached, sites
from tests.dags.airflow_home import create_database, parse_dags
from tests.dags.task_context import a_context
from tests.dags.tasks.test_sealed_connections import Sealed
from tests.support.policies import PolicyFiles
from tests.support.worlds.fake_world import World
from twinhive.core.model.errors import InvalidSettings
from twinhive.operations.operation_kinds import KINDS
from twinhive.runtime.pipeline.phases import PHASES
from twinhive.runtime.pipeline.switches import FAILBACK, FAILOVER
from twinhive.runtime.settings import Configuration, PolicyEntry, PolicySettings
from twinhive.surfaces.airflow.config_directory import config_directory
from twinhive.surfaces.airflow.connections.airflow_connections import as_airflow_has_it
from twinhive.surfaces.airflow.connections.journal_connection import journal_of
from twinhive.surfaces.airflow.connections.spark_connection import spark_cluster
from twinhive.surfaces.airflow.connections.terminal_connections import resolve_through_airflow
from twinhive.surfaces.airflow.connections.terminal_pools import missing_pools
from twinhive.surfaces.airflow.dags.operate_dag import FORMS
from twinhive.surfaces.airflow.dags.task_resources import refuse_unknown_executors
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct
from twinhive.surfaces.airflow.operators.set_operators import SetPlace
from twinhive.surfaces.airflow.sensors.event_id_sensor import ReplicatedEventIdSensor
from twinhive.surfaces.airflow.sensors.external_sensor import ExternalTablesInSync
from twinhive.surfaces.airflow.sensors.set_sensor import SetDoneSensor

SEEN: set[tuple[str, int]] = set()
NO_RULES = {"title", "description", "section", "default", "const", "value"}
_OF_ANOTHER_TYPE = {"integer": "many", "string": 7, "boolean": "perhaps"}
_BREAKS: dict[str, Callable[[Any], Any]] = {
    "type": lambda said: _OF_ANOTHER_TYPE[
        said if isinstance(said, str) else next(one for one in said if one != "null")
    ],
    "minimum": lambda said: said - 1,
    "maximum": lambda said: said + 1,
    "enum": lambda said: "nonsense",
}


def form_cases(parsed: dict[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    """Yield phase, field, rule and a value that breaks it, for every rule of every form."""
    for phase, dag in parsed.items():
        for name in dag.params:
            schema = dag.params.get_param(name).schema
            for rule in sorted(schema.keys() - NO_RULES):
                yield phase, name, rule, _BREAKS[rule](schema[rule])


@pytest.fixture
def parsed(policies: PolicyFiles) -> dict[str, Any]:
    """The DAGs of one policy, by phase."""
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    found = parse_dags(policies.directory).items()
    return {dag_id.removeprefix("sales."): dag for dag_id, dag in found if dag_id.startswith("sales.")}


def state(world: World) -> tuple[Any, ...]:
    return (
        world.source_files.paths(),
        world.replica_files.paths(),
        world.source.current_event_id(),
        world.replica.current_event_id(),
    )


def refused(dag: Any, form: dict[str, Any]) -> str:
    """Run the first task of a DAG with a form; return the error, which says everything."""
    [first] = [task for task in dag.tasks if not task.upstream_task_ids]
    with made_errors() as seen, pytest.raises(PersonMustAct) as caught:
        first.execute(a_context(dag, first.task_id, **form))
    SEEN.update(seen)
    error = caught.value.error
    assert error.found is not None and error.expected is not None and error.next_step, str(error)
    return str(error)


def test_each_rule_of_each_form_refuses_what_breaks_it(parsed: dict[str, Any], world: World) -> None:
    before = state(world)
    cases = list(form_cases(parsed))
    assert {phase for phase, *_ in cases} == {*PHASES, *FORMS, FAILOVER, FAILBACK} and len(cases) > 20
    for phase, name, rule, value in cases:
        said = refused(parsed[phase], {name: value})
        assert f"sales.{phase}" in said and name in said and repr(value) in said, (phase, name, rule)
    assert state(world) == before


def test_each_form_refuses_a_key_that_it_does_not_have(parsed: dict[str, Any], world: World) -> None:
    before = state(world)
    for phase, dag in parsed.items():
        said = refused(dag, {"colour": "red"})
        assert f"the trigger form of sales.{phase} holds unknown keys" in said and "colour" in said
    assert state(world) == before


@pytest.mark.parametrize("name", [kind.name for kind in KINDS.values()])
def test_each_operation_refuses_fields_that_it_lacks_or_does_not_have(
    parsed: dict[str, Any], world: World, name: str
) -> None:
    kind = KINDS[name]
    form = "give_up" if kind.gives_up else "operate"
    fields = {"table": "plain", "event_id": 9, "reason": "why"}
    others = (fields.keys() & set(parsed[form].params)) - set(kind.needs)
    wrong = {field: fields[field] for field in kind.needs} | {field: fields[field] for field in list(others)[:1]}
    if others:
        assert f"cannot be used for the operation {name}" in refused(parsed[form], {"operation": name, **wrong})
    if kind.needs:
        assert f"cannot be used for the operation {name}" in refused(parsed[form], {"operation": name})


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({}, "operation: nothing chosen"),
        ({"operation": "unlock", "dry_run": False, "confirm": "other"}, "wants the policy's name"),
    ],
)
def test_what_gives_something_up_is_chosen_and_confirmed(
    parsed: dict[str, Any], world: World, form: dict[str, Any], says: str
) -> None:
    before = state(world)
    assert says in refused(parsed["give_up"], form)
    assert state(world) == before


def unknown_executor() -> object:
    said = {"policy": "sales", "airflow": {"copies": {"executor": "NowhereExecutor"}}}
    said |= {side: {"cluster": side, "database": "sales"} for side in ("source", "replica")}
    entry = PolicyEntry("sales", Path("sales.yaml"), PolicySettings.model_validate(said))
    return refuse_unknown_executors(entry)


def unknown_pool() -> object:
    create_database()
    said = {"policy": "sales", "airflow": {"copies": {"pool": "nightly"}}}
    said |= {side: {"cluster": side, "database": "sales"} for side in ("source", "replica")}
    for error in missing_pools("sales", PolicySettings.model_validate(said)):
        raise error
    return None


class OfASensor:
    """Ask sensors what their arguments mean."""

    @staticmethod
    def event_id() -> object:
        return ReplicatedEventIdSensor(task_id="wait", policy="sales", event_id="newest")._given()

    @staticmethod
    def since() -> object:
        context = {"ti": None, "now": datetime.now(UTC)}
        return ExternalTablesInSync(task_id="wait", policy="sales", since="yesterday")._since(context)

    @staticmethod
    def since_a_mark() -> object:
        return SetDoneSensor(task_id="done", table="a.b", set={}, cluster="east", since="yesterday")._since()

    @staticmethod
    def no_cluster() -> object:
        return SetPlace.of(Configuration({}, {}), "north", None, "sales.orders")

    @staticmethod
    def no_table() -> object:
        clusters: Any = {"east": None}
        return SetPlace.of(Configuration(clusters, {}), "east", None, "orders")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (OfASensor.event_id, "event_id of wait is no event id"),
        (OfASensor.since, "since of wait is no time"),
        (OfASensor.since_a_mark, "since of done is no time"),
        (OfASensor.no_cluster, "there is no cluster north"),
        (OfASensor.no_table, "'orders' is no table"),
        (lambda: config_directory("/nowhere"), "the configuration of Twinhive is not found"),
        (unknown_executor, "airflow.copies.executor is none that Airflow has"),
        (lambda: journal_of("in_cluster_mode"), "the journal cannot be opened"),
        (unknown_pool, "names a pool that Airflow does not have: nightly"),
        (lambda: as_airflow_has_it("east", Sealed("password")), "connection east cannot be read"),
        (lambda: resolve_through_airflow("nowhere"), "connection nowhere is not known to Airflow"),
        (lambda: spark_cluster("in_cluster_mode", 1, {}), "connection in_cluster_mode cannot be used for copies"),
    ],
)
def test_what_sensors_and_connections_get_wrong_says_everything(
    monkeypatch: pytest.MonkeyPatch, call: Callable[[], object], says: str
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_IN_CLUSTER_MODE", "spark://m1:7077?deploy-mode=cluster")
    with made_errors() as seen, pytest.raises(InvalidSettings, match=says) as caught:
        call()
    SEEN.update(seen)
    assert all(part in str(caught.value) for part in ("found:", "expected:", "next:"))


def test_every_place_of_the_edge_that_refuses_input_has_a_case() -> None:
    """Runs after the cases: it looks at what they have reached."""
    if len(SEEN) < 4:
        pytest.skip("the cases have not run")
    missing = [str(site) for site in sites("surfaces/airflow") if not reached(site, SEEN)]
    assert not missing, "\n".join(["no case reaches:", *missing])
    assert {str(site): site.lacks for site in sites("surfaces/airflow") if site.lacks} == {}


def test_every_field_of_a_form_is_explained_in_the_documentation(parsed: dict[str, Any]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")
    section = page.partition("### The trigger form")[2].partition("\n## ")[0]
    assert {name for dag in parsed.values() for name in dag.params if f"`{name}`" not in section} == set()
