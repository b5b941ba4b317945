"""With `permissions: source` what is placed belongs to whom it belongs at the source, and permits the same."""

from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.worlds.fake_world import Killed, KillSwitch, World, a_world, killable, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused, Unexplained
from twinhive.core.model.files import Attributes, parent
from twinhive.core.model.policy import Policy
from twinhive.operations.actions.repair import Repair
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.transfer.staged.ownership import directories_around

OURS = tuned(permissions="source")
Said = tuple[str, str, int, tuple[str, ...]]


def own(files: InMemoryFiles, path: str, owner: str, permission: int = 0o750, acl: tuple[str, ...] = ()) -> None:
    """Give a path an owner, a group of that name, a permission, and an ACL, as `hdfs dfs -chown` and others do."""
    files.set_attributes(path, Attributes(owner=owner, group=f"{owner}s", permission=permission))
    if acl:
        files.set_attributes(path, Attributes(acl=acl))


def said(files: InMemoryFiles, path: str) -> Said:
    found = files.status(path)
    assert found is not None, path
    return found.owner, found.group, found.permission, files.acl(path)


def everything_owned(world: World) -> None:
    """Let each directory and file of the source's tables have an owner of its own."""
    files = world.source_files
    paths = {path for path in files.paths() if "/warehouse/" in path}
    paths |= {parent(path) for path in paths}
    for table in world.source.tables("sales", world.source.table_names("sales")):
        parts = world.source.partition_names(table.name) if table.partition_keys else []
        places = [one.location for one in world.source.partitions(table.name, parts)] if parts else []
        paths |= {place for place in [*places, table.location] if place and files.status(place)}
    for path in paths:
        number = crc32(path.encode())
        own(files, path, f"user{number}", 0o700 + number % 8, ("user:ann:rw-",) if number % 2 else ())


def assert_alike(followed: Followed, table: str) -> None:
    """Compare a table's directory, those of its partitions, and all files and directories in them."""
    world, name = followed.world, followed.users.name(table)
    east, west = world.source.table(name), world.replica.table(name)
    assert east is not None and west is not None
    places = [(east.location, west.location)]
    if east.partition_keys:
        names = world.source.partition_names(name)
        there = {one.values: one.location for one in world.replica.partitions(name, names)}
        places += [(one.location, there[one.values]) for one in world.source.partitions(name, names)]
    for here, copy in places:
        below = {here: copy}
        for path in world.source_files.paths():
            if path.startswith(f"{here}/") and "=" not in path.removeprefix(here) and "/_" not in path:
                below[path] = copy + path.removeprefix(here)
                below[parent(path)] = parent(below[path])
        for original, made in below.items():
            assert said(world.replica_files, made) == said(world.source_files, original), made


@pytest.fixture
def followed() -> Followed:
    world = a_world()
    everything_owned(world)
    return Followed(OURS, world)


def test_a_first_copy(followed: Followed) -> None:
    for table in ("orders", "plain", "empty", "no_partitions"):
        assert_alike(followed, table)


def test_what_events_bring(followed: Followed) -> None:
    users = followed.users
    users.create_table("made", files=[b"one"])
    users.create_table("days", keys=("p",))
    users.add_partitions("days", {("1",): [b"x"], ("empty",): []})
    users.overwrite("plain", None, {"o": b"other"})
    users.overwrite("orders", ("a b",), {"f": b"f"})
    everything_owned(followed.world)
    followed.follow()
    for table in ("made", "days", "plain", "orders"):
        assert_alike(followed, table)
    users.insert("days", ("empty",), [b"rows"])
    everything_owned(followed.world)
    followed.follow()
    assert_alike(followed, "days")


def test_what_a_repair_brings(followed: Followed) -> None:
    world, name = followed.world, followed.users.name("orders")
    (part,) = world.replica.partitions(name, ["p=a b"])
    world.replica_files.write(f"{part.location}/f1", b"xxx")
    Repair(OURS, ("orders",), {"run": "r"}).run(world.ports())
    followed.follow()
    assert_alike(followed, "orders")


def test_by_default_all_is_the_copying_users() -> None:
    world = a_world()
    everything_owned(world)
    followed = Followed(world=world)
    table = world.replica.table(followed.users.name("plain"))
    assert table is not None and not said(world.replica_files, table.location)[0].startswith("user")


@pytest.mark.thorough
def test_killed_at_any_change_a_rerun_gives_the_same(followed: Followed) -> None:
    users = followed.users
    for number in range(40):
        users.create_table(f"made{number}", keys=("p",))
        users.add_partitions(f"made{number}", {("1",): [b"x"], ("empty",): []})
        everything_owned(followed.world)
        switch = KillSwitch(number + 1, after_effect=bool(number % 2))
        try:
            followed.run_with(killable(followed.world.ports(), switch))
        except Killed:
            followed.follow()
        assert_alike(followed, f"made{number}")


def test_a_user_who_may_not_is_told_what_to_do(followed: Followed) -> None:
    def refuse(path: str, attributes: Attributes) -> None:
        raise Refused("Permission denied: only a superuser")

    followed.users.create_table("made", files=[b"one"])
    own(followed.world.source_files, followed.users.location("made"), "ann")
    followed.world.replica_files.set_attributes = refuse  # type: ignore[method-assign]
    with pytest.raises(ActNow, match="cannot be given the owner") as caught:
        followed.follow()
    assert "options.permissions: replica" in str(caught.value)


def test_for_an_answer_that_nobody_knows_another_try_comes_first(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_oddly(path: str, attributes: Attributes) -> None:
        raise Unexplained(f"{path}: refused")

    followed.users.create_table("made", files=[b"one"])
    own(followed.world.source_files, followed.users.location("made"), "ann")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(followed.world.replica_files, "set_attributes", answer_oddly)
        with pytest.raises(Unexplained, match="cannot be given the owner") as caught:
            followed.follow()
    assert "retries by itself. If it goes on, let the replica's connection be" in str(caught.value)
    followed.follow()
    assert_alike(followed, "made")


def test_without_the_source_what_is_staged_is_applied_all_the_same(followed: Followed) -> None:
    world = followed.world
    followed.users.create_table("made", files=[b"one"])
    everything_owned(world)
    run_phase(INCREMENTAL[:2], OURS, world.ports(), {"run": "i"}, lambda line: None)

    def dead(*_: Any, **__: Any) -> Any:
        raise AssertionError("the source is gone")

    world.source_files.status = dead  # type: ignore[method-assign]
    order = UnplannedFailover(OURS, 0, "gone", {"run": "f"})
    event_id = order.event_now(world.ports())
    replace(order, event_id=event_id).run(world.ports())
    table = world.replica.table(followed.users.name("made"))
    assert table is not None
    [(_, children)] = world.replica_files.list_directories([table.location])
    (placed,) = (one for one in children or () if not one.path.rpartition("/")[2].startswith("_"))
    assert placed.owner.startswith("user")


@pytest.mark.parametrize(
    ("path", "relative", "expected"),
    [
        ("hdfs://e/t/p=1/f", "f", [("hdfs://e/t/p=1", "hdfs://w/x")]),
        ("hdfs://e/t/s/f", "s/f", [("hdfs://e/t/s", "hdfs://w/x/s"), ("hdfs://e/t", "hdfs://w/x")]),
        ("hdfs://e/cmroot/f_abc", "f", []),
    ],
)
def test_directories_around_a_file(path: str, relative: str, expected: list[tuple[str, str]]) -> None:
    assert list(directories_around(path, relative, f"hdfs://w/x/{relative}")) == expected


def test_it_is_tuning() -> None:
    said: Policy = a_policy()
    assert said.options.permissions == "replica" and replace(said, options=OURS.options).fingerprint == said.fingerprint
