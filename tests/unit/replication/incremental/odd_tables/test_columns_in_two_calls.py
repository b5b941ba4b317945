"""Columns that a metastore does not let become others in one call become them in two: nothing of the table is lost."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import Killed, KillSwitch, kill_points, killable
from tests.unit.replication.external_tables.test_external_incremental import with_tables
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import same
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import Refused, Unexplained
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.operations.actions.resync import Resync
from twinhive.replication.operator_requests.request_files import request_table

BEFORE = (("n", "int"), ("text", "string"), ("last", "int"))
STEP = (("n", "int"),)
AFTER = (("n", "bigint"), ("text", "struct<a:int>"), ("last", "int"))
ALL_OTHERS = (("n", "map<int,int>"), ("last", "binary"))
ORDERS, PLAIN = TableName("sales", "orders"), TableName("sales", "plain")


def a_followed_replica() -> Followed:
    followed = Followed()
    for table in ("plain", "orders"):
        followed.users.set_columns(table, ())
        followed.users.set_columns(table, BEFORE, cascade=True)
    followed.follow()
    followed.assert_twin()
    return followed


@pytest.fixture
def followed() -> Followed:
    return a_followed_replica()


def in_steps(users: SourceWriter, table: str) -> None:
    users.set_columns(table, STEP, cascade=True)
    users.set_columns(table, AFTER, cascade=True)


def resynced(followed: Followed) -> None:
    for table in ("plain", "orders"):
        in_steps(followed.users, table)
        Resync(followed.policy, table, {"by": "test"}).run(followed.world.ports())


def repaired(followed: Followed) -> None:
    for table in ("plain", "orders"):
        in_steps(followed.users, table)
        request_table(followed.world.replica_files, followed.policy, table, "ann", repairs=True)


def made_again(followed: Followed) -> None:
    followed.users.drop_table("plain")
    followed.users.create_table("plain", files=[b"other rows"])
    followed.users.set_columns("plain", ())
    followed.users.set_columns("plain", AFTER)
    request_table(followed.world.replica_files, followed.policy, "plain", "ann", repairs=True)


def by_the_source(followed: Followed) -> None:
    """An ALTER that the source's metastore allows, and the replica's does not."""
    followed.world.source.takes_all_types = True
    followed.users.set_columns("plain", AFTER)
    followed.users.set_columns("orders", AFTER, cascade=True)
    followed.users.insert("orders", ("a b",), [b"more"])


def by_the_source_without_cascade(followed: Followed) -> None:
    followed.world.source.takes_all_types = True
    followed.users.set_columns("orders", AFTER)


def all_of_them(followed: Followed) -> None:
    followed.world.source.takes_all_types = True
    followed.users.set_columns("plain", ALL_OTHERS)
    followed.users.set_columns("orders", ALL_OTHERS, cascade=True)


_WAYS = (resynced, repaired, made_again, by_the_source, by_the_source_without_cascade, all_of_them)
WAYS = {way.__name__: way for way in _WAYS}


@pytest.fixture(params=WAYS.values(), ids=list(WAYS))
def way(request: pytest.FixtureRequest) -> Callable[[Followed], None]:
    return request.param


def test_the_replica_gets_the_columns(followed: Followed, way: Callable[[Followed], None]) -> None:
    way(followed)
    followed.follow()
    followed.assert_twin()


def test_killed_at_any_change_it_converges(way: Callable[[Followed], None]) -> None:
    for after_effect in (False, True):
        for at in kill_points(40, after_effect=after_effect):
            followed = a_followed_replica()
            way(followed)
            try:
                followed.run_with(killable(followed.world.ports(), KillSwitch(at, after_effect=after_effect)))
            except Killed:
                followed.follow()
            followed.assert_twin()


def test_nothing_is_copied_again_and_readers_never_miss_the_table(followed: Followed) -> None:
    location = followed.world.replica.table(ORDERS).location
    files = followed.world.replica_files.paths()
    partitions = followed.world.replica.partition_names(ORDERS)
    in_steps(followed.users, "orders")
    request_table(followed.world.replica_files, followed.policy, "orders", "ann", repairs=True)
    replica = followed.world.replica
    seen = []

    class Watched:
        def __getattr__(self, name: str):
            if (there := replica.table(ORDERS)) is not None:
                seen.append((there.location, there.columns, tuple(replica.partition_names(ORDERS))))
            else:
                seen.append(None)
            return getattr(replica, name)

    followed.run_with(replace(followed.world.ports(), replica=Watched()))
    followed.assert_twin()
    assert dict.fromkeys(seen) == dict.fromkeys(
        (location, columns, tuple(partitions)) for columns in (BEFORE, STEP, AFTER)
    )
    assert [path for path in files if "/warehouse/" in path and path not in followed.world.replica_files.paths()] == []


def test_one_call_does_where_the_replica_takes_all_types(followed: Followed) -> None:
    followed.world.source.takes_all_types = followed.world.replica.takes_all_types = True
    followed.users.set_columns("plain", AFTER)
    calls = Refusing(followed, refuses=0)
    followed.run_with(replace(followed.world.ports(), replica=calls))
    followed.assert_twin()
    assert calls.columns == [AFTER]


def test_another_refusal_leaves_the_table_as_it_was(followed: Followed) -> None:
    followed.world.source.takes_all_types = True
    followed.users.set_columns("plain", AFTER)
    before = followed.world.replica.table(PLAIN)
    with pytest.raises(Refused):
        followed.run_with(replace(followed.world.ports(), replica=Refusing(followed, refuses=2)))
    there = followed.world.replica.table(PLAIN)
    assert (there.columns, there.location, there.parameters[STAMP]) == (
        before.columns,
        before.location,
        before.parameters[STAMP],
    )
    followed.follow()
    followed.assert_twin()


def test_a_refusal_of_something_else_is_no_reason_to_take_columns_away(followed: Followed) -> None:
    followed.users.set_parameters("plain", {"colour": "blue"})
    calls = Refusing(followed, refuses=1)
    with pytest.raises(Refused):
        followed.run_with(replace(followed.world.ports(), replica=calls))
    assert calls.columns == [BEFORE]


class Refusing:
    """Refuse the columns that are to be in the end, as often as told, in a replica; tell all that were asked for."""

    def __init__(self, followed: Followed, refuses: int) -> None:
        self._replica, self.left, self.columns = followed.world.replica, refuses, []

    def __getattr__(self, name: str):
        return getattr(self._replica, name)

    def alter_table(self, name, table, **how):
        self.columns.append(table.columns)
        if self.left and table.columns in (BEFORE, AFTER):
            self.left -= 1
            raise Unexplained(f"altering {name}", found="a hook", expected="an answer", next_step="see the log")
        self._replica.alter_table(name, table, **how)


def test_what_verify_has_found_is_mended() -> None:
    verifying = Verifying()
    followed = verifying.followed
    followed.world.replica.takes_all_types = True
    there = followed.world.replica.table(PLAIN)
    followed.world.replica.alter_table(PLAIN, replace(there, columns=(("id", "struct<a:int>"),)))
    followed.world.replica.takes_all_types = False
    assert not verifying.verify().is_equal
    request_table(followed.world.replica_files, followed.policy, "plain", "ann", repairs=True)
    followed.follow()
    assert same(followed)
    assert verifying.verify().is_equal


def a_replica_with_externals() -> FollowedExternals:
    followed = with_tables()
    followed.settle()
    return followed


def test_changes_of_an_external_table_that_waits_for_its_new_place() -> None:
    followed = a_replica_with_externals()
    followed.users.set_columns("events", ())
    followed.users.set_columns("events", BEFORE, cascade=True)
    followed.follow()
    partitions = followed.partitions_on_replica("events")
    assert partitions
    followed.users.set_location("events", "hdfs://east/other/events")
    in_steps(followed.users, "events")
    followed.follow()
    assert followed.on_replica("events").columns == BEFORE  # its data is not there yet
    followed.settle()
    followed.assert_twin()
    assert followed.partitions_on_replica("events") == partitions


def test_changes_of_an_external_table_that_the_source_allows() -> None:
    followed = a_replica_with_externals()
    followed.world.source.takes_all_types = True
    followed.users.set_columns("events", (("id", "array<int>"),), cascade=True)
    followed.settle()
    followed.assert_twin()
