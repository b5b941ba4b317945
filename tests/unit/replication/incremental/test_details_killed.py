"""Statistics and constraints bear no stamp: killed at any change, what is replayed of them harms nothing later."""

from dataclasses import replace

import pytest

from tests.support.builders import a_table
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import tuned
from tests.support.worlds.memory_comparison import claims
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_incremental_killed import follow_noticed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName

# What is changed before only writes the window down.
FIRST_APPLIED = 5
PLAIN, ORDERS = TableName("sales", "plain"), TableName("sales", "orders")
ONE = ("a b",)
KINDS = ("primary_key", "unique", "not_null", "default", "check")


def rename_column(users: SourceWriter, table: str) -> None:
    found = users.table(table)
    (name, kind), *others = found.columns
    users.metastore.alter_table(found.name, replace(found, columns=((f"{name}_too", kind), *others)))


def column_renamed(users: SourceWriter) -> None:
    users.update_statistics("plain")
    rename_column(users, "plain")


def column_of_partitions_renamed(users: SourceWriter) -> None:
    users.update_statistics("orders", ONE)
    users.delete_statistics("orders", ONE, "id")
    users.update_statistics("orders", ONE)
    rename_column(users, "orders")


def rows_after_statistics(users: SourceWriter) -> None:
    users.update_statistics("plain")
    users.insert("plain", None, [b"more"])
    users.update_statistics("orders", ONE)
    users.insert("orders", ONE, [b"more"])


def rows_replaced_after_statistics(users: SourceWriter) -> None:
    users.update_statistics("plain")
    users.overwrite("plain", None, [b"other"])
    users.update_statistics("orders", ONE)
    users.truncate("orders", [ONE])


def rows_replaced_around_statistics(users: SourceWriter) -> None:
    users.insert("plain", None, [b"first"])
    users.update_statistics("plain")
    users.truncate("plain")
    users.insert("orders", ONE, [b"first"])
    users.update_statistics("orders", ONE)
    users.overwrite("orders", ONE, [b"second"])


def statistics_deleted(users: SourceWriter) -> None:
    users.update_statistics("plain")
    users.delete_statistics("plain")
    users.update_statistics("plain")
    users.insert("plain", None, [b"more"])


def partition_dropped(users: SourceWriter) -> None:
    users.update_statistics("orders", ONE)
    users.delete_statistics("orders", ONE)
    users.update_statistics("orders", ONE)
    users.drop_partitions("orders", [ONE])


def partition_made_again(users: SourceWriter) -> None:
    users.update_statistics("orders", ONE)
    users.drop_partitions("orders", [ONE])
    users.add_partitions("orders", {ONE: [b"other"]})
    users.update_statistics("orders", ONE)
    users.rename_partition("orders", ONE, ("c",))
    users.insert("orders", ("c",), [b"more"])


def table_made_again(users: SourceWriter) -> None:
    users.create_table("made", files=[b"a"])
    users.update_statistics("made")
    users.add_constraint("made", "primary_key", "pk")
    users.drop_table("made")
    users.create_table("made", files=[b"b"])
    rename_column(users, "made")


def constrained_column_renamed(users: SourceWriter) -> None:
    for kind in KINDS:
        users.add_constraint("plain", kind, kind)
    rename_column(users, "plain")


def constrained_column_retyped_and_constrained_again(users: SourceWriter) -> None:
    for kind in KINDS:
        users.add_constraint("plain", kind, kind)
    users.change_type("plain", "bigint")
    users.add_constraint("plain", "not_null", "again")


def constraints_dropped_and_added(users: SourceWriter) -> None:
    for kind in KINDS:
        users.add_constraint("plain", kind, kind)
    for kind in KINDS:
        users.drop_constraint("plain", kind)
    users.add_constraint("plain", "unique", "check")
    users.insert("plain", None, [b"more"])


def foreign_key_dropped(users: SourceWriter) -> None:
    users.add_constraint("orders", "primary_key", "pk")
    users.add_constraint("plain", "foreign_key", "fk", "orders")
    users.drop_constraint("plain", "fk")
    users.insert("plain", None, [b"more"])


def foreign_key_stays(users: SourceWriter) -> None:
    users.create_table("a_child")
    users.create_table("parent")
    users.add_constraint("parent", "primary_key", "pk")
    users.add_constraint("a_child", "foreign_key", "fk", "parent")
    users.insert("a_child", None, [b"more"])
    users.insert("parent", None, [b"more"])


def key_referred_to_changes(users: SourceWriter) -> None:
    users.add_constraint("orders", "primary_key", "pk")
    users.add_constraint("plain", "foreign_key", "fk", "orders")
    for kind in ("bigint", "double"):
        users.change_type("orders", kind)
    users.add_constraint("orders", "primary_key", "pk")


def child_changes(users: SourceWriter) -> None:
    users.add_constraint("orders", "primary_key", "pk")
    users.add_constraint("plain", "foreign_key", "fk", "orders")
    for kind in ("bigint", "double"):
        users.change_type("plain", kind)


def parent_goes(users: SourceWriter) -> None:
    users.create_table("parent")
    users.add_constraint("parent", "primary_key", "pk")
    users.add_constraint("plain", "foreign_key", "fk", "parent")
    users.drop_table("parent")
    users.create_table("parent")
    users.add_constraint("parent", "primary_key", "pk")


HISTORIES = [
    value
    for value in list(globals().values())
    if callable(value) and list(getattr(value, "__annotations__", {})) == ["users", "return"]
]


def details(followed: Followed) -> tuple:
    """Return of which columns the replica has statistics, and which it says are accurate."""
    replica = followed.world.replica
    claimed = claims(replica)
    known = {(table, part): replica.column_statistics(TableName.parse(table), part or None) for table, part in claimed}
    return claimed, known


def undisturbed(history, consistency: str) -> tuple:
    followed = Followed(tuned(consistency=consistency))
    history(followed.users)
    followed.follow()
    followed.assert_twin()
    return details(followed)


@pytest.mark.thorough
@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_killed_at_any_change_details_come_to_the_same_end(history, consistency: str) -> None:
    wanted = undisturbed(history, consistency)

    def begin() -> Followed:
        followed = Followed(tuned(consistency=consistency))
        history(followed.users)
        return followed

    # The other order is looked at less densely.
    step = 1 if consistency == "every_event" else 3
    for followed in left_by_kills(begin, follow_noticed, step, first=FIRST_APPLIED):
        followed.follow()
        followed.follow()
        followed.assert_twin()
        assert details(followed) == wanted


@pytest.mark.thorough
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_both_consistencies_come_to_the_same_end(history) -> None:
    assert undisturbed(history, "every_event")[0] == undisturbed(history, "window_end")[0]


def test_an_error_of_another_table_does_not_make_statistics_one() -> None:
    followed = Followed()
    followed.users.update_statistics("plain")
    rename_column(followed.users, "plain")
    followed.users.create_table("late", files=[b"x"])
    late = TableName("sales", "late")
    followed.world.replica.create_table(a_table("sales.late"))
    with pytest.raises(ActNow, match=r"table sales\.late"):
        followed.follow()
    followed.world.replica.drop_table(late, delete_data=False)
    followed.follow()
    followed.assert_twin()
