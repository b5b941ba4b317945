"""What people type about clusters of one metastore, and copies."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.policy_terminal import Terminal, a_terminal
from tests.support.worlds.copies_world import contents
from twinhive.runtime.wiring import job_users
from twinhive.runtime.wiring.cluster_wiring import ClustersWiring
from twinhive.runtime.wiring.policy_wiring import Wiring


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal with a placement of `sales` on north, whose file system is that of west in memory."""
    terminal = a_terminal(tmp_path, monkeypatch)
    policies, world = terminal.policies, terminal.world
    clusters = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    west = clusters["clusters"]["west"]
    jobs = {**west["job_tracker"], "user": "etl"}
    clusters["clusters"]["north"] = {**west, "metastore": {"of": "east"}, "job_tracker": jobs}
    policies.write("clusters.yaml", clusters)
    (policies.directory / "placements").mkdir()
    document = {"placement": "near", "database": "sales", "cluster": "north", "options": {"grace_seconds": 0}}
    policies.write("placements/near.yaml", document)
    ports = replace(world.ports(), replica=world.source, dump_files=world.replica_files)
    monkeypatch.setattr(Wiring, "write_ports", lambda wiring: ports)
    metastores = {"east": world.source, "west": world.replica}
    monkeypatch.setattr(ClustersWiring, "metastore", lambda wiring, cluster: metastores[cluster])
    monkeypatch.setattr(job_users, "open_files", lambda side: world.replica_files)
    return terminal


def test_copies_are_planned_made_and_listed(placed: Terminal) -> None:
    assert "copy objects: 6" in placed.type("plan", "near", "copies")
    assert "6 copies are marked" in placed.type("run", "near", "copies")
    said = placed.type("copies")
    assert "sales.orders" in said and "a view is not copied" in said
    placed.users.insert("plain", None, {"more": b"more"})
    (told,) = placed.document("copies", "near")["placements"]
    assert (told["fresh"], told["stale"], told["missing"]) == (5, 1, 1)
    (stale,) = (one["stale"] for table in told["tables"] for one in table["copies"] if one["stale"])
    assert stale.startswith("since event ")
    assert "1 copies are marked" in placed.type("run", "near", "copies")
    assert "every copy is there and fresh" in placed.type("run", "near", "copies")


def test_a_placement_is_checked_unlocked_and_retired(placed: Terminal) -> None:
    assert "2 policies and placements can be used" in placed.type("check")
    placed.type("run", "near", "copies")
    assert "nobody holds the lease" in placed.type("unlock", "near")
    assert "would be taken away" in placed.type("retire", "near", "--dry-run")
    assert "are taken away" in placed.type("retire", "near")
    assert placed.document("copies", "near")["placements"][0]["fresh"] == 0


def test_what_a_user_has_copied_is_taken_over(placed: Terminal) -> None:
    theirs = "hdfs://west/user/ann/plain"
    original = placed.users.table("plain").location
    for relative, content in contents(placed.world.source_files, original).items():
        placed.world.replica_files.write(f"{theirs}/{relative}", content)
    assert "sales.plain would be taken over" in placed.type("take-copies", "near", "plain", theirs, "--dry-run")
    said = placed.type("take-copies", "near", "plain", theirs)
    assert "sales.plain is taken over" in said and "twinhive run near copies" in said
    assert placed.document("take-copies", "near", "Orders", theirs)["table"] == "sales.orders"
    placed.type("run", "near", "copies")
    placed.type("take-copies", "near", "plain", theirs, code=4)


def test_a_users_copy_may_be_named_by_another_name_of_the_file_system(placed: Terminal) -> None:
    clusters = yaml.safe_load((placed.policies.directory / "clusters.yaml").read_text())
    clusters["clusters"]["north"]["file_system"]["also"] = ["hdfs://nn1.west"]
    placed.policies.write("clusters.yaml", clusters)
    for relative, content in contents(placed.world.source_files, placed.users.table("plain").location).items():
        placed.world.replica_files.write(f"hdfs://west/user/ann/plain/{relative}", content)
    said = placed.type("take-copies", "near", "plain", "hdfs://nn1.west:8020/user/ann/plain", "--dry-run")
    assert "sales.plain would be taken over" in said


@pytest.mark.parametrize("words", [("forget", "near"), ("status", "near"), ("resync", "near", "plain")])
def test_what_is_about_policies_refuses_placements(placed: Terminal, words: tuple[str, ...]) -> None:
    assert "near" in placed.type(*words, code=4)


def test_clusters_are_listed_and_checked(placed: Terminal) -> None:
    said = placed.type("clusters")
    assert "that of east" in said
    rows = {row["cluster"]: row for row in placed.document("clusters")["clusters"]}
    assert (rows["north"]["metastore_of"], rows["north"]["is_default"], rows["east"]["is_default"]) == (
        "east",
        False,
        True,
    )
    assert "east: everything fits" in placed.type("clusters", "check")
    placed.users.set_parameters("plain", {"twinhive.cluster": "south"})
    assert "it belongs to south" in placed.type("clusters", "check", code=4)
    assert placed.document("clusters", "check", code=4)["misfits"]["east"][0]["what"] == "sales.plain"
    assert json.dumps(placed.document("clusters"))
    placed.type("clusters", "chekc", code=2)


@pytest.mark.parametrize(
    ("user", "says"),
    [
        (None, "is not set: statements there have to name their user, as anna owns copies"),
        ("anna", "is anna, who owns the copies of near: jobs may write into them"),
        ("hive", "is hive, a superuser of hdfs://west: no right keeps jobs from writing copies"),
    ],
)
def test_jobs_that_may_write_into_copies_are_told(placed: Terminal, user: str | None, says: str) -> None:
    path = placed.policies.directory / "clusters.yaml"
    clusters = yaml.safe_load(path.read_text())
    clusters["clusters"]["north"]["file_system"]["user"] = "anna"
    clusters["clusters"]["north"]["job_tracker"]["user"] = user
    placed.policies.write("clusters.yaml", clusters)
    assert f"clusters.north.job_tracker.user: {says}" in placed.type("clusters", "check", code=4)
