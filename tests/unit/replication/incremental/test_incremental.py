"""Follow a source whose users do everything that Hive's log can tell, window by window."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text, render
from twinhive.core.model.thrift_objects import columns_of_partition
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

POLICY = a_policy()


class Followed:
    """A world whose replica is published, its users, and the policy that follows them."""

    def __init__(self, policy: Policy = POLICY, world: World | None = None) -> None:
        self.policy = policy
        self.world: World = world or a_world()
        self.log: list[str] = []
        run_bootstrap(policy, self.world.ports(), {"run": "b"}, self.say)
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")

    def follow(self):
        return self.run_with(self.world.ports())

    def run_with(self, ports, stages=INCREMENTAL):
        return run_phase(stages, self.policy, ports, {"run": "i"}, self.say)

    def say(self, line: Text) -> None:
        """Keep a line of the log as people read it."""
        self.log.append(render(line))

    def assert_twin(self) -> None:
        assert_twin(self.world)


@pytest.fixture
def followed() -> Followed:
    return Followed()


def create_table_with_files(users: SourceWriter) -> None:
    users.create_table("made", files=[b"one", b"two"])


def create_and_fill_partitioned(users: SourceWriter) -> None:
    users.create_table("made", keys=("p", "q"))
    users.add_partitions("made", {("1", "a b"): [b"x"], ("2", "ü/="): [b"y", b"z"], ("3", "c"): []})


def insert_into_table(users: SourceWriter) -> None:
    users.insert("plain", None, [b"more", b"rows"])


def insert_into_partition(users: SourceWriter) -> None:
    users.insert("orders", ("a b",), [b"more"])
    users.insert("orders", ("a b",), [b"and more"])


def overwrite_table(users: SourceWriter) -> None:
    users.overwrite("plain", None, {"data": b"other rows"})


def overwrite_partition_twice(users: SourceWriter) -> None:
    users.overwrite("orders", ("a b",), {"f1": b"two"})
    users.overwrite("orders", ("a b",), {"f1": b"three"})


def truncate_table(users: SourceWriter) -> None:
    users.truncate("plain")


def truncate_partitions(users: SourceWriter) -> None:
    users.truncate("orders", [("a b",), ("50%=#:ü",)])


def rename_table(users: SourceWriter) -> None:
    users.rename_table("orders", "sold")
    users.insert("sold", ("a b",), [b"after"])


def rename_and_recreate(users: SourceWriter) -> None:
    users.rename_table("plain", "old_plain")
    users.create_table("plain", files=[b"new rows"])
    users.insert("old_plain", None, [b"appended"])


def swap_tables(users: SourceWriter) -> None:
    users.rename_table("plain", "between")
    users.rename_table("empty", "plain")
    users.rename_table("between", "empty")


def swap_tables_of(users: SourceWriter) -> None:
    users.create_table("left", files=[b"left"])
    users.create_table("right", files=[b"right"])
    users.rename_table("left", "between")
    users.rename_table("right", "left")
    users.rename_table("between", "right")


def rename_table_back_and_forth(users: SourceWriter) -> None:
    users.rename_table("orders", "sold")
    users.rename_table("sold", "orders")


def drop_and_create_with_other_keys(users: SourceWriter) -> None:
    users.add_partitions("orders", {("x",): [b"x"]})
    users.drop_table("orders")
    users.create_table("orders", keys=("year", "month"))
    users.add_partitions("orders", {("2026", "1"): [b"y"]})
    users.drop_table("orders")
    users.create_table("orders", files=[b"z"])


def drop_tables(users: SourceWriter) -> None:
    users.drop_table("orders")
    users.drop_table("plain")
    users.drop_table("recent")


def drop_partitions(users: SourceWriter) -> None:
    users.drop_partitions("orders", [("a b",), ("no files",)])


def partition_in_three_states(users: SourceWriter) -> None:
    """Seed 002, events 100, 110, 120."""
    users.add_partitions("orders", {("1",): {"f": b"first"}})
    users.drop_partitions("orders", [("1",)])
    users.add_partitions("orders", {("1",): {"f": b"second"}})


def rename_partition(users: SourceWriter) -> None:
    users.rename_partition("orders", ("a b",), ("c d",))
    users.insert("orders", ("c d",), [b"after"])
    users.drop_partitions("orders", [("c d",)])
    users.rename_partition("orders", ("50%=#:ü",), ("c d",))


def exchange_partition(users: SourceWriter) -> None:
    users.create_table("orders2", keys=("p",))
    users.exchange_partition("orders", "orders2", ("50%=#:ü",))
    users.exchange_partition("orders", "orders2", ("a b",))


def nested_directories(users: SourceWriter) -> None:
    """Events name only the files directly in a directory; Hive's UNION ALL writes deeper."""
    users.create_table("united", files={"f": b"one", "HIVE_UNION_SUBDIR_1/f": b"two", "1/2/f": b"three", "_x/f": b"no"})
    users.insert("united", None, {"1/g": b"four"})
    users.create_table("unions", keys=("p",))
    users.add_partitions("unions", {("1",): {"a/f": b"nested only"}, ("2",): {"f": b"x", "b/f": b"both"}, ("3",): ()})
    users.insert("unions", ("1",), {"a/g": b"later", "h": b"later"})
    users.rename_partition("unions", ("2",), ("4",))
    users.rename_table("unions", "renamed")
    users.add_partitions("renamed", {("5",): {"deep/f": b"gone"}})
    users.drop_partitions("renamed", [("5",)])
    users.add_partitions("renamed", {("5",): {"deep/g": b"again"}})


def move_table(users: SourceWriter) -> None:
    users.files.write("hdfs://east/elsewhere/plain/other", b"other rows")
    users.set_location("plain", "hdfs://east/elsewhere/plain")
    users.insert("plain", None, {"z": b"appended"})
    users.set_location("orders", "hdfs://east/elsewhere/orders")
    users.add_partitions("orders", {("new",): [b"in the new place"]})


def move_partitions(users: SourceWriter) -> None:
    elsewhere = "hdfs://east/elsewhere/orders"
    for name in ("one", "two", "three/deep", "four"):
        users.files.write(f"{elsewhere}/{name}/f", name.encode())
    users.set_partition_location("orders", ("a b",), f"{elsewhere}/one", says_before=False)
    users.insert("orders", ("a b",), {"z": b"appended"})
    users.set_partition_location("orders", ("a b",), f"{elsewhere}/two", says_before=False)
    users.alter_partitions("orders", [("a b",), ("no files",)], {"k": "v"})
    users.set_partition_location("orders", ("50%=#:ü",), f"{elsewhere}/three")
    users.set_partition_location("orders", ("no files",), f"{elsewhere}/nothing", says_before=False)
    users.rename_table("orders", "sold")
    users.set_partition_location("sold", ("50%=#:ü",), f"{elsewhere}/four", says_before=False)


def alter_everything(users: SourceWriter) -> None:
    users.set_parameters("plain", {"colour": "blue", "ümlaut": "ä"})
    users.set_owner("plain", "bob")
    users.add_columns("plain", [("extra", "string")])
    users.alter_partition("orders", ("a b",), {"k": "v"})
    users.alter_partitions("orders", [("a b",), ("50%=#:ü",)], {"k2": "v2"})
    users.alter_database_parameters({"colour": "red"})


def cascade(users: SourceWriter) -> None:
    users.add_columns("orders", [("extra", "string")], cascade=True)


def no_cascade(users: SourceWriter) -> None:
    users.add_columns("orders", [("extra", "string")], cascade=False)


def views(users: SourceWriter) -> None:
    users.create_view("seen")
    users.set_parameters("seen", {"k": "v"})
    users.rename_table("recent", "recently")


def partitions_of_a_view(users: SourceWriter) -> None:
    users.create_view("by_day", keys=("p",))
    users.add_partitions("by_day", {("1",): (), ("2",): (), ("a b",): ()})
    users.alter_partitions("by_day", [("1",), ("a b",)], {"k": "v"})
    users.alter_partition("by_day", ("1",), {"k": "w"})
    users.drop_partitions("by_day", [("2",)])
    users.rename_table("by_day", "by_date")
    users.add_partitions("by_date", {("3",): ()})
    users.create_view("twice", keys=("p",))
    users.add_partitions("twice", {("1",): ()})
    users.drop_table("twice")
    users.create_table("twice", keys=("p",))
    users.add_partitions("twice", {("1",): [b"rows"]})


def details(users: SourceWriter) -> None:
    users.create_function("f", [])
    users.create_function("g", [])
    users.drop_function("f")
    users.add_constraint("plain", "primary_key", "pk")
    users.add_constraint("plain", "not_null", "nn")
    users.drop_constraint("plain", "nn")
    users.update_statistics("plain")
    users.update_statistics("orders", ("a b",))


HISTORIES = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__annotations__", {}).get("users")
]


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_one_window_brings_the_twin_up_to_date(followed: Followed, history: Callable[[SourceWriter], None]) -> None:
    history(followed.users)
    results = followed.follow()
    assert results["apply"].event_id == followed.world.source.current_event_id(), followed.log
    followed.assert_twin()


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_windows_of_one_event_come_to_the_same_end(history: Callable[[SourceWriter], None]) -> None:
    followed = Followed(tuned(window_events=1))
    history(followed.users)
    while not followed.follow()["window"].idle:
        pass
    followed.assert_twin()


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_the_end_of_a_window_is_the_same_with_later_events_cancelling_earlier_ones(history) -> None:
    followed = Followed(tuned(consistency="window_end"))
    history(followed.users)
    followed.follow()
    followed.assert_twin()


def test_an_idle_window_ends_the_run(followed: Followed) -> None:
    results = followed.follow()
    assert results["window"].idle
    assert "apply" not in results


def test_a_run_after_the_end_finds_nothing_to_do(followed: Followed) -> None:
    insert_into_table(followed.users)
    followed.follow()
    events = followed.world.replica.current_event_id()
    assert followed.follow()["window"].idle
    assert followed.world.replica.current_event_id() == events


def test_cascade_reaches_the_partitions_and_its_absence_does_not(followed: Followed) -> None:
    name = TableName("sales", "orders")

    def partition_thrift() -> str:
        return followed.world.replica.partitions(name, ["p=a b"])[0].thrift

    no_cascade(followed.users)
    followed.follow()
    assert "extra" not in partition_thrift()
    followed.users.add_columns("orders", [("extra2", "string")], cascade=True)
    followed.follow()
    assert "extra2" in partition_thrift()


def test_a_change_of_columns_after_a_cascade_reaches_only_the_table(followed: Followed) -> None:
    cascade(followed.users)
    followed.users.add_columns("orders", [("later", "string")], cascade=False)
    followed.follow()
    columns = [
        columns_of_partition(metastore.partitions(TableName("sales", "orders"), ["p=a b"])[0])
        for metastore in (followed.world.source, followed.world.replica)
    ]
    assert columns[0] == columns[1]


def test_a_policy_edited_while_a_window_is_begun_cuts_it_anew(followed: Followed) -> None:
    insert_into_table(followed.users)
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    followed.policy = replace(followed.policy, fingerprint="f2", exclude=("orders",))
    followed.follow()
    assert any("planned again: the policy file has changed" in line for line in followed.log)
    followed.assert_twin()
