"""The DAG of a placement: list, copy, publish, by the same factory as those of policies."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.dags.airflow_home import parse_dags
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from tests.support.worlds.kept_marks import mark_on
from twinhive.core.model.errors import Refused
from twinhive.core.ports import WritePorts
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.operations.journal.records import RecordedCopies
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.dags.schedule import Crowd, schedule_of
from twinhive.surfaces.airflow.monitor.task_failures import RETRIES

COPIED = {"list_copies": "success", "copy": "skipped", "publish": "success"}
IDLE = {"list_copies": "success", "copy": "skipped", "publish": "skipped"}


@pytest.fixture
def placement(policies: PolicyFiles) -> PolicyFiles:
    """A configuration with a placement: copies on north, which shares the metastore of east."""
    clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    clusters["clusters"]["north"] = {**clusters["clusters"]["west"], "metastore": {"of": "east"}}
    policies.write("clusters.yaml", clusters)
    (policies.directory / "placements").mkdir()
    document = {"placement": "near", "database": "sales", "cluster": "north", "options": {"parallel_copies": 3}}
    policies.write("placements/near.yaml", document)
    return policies


def test_a_placement_has_one_dag_whose_copies_are_mapped(placement: PolicyFiles) -> None:
    dags = parse_dags(placement.directory)
    assert [name for name in dags if name.startswith("near.")] == ["near.copies"]
    dag = dags["near.copies"]
    assert {task.task_id: set(task.upstream_task_ids) for task in dag.tasks} == {
        "list_copies": set(),
        "copy": {"list_copies"},
        "publish": {"copy"},
    }
    assert not dag.is_paused_upon_creation
    copy = dag.get_task("copy")
    assert copy.is_mapped
    assert (copy.partial_kwargs["conn_id"], copy.partial_kwargs["max_active_tis_per_dagrun"]) == ("west_spark", 3)


def test_it_starts_when_the_log_of_the_metastore_names_the_database(placement: PolicyFiles) -> None:
    configuration = load_configuration(placement.directory)
    entry = configuration.placements["near"].as_policy()
    said = schedule_of(entry, "copies", configuration.clusters, Crowd())
    (watcher,) = said.asset_condition.objects[0].watchers
    assert '"connection":"east_metastore"' in str(
        watcher.trigger.kwargs if hasattr(watcher.trigger, "kwargs") else vars(watcher.trigger)
    )


def test_one_that_cannot_be_used_is_red_and_says_why(placement: PolicyFiles) -> None:
    placement.write("placements/near.yaml", {"placement": "near", "database": "sales", "cluster": "nowhere"})
    dag = parse_dags(placement.directory)["near.copies"]
    assert "invalid" in dag.tags
    assert "cluster: found 'nowhere'" in dag.doc_md


def test_a_run_copies_and_marks_and_the_next_one_has_nothing_to_do(
    placement: PolicyFiles, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = replace(world.ports(), replica=world.source, dump_files=world.replica_files)
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: ports)
    monkeypatch.setitem(RETRIES, "retries", 0)
    monkeypatch.setenv("TWINHIVE_CONFIG", str(placement.directory))
    dag = parse_dags(placement.directory)["near.copies"]
    assert run(dag) == COPIED
    mark = mark_on(world.source, SourceWriter(world.source, world.source_files, "sales").table("plain"), "north")
    assert mark is not None
    assert world.replica_files.read(f"{mark.location}/data") == b"plain"
    [seen] = [one for one in copies_recorded() if one.table == "sales.plain"]
    assert (seen.fresh, seen.stale, seen.missing, seen.source, seen.cluster) == (1, 0, 0, "east", "north")
    assert (seen.bytes, mark.location.startswith(f"{seen.place}/")) == (5, True)
    assert run(dag) == IDLE
    [later] = [one for one in copies_recorded() if one.table == "sales.plain"]
    assert later.at > seen.at
    assert replace(later, at=seen.at) == seen
    SourceWriter(world.source, world.source_files, "sales").insert("plain", None, [b"more"])
    with monkeypatch.context() as patch:
        patch.setattr(PublishCopies, "run", refused)
        assert dag.test().state == "failed"
    [stale] = [one for one in copies_recorded() if one.table == "sales.plain"]
    assert (stale.fresh, stale.missing) == (0, 1)
    assert run(dag) == COPIED
    assert run(dag, conf={"dry_run": True}) == {**IDLE}


def refused(step: PublishCopies, ports: WritePorts) -> None:
    raise Refused("not today")


def copies_recorded() -> list[RecordedCopies]:
    return open_reader().copies(["near"])


def run(dag: Any, conf: Any = None) -> dict[str, str]:
    """Run a DAG and return the states of its tasks."""
    result = dag.test(run_conf=conf)
    assert result.state == "success"
    return {instance.task_id: str(instance.state) for instance in result.get_task_instances()}
