"""Nothing of ours lies where Hive puts a new partition: one that is dropped and added again has no old rows."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.builders import a_partition
from tests.support.worlds.repl_world import ReplWorld
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Refused
from twinhive.core.model.marks import DIRECTORY_MARK
from twinhive.core.ports import MetastoreWriter
from twinhive.operations.actions.resync import Resync
from twinhive.operations.failover.forget import Forget

HOLDER = {"run": "ann"}


def come_back(replica: MetastoreWriter, files, names: list[str]) -> list[str]:
    """Drop partitions and add them as Hive does, without a place; return the files that are their rows then."""
    found = []
    (table,) = replica.tables("sales", ["orders"])
    for name in names:
        if name in replica.partition_names(table.name):
            replica.drop_partitions(table.name, [name], delete_data=True)
        replica.add_partitions([replace(a_partition(table, name.partition("=")[2]), location=None)])
        (there,) = replica.partitions(table.name, [name])
        assert there.location == f"{table.location}/{name}"
        found += [path for path in files.paths() if path.startswith(f"{there.location}/")]
    return found


def let_grow_old(followed: Followed) -> None:
    """Let what lies there be older than the grace: nobody can be writing it."""
    followed.world.replica_files.pass_time(followed.policy.options.grace_seconds + 1)


def after_a_load(followed: Followed) -> None:
    pass


def after_an_overwrite(followed: Followed) -> None:
    followed.users.overwrite("orders", ("a b",), {"f1": b"other"})
    followed.follow()


def after_a_truncation(followed: Followed) -> None:
    followed.users.truncate("orders", [("a b",)])
    followed.follow()


def after_a_drop(followed: Followed) -> None:
    followed.users.drop_partitions("orders", [("a b",)])
    followed.follow()


def after_a_drop_and_an_addition(followed: Followed) -> None:
    after_a_drop(followed)
    followed.users.add_partitions("orders", {("a b",): [b"new"]})
    followed.follow()


def after_a_resync(followed: Followed) -> None:
    Resync(followed.policy, "orders", HOLDER).run(followed.world.ports())
    followed.follow()


def after_a_rename_and_an_overwrite(followed: Followed) -> None:
    followed.users.rename_partition("orders", ("a b",), ("c",))
    followed.follow()
    followed.users.overwrite("orders", ("c",), {"f1": b"other"})
    followed.follow()


def after_a_rename_and_a_drop(followed: Followed) -> None:
    followed.users.rename_partition("orders", ("a b",), ("c",))
    followed.follow()
    followed.users.drop_partitions("orders", [("c",)])
    followed.follow()


WAYS = (
    after_a_load,
    after_an_overwrite,
    after_a_truncation,
    after_a_drop,
    after_a_drop_and_an_addition,
    after_a_resync,
    after_a_rename_and_an_overwrite,
    after_a_rename_and_a_drop,
)
NAMES = ["p=a b", "p=c", "p=no files"]


@pytest.mark.parametrize("way", WAYS)
def test_a_partition_that_is_dropped_and_added_again_after_forgetting_is_empty(way: Callable[[Followed], None]) -> None:
    followed = Followed()
    way(followed)
    let_grow_old(followed)
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert come_back(followed.world.replica, followed.world.replica_files, NAMES) == []


# Of a renamed partition what was replaced lies in its default place until a sweep, or until it is forgotten.
@pytest.mark.parametrize("way", WAYS[:-2])
def test_so_it_is_on_a_replica_that_follows(way: Callable[[Followed], None]) -> None:
    followed = Followed()
    way(followed)
    assert come_back(followed.world.replica, followed.world.replica_files, NAMES) == []


def test_a_replica_in_hives_places_leaves_nothing_either() -> None:
    repl = ReplWorld()
    repl.load(repl.dump(), hive_places=True)
    repl.users.overwrite("orders", ("a b",), {"f1": b"other"})
    repl.users.drop_partitions("orders", [("no files",)])
    repl.load(repl.dump(repl.status()))
    repl.world.replica_files.pass_time(repl.policy().options.grace_seconds + 1)
    Forget(repl.policy(), HOLDER).run(repl.world.ports())
    assert come_back(repl.world.replica, repl.world.replica_files, ["p=a b", "p=no files"]) == []


def test_a_directory_without_a_mark_is_not_looked_through_and_that_is_said() -> None:
    followed = Followed()
    (table,) = followed.world.replica.tables("sales", ["orders"])
    followed.world.replica_files.set_attribute(table.location, DIRECTORY_MARK, "")
    followed.world.replica_files.put(f"{table.location}/p=c/f", b"of whom?")
    forget = Forget(followed.policy, HOLDER)
    for lines in (forget.plan(followed.world.ports()), forget.run(followed.world.ports())):
        assert [line for line in lines if line.startswith(f"not looked through: {table.location} of sales.orders")]
    assert followed.world.replica_files.read(f"{table.location}/p=c/f") == b"of whom?"


def test_what_cannot_be_taken_away_keeps_the_marks_so_that_forgetting_can_be_repeated() -> None:
    followed = Followed()
    followed.world.replica_files.keeps_trash = True
    after_a_rename_and_a_drop(followed)
    let_grow_old(followed)
    followed.world.replica_files.forbidden.add("hdfs://west/user/hive")
    with pytest.raises(Refused):
        Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert followed.world.replica.database("sales").parameters["twinhive.policy"] == "sales"
    followed.world.replica_files.forbidden.clear()
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert come_back(followed.world.replica, followed.world.replica_files, NAMES) == []
