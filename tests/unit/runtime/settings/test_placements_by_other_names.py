"""Placements, routing, ports and moves know other names of the clusters' file systems, as policies do."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.policies import PolicyFiles
from tests.support.worlds.copies_world import CopiesWorld, contents
from tests.support.worlds.kept_marks import kept_marks
from tests.support.worlds.old_names import NAMENODE, call_by_namenode
from twinhive.core.model.endpoints import FileSystemEndpoint, MetastoreEndpoint
from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import KeptMark, object_name
from twinhive.core.ports import WritePorts
from twinhive.federation.cluster_view.cluster_port import ClusterPort
from twinhive.federation.cluster_view.visibility_rules import ABSENT
from twinhive.federation.placement.cluster_check import misfits
from twinhive.federation.placement.copies_status import copies_of, totals
from twinhive.federation.placement.move_primary import MovePrimary
from twinhive.federation.placement.users_copies import TakeCopies
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring import cluster_wiring, policy_wiring, routing_wiring
from twinhive.runtime.wiring.cluster_port_wiring import sight_of
from twinhive.runtime.wiring.cluster_wiring import ClustersWiring
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.runtime.wiring.routing_wiring import RoutingWiring
from twinhive.runtime.wiring.table_move import MoveWiring

NORTH = "hdfs://nn1.north:8020"
ORDERS, PLAIN = TableName("sales", "orders"), TableName("sales", "plain")
HA = {
    "dfs.nameservices": "{name}",
    "dfs.ha.namenodes.{name}": "nn1",
    "dfs.namenode.rpc-address.{name}.nn1": "nn1.{name}:8020",
}


class Placed:
    """Be a metastore whose locations name NameNodes, clusters east and north that know these, and a placement."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.world = world = CopiesWorld()
        world.users.create_table("plain", files={"f": b"plain", "sub/g": b"below"})
        world.users.create_table("orders", ("day",))
        world.users.add_partitions("orders", {("1",): {"a": b"one"}, ("2",): {"b": b"two"}})
        world.users.files = call_by_namenode(world.metastore, world.files)
        policies = PolicyFiles(directory / "config")
        clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())["clusters"]
        clusters["north"] = {**clusters.pop("west"), "metastore": {"of": "east"}}
        clusters["north"]["file_system"] = {"connection": "north_hdfs"}
        policies.write("clusters.yaml", {"clusters": clusters})
        (policies.directory / "placements").mkdir()
        # The root by another name, too.
        near = {"placement": "near", "database": "sales", "cluster": "north", "root": f"{NORTH}/kept/copies"}
        policies.write("placements/near.yaml", {**near, "options": {"grace_seconds": 0}})
        for name in ("east", "north"):
            hadoop = {key.format(name=name): value.format(name=name) for key, value in HA.items()}
            extra = {"uri": f"hdfs://{name}", "hadoop": hadoop}
            patch.setenv(f"AIRFLOW_CONN_{name.upper()}_HDFS", json.dumps({"conn_type": "hdfs", "extra": extra}))
        patch.setenv("AIRFLOW_CONN_EAST_METASTORE", json.dumps({"host": "east-metastore", "port": 9083}))
        for module in (policy_wiring, routing_wiring):
            patch.setattr(module, "files", self._files)
        for module in (policy_wiring, cluster_wiring):
            patch.setattr(module, "metastore", self._metastore)
        patch.setattr(policy_wiring, "lease_keeper", lambda endpoint, settle_seconds: world.lease)
        self.configuration = load_configuration(policies.directory)
        self.wiring = Wiring.of(self.configuration, "near", resolve_from_environment)
        self.routing = RoutingWiring(self.configuration, "east", resolve_from_environment)
        self.routing.__dict__["metastore"] = world.metastore

    def _files(self, endpoint: FileSystemEndpoint) -> Any:
        return {"hdfs://east": self.world.files, "hdfs://north": self.world.north}[endpoint.root]

    def _metastore(self, endpoint: MetastoreEndpoint) -> Any:
        return self.world.metastore

    @property
    def ports(self) -> WritePorts:
        """The placement's."""
        return self.wiring.write_ports()

    def run(self) -> dict[str, Any]:
        """Bring the copies up to date, once."""
        return run_phase(COPIES, self.wiring.policy, self.ports, {"run": "r"}, lambda line: None)

    def marks(self) -> list[KeptMark]:
        """Return all marks of copies."""
        return kept_marks(self.world.metastore, cluster="north")

    def stale(self, table: str, values: tuple[str, ...] | None, place: str) -> dict[Any, str]:
        """Return why a router does not believe the copy of an object that lies at a place."""
        [mark] = [one.mark for one in self.marks() if (one.table, one.object) == (table, object_name(values))]
        assert mark is not None
        return self.routing.freshness().stale(TableName("sales", table), {values: mark}, {values: place})


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Placed:
    return Placed(tmp_path, monkeypatch)


def test_everything_gets_a_copy_and_a_router_believes_it(placed: Placed) -> None:
    world = placed.world
    before = world.users.table("plain"), world.users.partition("orders", ("1",))
    assert str(before[0].location).startswith(f"{NAMENODE}/")
    assert placed.run()["publish"].published == 3
    assert (world.users.table("plain"), world.users.partition("orders", ("1",))) == before
    assert all(one.mark and one.mark.location.startswith("hdfs://north/kept/copies/near/") for one in placed.marks())
    assert totals(list(copies_of(placed.ports, placed.wiring.policy))) == (3, 0, 0)
    assert placed.run()["list_copies"].idle
    orders, plain = world.users.location("orders", ("1",)), world.users.location("plain")
    assert placed.stale("orders", ("1",), orders) == placed.stale("plain", None, plain) == {}
    world.users.files.write(f"{orders}/late", b"late")
    assert "without an event" in placed.stale("orders", ("1",), orders)[("1",)]
    assert placed.run()["publish"].published == 1


def test_each_cluster_sees_its_own_places(placed: Placed) -> None:
    world = placed.world
    placed.run()
    north = sight_of(placed.configuration, placed.routing, "north")
    east = sight_of(placed.configuration, placed.routing, "east")
    plain = world.users.location("plain")
    assert east.is_here(plain) and not north.is_here(plain)
    assert north.other(plain) == "east" and north.absent(plain, "east").startswith(ABSENT)
    assert north.is_here(f"{NORTH}/home") and north.copied(f"{NORTH}/kept/copies/near/plain")
    assert north.unfit_here(f"{NORTH}/home/t") is None
    assert north.root_of_new_tables({"twinhive.root.north": f"{NORTH}/home"}) == f"{NORTH}/home"
    assert ClusterPort(world.metastore, north, placed.routing.freshness).sight.names


@pytest.mark.parametrize("name", [PLAIN, ORDERS], ids=str)
def test_a_table_moves_with_all_its_places(placed: Placed, name: TableName) -> None:
    world = placed.world
    placed.run()
    move = MoveWiring.of(placed.configuration, resolve_from_environment, str(name), "north", f"{NORTH}/home/sales.db")
    MovePrimary(move.policy, name, {"run": "move"}).run(move.write_ports())
    table = world.metastore.table(name)
    assert table is not None and str(table.location).startswith("hdfs://north/")
    assert table.parameters["twinhive.cluster"] == "north"
    if name == PLAIN:
        assert contents(world.north, str(table.location)) == {"f": b"plain", "sub/g": b"below"}
        assert str(table.location).startswith("hdfs://north/kept/copies/near/"), "the copy that was there"
    else:
        places = [world.users.location("orders", (day,)) for day in ("1", "2")]
        assert [contents(world.north, place) for place in places] == [{"a": b"one"}, {"b": b"two"}]


def test_a_copy_that_its_table_names_by_another_name_is_not_swept(placed: Placed) -> None:
    placed.run()
    [copy] = [one.mark.location for one in placed.marks() if one.mark and one.table == "plain"]
    placed.world.users.set_location("plain", copy.replace("hdfs://north", NORTH))
    for _ in range(3):
        placed.run()
    assert "plain" not in {one.table for one in placed.marks()}
    assert contents(placed.world.north, copy) == {"f": b"plain", "sub/g": b"below"}


def test_the_check_of_clusters_finds_nothing_odd(placed: Placed) -> None:
    world = placed.world
    placed.run()
    clusters = ClustersWiring(placed.configuration, resolve_from_environment)
    known = {name: clusters.file_system(name) for name in ("east", "north")}
    world.users.alter_database_parameters({"twinhive.root.north": f"{NORTH}/home"})
    assert list(misfits(world.metastore, known, "east")) == []
    only = {name: OneFileSystem(f"hdfs://{name}", ()) for name in known}
    assert len(list(misfits(world.metastore, only, "east"))) == 6


def test_a_directory_of_a_table_is_no_copy_that_a_user_has_made(placed: Placed) -> None:
    world = placed.world
    world.north.write("hdfs://north/user/ann/plain/f", b"plain")
    world.users.create_table("theirs", location=f"{NORTH}/user/ann/plain")
    taking = TakeCopies(placed.wiring.policy, PLAIN, "hdfs://north/user/ann/plain")
    with pytest.raises(Exception, match="no copy that a user has made"):
        taking.plan(placed.ports)
