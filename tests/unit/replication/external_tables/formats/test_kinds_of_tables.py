"""Whatever type a client says of a table, the twin has what the source's metastore stores, and the rows that it has."""

import random

import pytest

from tests.support.builders import a_policy
from tests.support.hive.metastore_objects import owned
from tests.support.seeds import seeds
from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.unit.replication.external_tables.test_external_incremental import with_tables
from twinhive.core.model.marks import QUARANTINE
from twinhive.core.model.objects import TableKind
from twinhive.replication.comparison.canonical_form import canonical_database, canonical_table

SAID = (None, "", "MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW", "MATERIALIZED_VIEW", "managed_table")
EXTERNAL = (None, "TRUE", "true", "True", "FALSE", "false", " TRUE", "")
OWNERS = (None, 1, 2, 3)
CREATED = [
    ("EXTERNAL_TABLE", None, "MANAGED_TABLE"),
    ("EXTERNAL_TABLE", "FALSE", "MANAGED_TABLE"),
    (None, None, "MANAGED_TABLE"),
    ("MANAGED_TABLE", "TRUE", "EXTERNAL_TABLE"),
    ("MANAGED_TABLE", "true", "EXTERNAL_TABLE"),
    (None, "TRUE", "EXTERNAL_TABLE"),
    ("MATERIALIZED_VIEW", "TRUE", "MATERIALIZED_VIEW"),
    ("external_table", "TRUE", "external_table"),
]


def assert_same_tables(followed: FollowedExternals) -> None:
    """Assert that both sides are equal, also in the structs, and that nothing waits."""
    followed.assert_twin()
    assert followed.pending == ()
    assert not [key for key in followed.world.replica.database("sales").parameters if key.startswith(QUARANTINE)]
    source = followed.world.source
    databases = [metastore.database("sales") for metastore in (source, followed.world.replica)]
    assert canonical_database(databases[1]) == canonical_database(databases[0])
    for table in source.tables("sales", source.table_names("sales")):
        there = followed.on_replica(table.name.table)
        if followed.policy.left_out(table):
            assert there is None, table
            continue
        assert there is not None, table
        assert (there.table_type, there.kind) == (table.table_type, table.kind), table
        assert canonical_table(there) == canonical_table(table)
        assert table.kind is TableKind.EXTERNAL or not str(there.location).startswith("hdfs://west/ext"), there


@pytest.mark.parametrize(("said", "external", "stored"), CREATED)
def test_a_new_table_is_what_the_source_stores(said: str | None, external: str | None, stored: str) -> None:
    followed = FollowedExternals.from_the_beginning()
    made = followed.users.create_as("made", said, external, [b"one"])
    assert made.table_type == stored
    if made.kind is TableKind.MANAGED:
        followed.users.insert("made", None, [b"two"])
        followed.follow()
        assert_same_tables(followed)
    followed.settle()
    assert_same_tables(followed)


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_a_table_that_becomes_external_by_the_parameter_comes_whole_with_the_next_copy(consistency: str) -> None:
    followed = with_tables(tuned(POLICY, consistency=consistency))
    before = followed.on_replica("plain")
    altered = followed.users.alter_as("plain", "MANAGED_TABLE", "TRUE")
    assert altered.table_type == "EXTERNAL_TABLE"
    followed.follow()
    assert followed.on_replica("plain") == before, "its data is not there yet"
    assert followed.pending == ("plain",)
    followed.settle()
    placed = followed.policy.external.place(altered.location, "plain")
    assert followed.on_replica("plain").location == placed
    assert_same_tables(followed)


@pytest.mark.parametrize("external", ["FALSE", None])
def test_a_table_that_becomes_managed_by_the_parameter_brings_what_no_pass_had_brought(external: str | None) -> None:
    followed = with_tables()
    place = followed.users.table("logs").location
    followed.world.source_files.put(f"{place}/late", b"no pass has seen it")
    altered = followed.users.alter_as("logs", "EXTERNAL_TABLE", external)
    assert altered.table_type == "MANAGED_TABLE"
    followed.follow()
    assert followed.world.replica_files.read(f"{followed.on_replica('logs').location}/late") == b"no pass has seen it"
    assert_same_tables(followed)


def test_a_kind_that_the_policy_leaves_out_comes_whole_when_it_becomes_one_that_it_follows() -> None:
    followed = FollowedExternals(a_policy())
    followed.policy = a_policy()
    followed.users.create_external("logs", location="hdfs://east/data/logs")
    followed.world.source_files.put("hdfs://east/data/logs/f", b"rows")
    followed.follow()
    assert followed.on_replica("logs") is None
    followed.users.make_managed("logs")
    followed.follow()
    assert_twin(followed.world)
    assert followed.on_replica("logs").table_type == "MANAGED_TABLE"


@pytest.mark.parametrize("seed", seeds(6, kind=45))
def test_whatever_clients_say_the_twin_is_what_the_source_stores(seed: int) -> None:
    choose = random.Random(seed)
    followed = FollowedExternals.from_the_beginning(tuned(POLICY, window_events=choose.choice([3, 1000])))
    users, names = followed.users, []
    for number in range(40):
        name = choose.choice(names) if names and choose.random() < 0.6 else f"t{number}"
        if name not in names:
            names.append(name)
            users.create_as(name, choose.choice(SAID), choose.choice(EXTERNAL), [f"rows of {number}".encode()])
        elif users.table(name).kind is TableKind.MANAGED and choose.random() < 0.4:
            users.insert(name, None, [f"more of {number}".encode()])
        elif not users.table(name).kind.why_left_out and users.table(name).has_files:
            # One that becomes a kind which nobody follows needs a person.
            said = choose.choice([one for one in SAID if one != "MATERIALIZED_VIEW"])
            users.alter_as(name, said, choose.choice(EXTERNAL), choose.choice(OWNERS))
        if choose.random() < 0.1:
            owner, owner_type = choose.choice(["ann", "analysts"]), choose.choice(OWNERS)
            source = followed.world.source
            source.alter_database(owned(source.database("sales"), owner, owner_type))
        if choose.random() < 0.2:
            followed.follow()
        if choose.random() < 0.1:
            followed.sync()
    followed.settle()
    assert_same_tables(followed)
