"""The base directory is checked before anything is written below it, and one error says all that is wrong."""

import json
from dataclasses import replace

import pytest

from tests.support.worlds.external_world import BASE, ExternalWorld, a_world_with_files
from twinhive.core.model.errors import ActNow, Foreign, Refused
from twinhive.core.model.marks import EXTERNAL_BASE
from twinhive.core.model.objects import Database, Table
from twinhive.replication.external_tables.check_base import base_problems, claim_base, external_tables, release_base

CLAIM = ".twinhive-external.json"


def found_in(world: ExternalWorld) -> tuple[Table, ...]:
    """Return the external tables that the policy's scope has at the source."""
    return external_tables(world.ports(), world.policy)


def test_a_good_base_directory_is_claimed_and_each_check_is_a_line() -> None:
    world = ExternalWorld()
    checked = world.check()
    assert (checked.tables, checked.base_directory) == (1, BASE)
    claim = json.loads(world.world.replica_files.read(f"{BASE}/{CLAIM}"))
    assert claim == {"policy": "sales", "source": "east/sales", "replica": "west/sales", "source_log": "log-east"}
    assert all(line.startswith("ok ") for line in world.log[1:])
    assert len(world.log) > 5
    world.check()
    assert list(base_problems(world.ports(), world.policy, found_in(world))) == []


@pytest.mark.parametrize(
    ("external", "why"),
    [
        ({"included": False, "base_directory": None}, "leaves external tables out"),
        ({"data": "metadata_only"}, "metadata only"),
        ({"stay": ("hdfs://east/data/.*",), "base_directory": None}, "stays where it is"),
    ],
)
def test_a_policy_that_copies_no_data_passes_with_a_line(external: dict, why: str) -> None:
    world = ExternalWorld(**external)
    assert why in world.check().nothing
    assert any(why in line for line in world.log)
    assert list(base_problems(world.ports(), world.policy, found_in(world))) == []
    claim_base(world.ports(), world.policy, found_in(world))
    assert world.world.replica_files.paths() == []


def test_no_external_tables() -> None:
    world = ExternalWorld(base_directory=None)
    world.world.source.drop_table(world.events.name, delete_data=False)
    assert "no external tables" in world.check().nothing


def refused(world: ExternalWorld) -> str:
    """Return the error of the gate, which has changed nothing."""
    before = dict(world.world.replica_files._nodes)
    with pytest.raises(ActNow) as error:
        world.check()
    assert world.world.replica_files._nodes.keys() == before.keys()
    problems = list(base_problems(world.ports(), world.policy, found_in(world)))
    assert all(problem.words.what in str(error.value) for problem in problems)
    assert any(line.startswith("FAIL ") for line in world.log)
    return str(error.value)


@pytest.mark.parametrize(
    ("base", "says"),
    [
        (None, "no external_tables.base_directory"),
        ("/ext", "not fully qualified"),
        ("hdfs:///ext", "not fully qualified"),
        ("hdfs://west", "not fully qualified"),
        ("west/ext", "not fully qualified"),
        ("hdfs://west/ext/../warehouse", "not fully qualified"),
        ("hdfs://west//ext", "not fully qualified"),
        ("hdfs://east/ext", "on the source's file system"),
        ("s3a://lake/ext", "on a file system of neither cluster"),
        ("hdfs://west/warehouse/managed", "the replica's managed warehouse"),
        ("hdfs://west/warehouse/managed/ext", "the replica's managed warehouse"),
        ("hdfs://west/warehouse", "the replica's managed warehouse"),
        ("hdfs://west/twinhive/staging/x", "staging_root"),
        ("hdfs://west/twinhive", "staging_root"),
    ],
)
def test_a_base_directory_that_cannot_be_used(base: str | None, says: str) -> None:
    world = ExternalWorld(base_directory=base)
    error = refused(world)
    assert says in error
    assert "next:" in error


def test_dumps_on_the_replica_are_kept_apart_as_well() -> None:
    world = ExternalWorld(base_directory="hdfs://west/dumps/ext")
    world.policy = replace(world.policy, dump_root="hdfs://west/dumps")
    assert "dump_root" in refused(world)


def test_the_managed_location_of_the_replicas_database_is_kept_apart() -> None:
    world = ExternalWorld(base_directory="hdfs://west/managed/here", follows=False)
    world.world.replica.create_database(Database("sales", None, "hdfs://west/managed/here/sales.db", {}, "{}"))
    assert "managed tables of the replica database sales" in refused(world)


def test_a_file_in_its_place() -> None:
    world = ExternalWorld()
    world.world.replica_files.put(BASE)
    assert "is a file" in refused(world)


def test_the_root_keeps_paths_and_each_of_them_has_to_be_apart_from_the_warehouse() -> None:
    world = ExternalWorld(base_directory="hdfs://west/")
    world.check()
    assert f"hdfs://west/{CLAIM}" in world.world.replica_files.paths()
    world.add_table("inside", "hdfs://east/warehouse/managed/x")
    world.add_table("around", "hdfs://east/twinhive")
    error = refused(world)
    assert "sales.inside" in error
    assert "sales.around" in error
    assert "sales.events" not in error


@pytest.mark.parametrize("theirs", [BASE, f"{BASE}/inner", "hdfs://west"])
def test_a_claim_of_another_policy_at_the_base_or_around_it(theirs: str) -> None:
    world = ExternalWorld(base_directory=f"{BASE}/inner")
    claim = {"policy": "other", "source": "east/other", "replica": "west/other", "source_log": "log-east"}
    world.world.replica_files.put(f"{theirs}/{CLAIM}", json.dumps(claim).encode())
    assert "policy other (east/other into west/other)" in refused(world)
    with pytest.raises(Foreign):
        another = replace(world.policy, external=replace(world.policy.external, base_directory=theirs))
        claim_base(world.ports(), another, found_in(world))


@pytest.mark.parametrize("theirs", [BASE, f"{BASE}/inner", "hdfs://west/", "hdfs://west"])
def test_the_base_directory_of_another_replica_in_it_or_around_it(theirs: str) -> None:
    world = ExternalWorld()
    world.world.replica.create_database(Database("other", None, None, {EXTERNAL_BASE: theirs}, "{}"))
    assert "the replica database other" in refused(world)


@pytest.mark.parametrize("theirs", ["-", f"{BASE}2", "hdfs://elsewhere/ext"])
def test_another_replica_with_another_base_directory_is_none_of_ours(theirs: str) -> None:
    world = ExternalWorld()
    world.world.replica.create_database(Database("other", None, None, {EXTERNAL_BASE: theirs}, "{}"))
    world.check()


def test_a_policy_of_the_same_name_for_another_replica_is_another_policy() -> None:
    world = ExternalWorld()
    world.check()
    world.policy = replace(world.policy, replica=replace(world.policy.replica, cluster="north"))
    assert "east/sales into west/sales" in refused(world)


def test_a_claim_that_says_nothing_is_refused() -> None:
    world = ExternalWorld()
    world.world.replica_files.put(f"{BASE}/{CLAIM}", b"half of")
    assert "does not say which policy" in refused(world)


def test_two_problems_are_one_error() -> None:
    world = ExternalWorld(base_directory="hdfs://west/warehouse/managed/x")
    world.world.replica.create_database(Database("other", None, None, {EXTERNAL_BASE: "hdfs://west/warehouse"}, "{}"))
    error = refused(world)
    assert "1. " in error
    assert "2. " in error


def test_a_base_directory_that_cannot_be_written() -> None:
    world = ExternalWorld()
    files = world.world.replica_files

    def closed(path: str) -> None:
        raise Refused(f"{path}: permission denied")

    files.make_directories = closed  # type: ignore[method-assign]
    with pytest.raises(Refused, match="cannot be written"):
        world.check()


def test_only_our_own_claim_is_released() -> None:
    world = ExternalWorld()
    assert not release_base(world.ports(), world.policy)
    world.check()
    other = replace(world.policy, name="other")
    assert not release_base(world.ports(), other)
    assert release_base(world.ports(), world.policy)
    assert f"{BASE}/{CLAIM}" not in world.world.replica_files.paths()
    assert not release_base(
        world.ports(),
        replace(world.policy, external=replace(world.policy.external, included=False, base_directory=None)),
    )


def test_once_claimed_no_database_is_asked() -> None:
    """With many policies on one metastore each would ask for all of them, every few minutes."""
    world = a_world_with_files()
    world.check()
    world.world.replica.create_database(Database("other", None, None, {}, "{}"))
    asked: list[str] = []
    database = world.world.replica.database
    world.world.replica.database = lambda name: (asked.append(name), database(name))[1]  # type: ignore
    world.check()
    assert set(asked) <= {"sales"}
