"""What no placement copies is not waited for, and nobody is told to have it copied by one."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.policies import PolicyFiles
from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.unit.federation.placement.test_copies import a_world
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.routed_sql import RefusedSql, RoutedSql, WaitsForCopy, routed_sql
from twinhive.runtime.wiring.routing_wiring import RoutingWiring

PLACEMENT = {"placement": "near", "database": "sales", "tables": {"include": [".*"]}, "cluster": "north"}
OF_ORDERS = "select * from there join orders on 1 = 1 where orders.day = '{}'"


class Site:
    """Two clusters of one metastore, placements, and statements that read a table of each."""

    def __init__(self, files: PolicyFiles, world: CopiesWorld) -> None:
        self.files, self.world = files, world
        (files.directory / "placements").mkdir()

    def place(self, **changes: Any) -> None:
        said = {**PLACEMENT, **changes}
        self.files.write(f"placements/{said['placement']}.yaml", said)

    def routed(self, sql: str) -> RoutedSql | WaitsForCopy | RefusedSql:
        configuration = load_configuration(self.files.directory)
        wiring = RoutingWiring(configuration, "east", resolve_from_environment)
        return routed_sql(configuration, wiring, sql, "sales", None)

    def refused(self, sql: str) -> str:
        found = self.routed(sql)
        assert isinstance(found, RefusedSql), found
        return str(found.refused.words.next_step)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    world = a_world()
    world.users.create_table("there")
    world.users.set_parameters("there", {"twinhive.cluster": "north"})
    monkeypatch.setattr(RoutingWiring, "metastore", world.metastore)
    monkeypatch.setattr(RoutingWiring, "_states", lambda _, places: world.look(places))
    files = PolicyFiles(tmp_path)
    clusters = {
        name: {
            "metastore": metastore,
            "file_system": {"connection": f"{name}_hdfs"},
            "job_tracker": {"connection": f"{name}_spark"},
        }
        for name, metastore in (
            ("east", {"connection": "east_metastore"}),
            ("north", {"of": "east"}),
            ("south", {"of": "east"}),
        )
    }
    files.write("clusters.yaml", {"clusters": clusters, "default_cluster": "east"})
    return Site(files, world)


def test_a_partition_that_is_not_among_the_newest_is_not_waited_for(site: Site) -> None:
    """Of day=1, day=3 and another text the last by their values is that text."""
    site.place(partitions={"newest": 2})
    said = site.refused(OF_ORDERS.format("1"))
    assert "placement near keeps only the newest 2 of each table (partitions.newest)" in said
    assert "near.copies" not in said
    assert isinstance(site.routed(OF_ORDERS.format("3")), WaitsForCopy)


def test_a_partition_that_no_pattern_names_is_not_waited_for(site: Site) -> None:
    site.place(partitions={"include": ["day=3"]})
    said = site.refused(OF_ORDERS.format("1"))
    assert "placement near keeps only partitions that match day=3 (partitions.include)" in said
    assert isinstance(site.routed(OF_ORDERS.format("3")), WaitsForCopy)


def test_tables_of_another_cluster_than_the_placement_copies_are_not_waited_for(site: Site) -> None:
    site.world.users.set_parameters("plain", {"twinhive.cluster": "south"})
    site.place()
    said = site.refused("select * from there join plain on 1 = 1")
    assert "placement near keeps only copies of tables that belong to east (primary)" in said
    site.place(placement="south", primary="south")
    assert isinstance(site.routed("select * from there join plain on 1 = 1"), WaitsForCopy)


@pytest.mark.parametrize("places", [False, True])
def test_of_a_kind_that_has_no_copies_none_is_waited_for_or_asked_for(site: Site, places: bool) -> None:
    site.world.users.create_table("acid")
    site.world.users.set_parameters("acid", {"transactional": "true"})
    site.place(**({} if places else {"database": "other"}))
    said = site.refused("select * from there join acid on 1 = 1")
    assert "of sales.acid no copy can be made (a transactional is not copied)" in said
    assert "run it there" in said and ".copies" not in said


def test_a_placement_that_makes_it_counts_before_one_that_does_not(site: Site) -> None:
    site.place(partitions={"newest": 1})
    site.place(placement="nearer")
    found = site.routed(OF_ORDERS.format("1"))
    assert isinstance(found, WaitsForCopy)
    assert "trigger the DAG nearer.copies" in str(found.refused.words.next_step)


def test_a_placement_whose_file_cannot_be_used_copies_nothing(site: Site) -> None:
    site.place(primary="nowhere")
    assert "placement near keeps nothing, as its file cannot be used" in site.refused(OF_ORDERS.format("1"))


@pytest.mark.parametrize("partitions", [{}, {"newest": 1}, {"newest": 2}, {"include": ["day=[13]"]}])
def test_what_is_waited_for_is_what_a_run_copies(site: Site, partitions: dict[str, Any]) -> None:
    site.place(partitions=partitions)
    found = [site.routed(OF_ORDERS.format(day)) for day in ("1", "3", "a b/c:ü")]
    copies = {"partitions": tuple(partitions.get("include", (".*",))), "newest": partitions.get("newest")}
    site.world.change(copies=a_placement(copies=copies).copies)
    site.world.settle()
    after = [site.routed(OF_ORDERS.format(day)) for day in ("1", "3", "a b/c:ü")]
    assert [isinstance(one, WaitsForCopy) for one in found] == [isinstance(one, RoutedSql) for one in after]
    assert any(isinstance(one, RoutedSql) for one in after)
