"""Whatever a table is called, it goes through every phase, request and statement as any other does."""

import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.seeds import of_the_day
from tests.support.users.external_writer import ExternalWriter
from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from tests.support.worlds.repl_world import ReplWorld
from tests.unit.operations.actions.test_operations import HOLDER, insert_and_lose
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.operations.monitoring.inventory import read_tables
from twinhive.replication.operator_requests.request_files import (
    policies_with_requests,
    requested_tables,
    skipped_events,
)

# What Hive allows by default (metastore.support.special.characters.tablename), and what configuration may add.
ALPHABET = string.ascii_lowercase + string.digits + "%&'()*+,-./:;<=>?[]_|{}$^!~#@ " + '"\\`é日'
NAMES = st.text(ALPHABET, min_size=1, max_size=128)
PAIRS = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] != pair[1])
WORST = [
    (".", ".."),
    ("a/b", "a%2fb"),
    ("../../../../../warehouse/finance.db/accounts.7/evil", "v1.2"),
    ("/" * 128, "/" * 127 + "x"),
    ("日" * 200, "日" * 199 + "x"),
    ("paused", "../paused"),
]


def each_pair(test):
    for pair in WORST:
        test = example(pair)(test)
    return of_the_day(settings(max_examples=5, database=None)(given(PAIRS)(test)))


def assert_fits(world: World) -> None:
    """Assert that HDFS and the metastore's database have room for every name that we have made on the replica."""
    names = {name for path in world.replica_files.paths() for name in path.split("/")}
    assert [name for name in names if len(name.encode()) > 255] == []
    keys = world.replica.database("sales").parameters
    assert [key for key in keys if len(key) > 180] == []


def externals_at(users: ExternalWriter, *names: str) -> None:
    for number, name in enumerate(names):
        users.create_external(name, ("p",), f"hdfs://east/data/{number}")
        users.add_external(name, ("a",))
        users.add_external(name, ("b",), below="hdfs://east/other")


@each_pair
def test_a_database_is_followed(pair: tuple[str, str]) -> None:
    one, other = pair
    world = a_world()
    users = ExternalWriter(world.source, world.source_files, "sales")
    users.create_table(one, files=[b"one"])
    users.create_table("x" + one, ("p",))
    users.add_partitions("x" + one, {("a/b",): [b"two"], ("..",): [b"three"]})
    externals_at(users, "e" + one)
    followed = FollowedExternals.from_the_beginning(POLICY, world)
    users = followed.users
    users.create_table(other, files=[b"four"])
    users.insert(one, None, [b"five"])
    users.insert("x" + one, ("a/b",), [b"six"])
    users.rename_table("x" + one, "x" + other)
    users.insert("x" + other, ("..",), [b"seven"])
    externals_at(users, "e" + other)
    followed.follow()
    assert followed.pending == ("e" + other,)
    assert_fits(world)
    followed.settle()
    assert followed.pending == ()
    followed.assert_twin()
    users.drop_table(one)
    users.rename_table(other, one)
    users.set_location("e" + other, "hdfs://east/data/later")
    followed.settle()
    followed.assert_twin()


@each_pair
def test_an_external_table_of_that_name_waits_and_comes(pair: tuple[str, str]) -> None:
    followed = FollowedExternals.from_the_beginning()
    externals_at(followed.users, *pair)
    followed.follow()
    assert followed.pending == tuple(sorted(pair))
    assert_fits(followed.world)
    assert not any("/pending/" not in path and "evil" in path for path in followed.world.replica_files.paths())
    followed.settle()
    followed.assert_twin()
    assert followed.pending == ()


@pytest.mark.thorough
@each_pair
def test_a_table_is_frozen_requested_and_brought_back(pair: tuple[str, str]) -> None:
    one = pair[0]
    followed = FollowedExternals.from_the_beginning(tuned(POLICY, on_object_error="quarantine"))
    files, policy = followed.world.replica_files, followed.policy
    for name in pair:
        followed.users.create_table(name, files=[b"one"])
    followed.follow()
    insert_and_lose(followed, one)
    followed.follow()
    assert list(frozen_tables(followed.world.replica.database("sales").parameters)) == [one]
    assert list(read_status(followed.world.ports(), policy).quarantined) == [one]
    for name in pair:
        Resync(policy, f"sales.{name}", HOLDER).run(followed.world.ports())
    assert requested_tables(files, policy) == tuple(sorted(pair))
    assert_fits(followed.world)
    assert policies_with_requests(files, [policy]) == {"sales"}
    followed.settle()
    assert (requested_tables(files, policy), policies_with_requests(files, [policy])) == ((), frozenset())
    assert frozen_tables(followed.world.replica.database("sales").parameters) == {}
    followed.assert_twin()


@each_pair
def test_an_event_of_it_is_passed_over(pair: tuple[str, str]) -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_table(pair[0], files=[b"one"])
    followed.follow()
    event_id = insert_and_lose(followed, pair[0])
    SkipEvent(followed.policy, event_id, "not needed", HOLDER).run(followed.world.ports())
    assert set(skipped_events(followed.world.replica_files, followed.policy)) == {event_id}
    followed.settle()
    shown = {row.table for row in read_tables(followed.world.ports(), followed.policy)}
    assert pair[0] in shown


@each_pair
def test_a_database_is_dumped_and_loaded(pair: tuple[str, str]) -> None:
    repl = ReplWorld(batch_objects=2)
    for name in pair:
        repl.users.create_table(name, ("p",))
        repl.users.add_partitions(name, {("a/b",): [b"one"]})
    repl.load(repl.dump())
    assert_twin(repl.world)
    assert_fits(repl.world)
    repl.users.insert(pair[0], ("a/b",), [b"two"])
    repl.users.drop_table(pair[1])
    repl.load(repl.dump(repl.status()))
    assert_twin(repl.world)
