"""A table of another database is another table, whatever its name: what renames between databases do."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.builders import a_policy
from tests.support.hive.metastore_objects import a_constraint
from tests.support.users.external_writer import ExternalWriter
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import a_world, killable, tuned
from tests.unit.replication.incremental.test_incremental import POLICY, Followed
from tests.unit.runtime.dry_run.test_rehearsal import plan, section
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.actions.resync import Resync
from twinhive.runtime.pipeline.phases import BOOTSTRAP, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase, run_rounds

ELSEWHERE = "hdfs://east/elsewhere"


class Staged(Followed):
    """A followed database beside another one, `staging`, that nobody follows; both have a table `orders`."""

    def __init__(self, policy: Policy = POLICY, meanwhile: Callable | None = None) -> None:
        self.policy = policy
        self.world = a_world()
        self.log: list[str] = []
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.staging = SourceWriter.with_database(self.world.source, self.world.source_files, "staging")
        self.staging.create_table("orders", files=[b"of another table"], location=f"{ELSEWHERE}/orders")
        self.staging.create_table("fresh", keys=("d",), location=f"{ELSEWHERE}/fresh")
        self.staging.add_partitions("fresh", {("1",): [b"one"], ("2",): [b"two"]})
        self.staging.create_view("orders_seen")
        self.staging.create_view("recent")
        self.run_with(self.world.ports(), BOOTSTRAP)
        if meanwhile:
            meanwhile(self.users, self.staging)
        run_rounds(policy, self.world.ports(), {"run": "b"}, self.log.append)

    def to_the_end(self) -> None:
        for _ in range(30):
            if self.follow()["window"].idle:
                return
        raise AssertionError("it does not come to an end")


def rename_in(users: SourceWriter, staging: SourceWriter) -> None:
    staging.rename_table("fresh", "fresh", "sales")


def rename_in_of_our_name(users: SourceWriter, staging: SourceWriter) -> None:
    """The replica has `sales.orders`, which has nothing to do with this one."""
    staging.rename_table("orders", "orders_new", "sales")


def promote(users: SourceWriter, staging: SourceWriter) -> None:
    users.rename_table("orders", "orders_old")
    staging.rename_table("orders", "orders", "sales")
    users.insert("orders", None, [b"after"])


def rename_in_a_view(users: SourceWriter, staging: SourceWriter) -> None:
    staging.rename_table("orders_seen", "seen", "sales")
    staging.rename_table("recent", "recently", "sales")


def rename_in_and_on(users: SourceWriter, staging: SourceWriter) -> None:
    staging.rename_table("fresh", "first", "sales")
    users.add_partitions("first", {("3",): [b"three"]})
    users.rename_table("first", "second")
    users.add_partitions("second", {("4",): [b"four"]})


def rename_in_and_drop(users: SourceWriter, staging: SourceWriter) -> None:
    staging.rename_table("fresh", "fresh", "sales")
    users.drop_table("fresh")


def rename_out(users: SourceWriter, staging: SourceWriter) -> None:
    users.create_table("leaving", files=[b"x"], location=f"{ELSEWHERE}/leaving")
    users.rename_table("leaving", "left", "staging")
    users.rename_table("recent", "seen", "staging")


def rename_out_under_its_name(users: SourceWriter, staging: SourceWriter) -> None:
    users.create_table("fresh2", files=[b"x"], location=f"{ELSEWHERE}/fresh2")
    users.rename_table("fresh2", "fresh2", "staging")


def rename_out_and_in(users: SourceWriter, staging: SourceWriter) -> None:
    users.create_table("t", files=[b"x"], location=f"{ELSEWHERE}/t")
    users.rename_table("t", "t", "staging")
    staging.insert("t", None, [b"y"])
    staging.rename_table("t", "t", "sales")
    staging.rename_table("fresh", "f", "sales")
    users.rename_table("f", "f", "staging")


def rename_in_place_of_one_renamed_out(users: SourceWriter, staging: SourceWriter) -> None:
    users.create_table("t", files=[b"x"], location=f"{ELSEWHERE}/t")
    users.rename_table("t", "old", "staging")
    staging.rename_table("fresh", "t", "sales")
    staging.rename_table("old", "fresh")


ACROSS = [
    rename_in,
    rename_in_of_our_name,
    promote,
    rename_in_a_view,
    rename_in_and_on,
    rename_in_and_drop,
    rename_out,
    rename_out_under_its_name,
    rename_out_and_in,
    rename_in_place_of_one_renamed_out,
]
HISTORIES_ACROSS = pytest.mark.parametrize("history", ACROSS, ids=lambda history: history.__name__)

OPTIONS = [{}, {"window_events": 1}, {"window_events": 2}, {"window_events": 3}, {"consistency": "window_end"}]


@pytest.mark.thorough
@HISTORIES_ACROSS
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_twin_has_what_came_and_not_what_went(history: Callable, options: dict) -> None:
    followed = Staged(tuned(**options))
    history(followed.users, followed.staging)
    followed.to_the_end()
    followed.assert_twin()
    assert not read_status(followed.world.ports(), followed.policy).quarantined


@HISTORIES_ACROSS
def test_what_is_renamed_while_it_is_copied_is_folded(history: Callable) -> None:
    followed = Staged(meanwhile=history)
    followed.to_the_end()
    followed.assert_twin()


@pytest.mark.parametrize("history", [promote, rename_in_and_on, rename_out_and_in], ids=lambda one: one.__name__)
def test_killed_at_any_change_it_converges(history: Callable) -> None:
    def begin() -> Staged:
        followed = Staged()
        history(followed.users, followed.staging)
        return followed

    def follow(followed: Staged, switch: Any) -> None:
        ports = killable(followed.world.ports(), switch)
        run_phase(INCREMENTAL, followed.policy, ports, {"run": "k"}, followed.log.append)

    for followed in left_by_kills(begin, follow, 5, least=20):
        followed.to_the_end()
        followed.assert_twin()


def test_an_event_of_a_table_of_the_same_name_elsewhere_is_nobodys() -> None:
    """A foreign key is filed under the table that it refers to: its own table may be in another database."""
    followed = Staged(tuned(on_object_error="quarantine"))
    followed.users.create_table("parents")
    followed.users.add_constraint("parents", "primary_key", "pk")
    child, parent = followed.staging.table("orders"), followed.users.table("parents")
    followed.world.source.add_constraints(child.name, "foreign_key", [a_constraint(child, "foreign_key", "fk", parent)])
    followed.to_the_end()
    assert followed.world.replica.constraints(TableName("sales", "orders")) == ()
    followed.assert_twin()


def test_frozen_and_whole_tables_are_those_of_the_source_database() -> None:
    """`plain` is resynced and its events pass by, those of a view that comes from another `plain` do not."""
    followed = Staged(tuned(window_events=2))
    followed.staging.create_view("plain")
    Resync(followed.policy, "plain", {"user": "ann"}).run(followed.world.ports())
    followed.staging.rename_table("plain", "seen", "sales")
    followed.users.insert("plain", None, [b"more"])
    followed.to_the_end()
    followed.assert_twin()


def test_a_dry_run_says_of_renames_in_and_out_what_the_run_does() -> None:
    followed = Staged()
    rename_out(followed.users, followed.staging)
    rename_in_of_our_name(followed.users, followed.staging)
    planned = plan(followed.world, "incremental", followed.policy)
    assert set(section(planned, "drop", "tables").names) == {"sales.leaving", "sales.recent"}
    assert section(planned, "replace", "tables as a whole").names == ("orders_new",)
    assert not [one for one in planned.sections if one.verb == "alter"]
    followed.to_the_end()
    followed.assert_twin()


def test_between_two_policies_of_one_source_a_table_goes_from_one_replica_to_the_other() -> None:
    followed = Staged()
    other = a_policy(
        name="staging", source=DatabaseAddress("east", "staging"), replica=DatabaseAddress("west", "staging")
    )
    run_bootstrap(other, followed.world.ports(), {"run": "b2"}, followed.log.append)
    followed.staging.rename_table("fresh", "orders_new", "sales")
    followed.users.rename_table("recent", "seen", "staging")
    for policy in (followed.policy, other) * 2:
        run_phase(INCREMENTAL, policy, followed.world.ports(), {"run": "i"}, followed.log.append)
    followed.assert_twin()
    source, replica = followed.world.source, followed.world.replica
    assert (
        replica.table_names("staging") == source.table_names("staging") == ["orders", "orders_seen", "recent", "seen"]
    )


class StagedExternals(FollowedExternals):
    """The same with external tables; `staging.outside` has the name of one of ours."""

    staging: ExternalWriter

    def __init__(self) -> None:
        super().__init__()
        self.staging = ExternalWriter.with_database(self.world.source, self.world.source_files, "staging")
        self.staging.create_external("clicks", keys=("d",))
        self.staging.add_external("clicks", ("1",), ("2",))
        self.staging.create_external("outside", location="hdfs://east/data/other_outside")
        self.sync()
        self.follow()


def test_an_external_table_that_comes_in_waits_for_its_data_with_all_its_partitions() -> None:
    followed = StagedExternals()
    followed.staging.rename_table("clicks", "clicks", "sales")
    followed.staging.rename_table("outside", "outside_new", "sales")
    followed.follow()
    assert followed.pending == ("clicks", "outside_new")
    assert set(followed.record("clicks").partitions) == {"d=1", "d=2"}
    assert followed.on_replica("outside") is not None
    followed.settle()
    assert followed.pending == ()
    followed.assert_twin()


def test_an_external_table_that_waits_and_leaves_the_database_waits_no_more() -> None:
    followed = StagedExternals()
    followed.users.create_external("late", keys=("d",))
    followed.users.add_external("late", ("1",))
    followed.follow()
    assert followed.pending == ("late",)
    followed.users.rename_table("late", "late", "staging")
    followed.users.rename_table("outside", "was_ours", "staging")
    followed.follow()
    assert followed.pending == ()
    followed.settle()
    followed.assert_twin()
    assert followed.on_replica("outside") is None


def test_what_waits_is_not_touched_by_a_table_of_its_name_elsewhere() -> None:
    followed = StagedExternals()
    followed.users.create_external("clicks", location="hdfs://east/data/our_clicks")
    followed.follow()
    assert followed.pending == ("clicks",)
    followed.staging.rename_table("clicks", "clicks_in", "sales")
    followed.follow()
    assert followed.pending == ("clicks", "clicks_in")
    followed.settle()
    followed.assert_twin()
