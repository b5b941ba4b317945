"""Parameters of ours on objects that users write between any two calls: nothing of theirs is undone."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from twinhive.core.model.errors import ChangedMeanwhile
from twinhive.core.model.objects import DDL_TIME, Database, Parameters, Partition, Table
from twinhive.core.step.parameter_changes import change_database, change_partitions, change_table


class _Between:
    """A metastore beside which a user acts once after a call of one name."""

    def __init__(self, metastore: Any, after: str, act: Callable[[], None], *, times: int = 1) -> None:
        self._metastore, self._after, self._act, self._left = metastore, after, act, times

    def __getattr__(self, name: str) -> Any:
        called = getattr(self._metastore, name)

        def call(*given: Any, **named: Any) -> Any:
            found = called(*given, **named)
            if name == self._after and self._left:
                self._left -= 1
                self._act()
            return found

        return call


def _ours(one: Table | Partition | Database) -> Parameters:
    return {**one.parameters, "ours": "1"}


@pytest.fixture
def users() -> SourceWriter:
    world = World()
    writer = SourceWriter.with_database(world.source, world.source_files, "sales")
    writer.create_table("plain", files=())
    writer.create_table("orders", keys=("p",))
    writer.add_partitions("orders", {("1",): [b"one"], ("2",): [b"two"]})
    return writer


def _as_hive_alters(users: SourceWriter, number: int) -> None:
    """Add a column and leave out the time of the last DDL, which the metastore sets anew."""
    users.add_columns("plain", [(f"added_{number}", "string")])
    users.set_parameters("plain", {DDL_TIME: str(4_000_000_000 + number)})


def test_table_that_is_altered_between_reading_and_writing_keeps_what_users_did(users: SourceWriter) -> None:
    between = _Between(users.metastore, "table", lambda: _as_hive_alters(users, 1))
    written = change_table(between, users.name("plain"), _ours)
    found = users.table("plain")
    assert written is not None and found.parameters["ours"] == "1"
    assert ("added_1", "string") in found.columns


def test_table_that_is_altered_time_and_again_is_left_alone(users: SourceWriter) -> None:
    numbers = iter(range(100))
    between = _Between(users.metastore, "table", lambda: _as_hive_alters(users, next(numbers)), times=100)
    with pytest.raises(ChangedMeanwhile):
        change_table(between, users.name("plain"), _ours)
    assert "ours" not in users.table("plain").parameters


def test_table_that_is_not_what_was_judged_stays(users: SourceWriter) -> None:
    asked: list[Table] = []
    assert change_table(users.metastore, users.name("plain"), lambda table: asked.append(table)) is None
    assert [one.name for one in asked] == [users.name("plain")]
    assert change_table(users.metastore, users.name("gone"), _ours) is None


def test_table_that_is_dropped_meanwhile_is_no_trouble(users: SourceWriter) -> None:
    between = _Between(users.metastore, "table", lambda: users.drop_table("plain"))
    assert change_table(between, users.name("plain"), _ours) is None


def test_partitions_are_written_as_they_are_and_not_as_they_were_listed(users: SourceWriter) -> None:
    names = users.metastore.partition_names(users.name("orders"))
    users.set_partition_location("orders", ("1",), "hdfs://east/elsewhere")
    assert change_partitions(users.metastore, users.name("orders"), names, _ours) == 2
    assert users.partition("orders", ("1",)).location == "hdfs://east/elsewhere"
    assert users.partition("orders", ("2",)).parameters["ours"] == "1"


def test_partition_that_is_dropped_before_all_are_written_does_not_keep_the_others(users: SourceWriter) -> None:
    names = users.metastore.partition_names(users.name("orders"))
    between = _Between(users.metastore, "partitions", lambda: users.drop_partitions("orders", [("1",)]))
    assert change_partitions(between, users.name("orders"), names, _ours) == 1
    assert users.partition("orders", ("2",)).parameters["ours"] == "1"


def test_partitions_of_a_table_that_is_gone_are_none(users: SourceWriter) -> None:
    names = users.metastore.partition_names(users.name("orders"))
    between = _Between(users.metastore, "partitions", lambda: users.drop_table("orders"))
    assert change_partitions(between, users.name("orders"), names, _ours) == 0


def test_database_gets_the_key_and_keeps_the_rest(users: SourceWriter) -> None:
    users.alter_database_parameters({"theirs": "2"})
    change_database(users.metastore, "sales", _ours)
    found = users.metastore.database("sales")
    assert found is not None and (found.parameters["ours"], found.parameters["theirs"]) == ("1", "2")
    assert change_database(users.metastore, "nowhere", _ours) is None
