"""A partitioned view is carried with its partitions, which have names and parameters and no files."""

from collections.abc import Callable

import pytest

from tests.support.hive import fake_messages as messages
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import a_world, tuned
from tests.unit.replication.incremental.test_incremental import POLICY, Followed
from tests.unit.replication.incremental.test_incremental_killed import killed_at
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.thrift_objects import fresh_partition, read_partition
from twinhive.operations.actions.resync import Resync
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_rounds

SEEN = TableName("sales", "seen")


class WithView(Followed):
    """A followed database in which a partitioned view was there before the replica; `meanwhile` comes in between."""

    def __init__(self, policy=POLICY, meanwhile: Callable[[SourceWriter], object] = lambda users: None) -> None:
        self.policy, self.world = policy, a_world()
        self.log: list[str] = []
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.users.create_view("seen", keys=("p",))
        self.users.add_partitions("seen", {("1",): (), ("a/b",): (), ("3",): ()})
        self.run_with(self.world.ports(), BOOTSTRAP)
        meanwhile(self.users)
        run_rounds(policy, self.world.ports(), {"run": "b"}, self.log.append)

    def partitions(self) -> list[str]:
        return self.world.replica.partition_names(SEEN)


def test_a_bootstrap_brings_the_partitions_of_a_view() -> None:
    followed = WithView(tuned(partitions_per_call=2))
    assert followed.partitions() == ["p=1", "p=3", "p=a%2Fb"]
    followed.assert_twin()


def change_all(users: SourceWriter) -> None:
    users.alter_partitions("seen", [("1",)], {"k": "v"})
    users.drop_partitions("seen", [("3",)])
    users.add_partitions("seen", {("4",): (), ("5",): ()})
    users.drop_partitions("seen", [("4",)])


def rename_view(users: SourceWriter) -> None:
    users.rename_table("seen", "viewed")
    users.add_partitions("viewed", {("4",): ()})


def create_view(users: SourceWriter) -> None:
    users.create_view("later", keys=("p",))
    users.add_partitions("later", {("1",): ()})


def make_anew(users: SourceWriter) -> None:
    users.drop_table("seen")
    users.create_view("seen", keys=("q",))
    users.add_partitions("seen", {("1",): ()})


@pytest.mark.parametrize("meanwhile", [change_all, rename_view, create_view, make_anew], ids=lambda one: one.__name__)
def test_rounds_and_windows_bring_them_to_the_same_end(meanwhile: Callable[[SourceWriter], object]) -> None:
    WithView(meanwhile=meanwhile).assert_twin()
    followed = WithView()
    meanwhile(followed.users)
    followed.follow()
    followed.assert_twin()


def test_a_resync_brings_them() -> None:
    followed = WithView()
    followed.world.replica.drop_partitions(SEEN, ["p=1"], delete_data=False)
    Resync(followed.policy, "seen", {"user": "ann"}).run(followed.world.ports())
    followed.follow()
    assert followed.partitions() == ["p=1", "p=3", "p=a%2Fb"]
    followed.assert_twin()


def test_a_resync_makes_a_view_anew_that_no_event_has_changed_since() -> None:
    followed = WithView()
    replica = followed.world.replica
    there = replica.table(SEEN)
    replica.alter_table(
        SEEN, there.with_parameters({**there.parameters, "stray": "1"}), expected=there.parameters[STAMP]
    )
    Resync(followed.policy, "seen", {"user": "ann"}).run(followed.world.ports())
    followed.follow()
    assert "stray" not in replica.table(SEEN).parameters
    followed.assert_twin()


@pytest.mark.thorough
@pytest.mark.parametrize("at", range(1, 30))
def test_a_partition_of_a_view_that_some_metastore_renames_is_renamed(at: int) -> None:
    """Hive refuses to; the log can hold it all the same, and a kill in between must not lose it."""
    followed = WithView()
    source = followed.world.source
    view = source.table(SEEN)
    (before,) = source.partitions(SEEN, ["p=1"])
    after = read_partition(fresh_partition(before) | {"1": {"lst": ["str", 1, "one"]}})
    source._partitions[SEEN]["p=one"] = after
    del source._partitions[SEEN]["p=1"]
    source._emit_on(view, "ALTER_PARTITION", messages.of_altered_partition(view, before, after))
    killed_at(followed, at, after_effect=True)
    followed.follow()
    followed.follow()
    assert followed.partitions() == ["p=3", "p=a%2Fb", "p=one"]
    followed.assert_twin()
