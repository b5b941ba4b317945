"""Copies that users have made become the placement's: what is equal, and nothing else."""

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.copies_world import CopiesWorld, contents
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.unit.federation.placement.test_copies import EVERYTHING, a_world
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import join
from twinhive.core.model.names import TableName
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.publish_copies import PublishCopies
from twinhive.federation.placement.users_copies import TakeCopies

THEIRS = "hdfs://north/user/ann/"
DAY = "a b%2Fc%3Aü"


def copied_by_a_user() -> CopiesWorld:
    """Return a world in which a user has copied both tables, as distcp does."""
    world = a_world()
    for table in ("plain", "orders"):
        root = world.users.table(table).location
        for relative, content in contents(world.files, root).items():
            world.north.put(join(f"{THEIRS}{table}", relative), content)
    return world


def taking(world: CopiesWorld, table: str) -> TakeCopies:
    return TakeCopies(world.placement, TableName("sales", table), f"{THEIRS}{table}", {"run": "take"})


def take(world: CopiesWorld, switch: object = None) -> list[str]:
    ports = world.ports() if switch is None else killable(world.ports(), switch)  # type: ignore[arg-type]
    return [line for table in ("plain", "orders") for line in taking(world, table).run(ports)]


def copied(world: CopiesWorld) -> int:
    """Return how many files were copied between the clusters until all is there."""
    before = world.north.calls["create_from"]
    world.settle()
    return world.north.calls["create_from"] - before


def test_what_equals_its_original_is_not_copied_again() -> None:
    world = copied_by_a_user()
    plans = [line for table in ("plain", "orders") for line in taking(world, table).plan(world.ports())]
    assert contents(world.north, f"{THEIRS}plain") == {"f": b"plain", "sub dir/g": b"below"}
    said = take(world)
    assert [line.replace("would be", "is") for line in plans] == said
    assert said[0] == "sales.plain is taken over: 2 files" and f"sales.orders day={DAY} is taken over: 2 files" in said
    assert copied(world) == 0
    world.assert_complete(*EVERYTHING)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda north: north.put(f"{THEIRS}plain/f", b"other"), "f is another file"),
        (lambda north: north.put(f"{THEIRS}plain/f", b"longer than it"), "f is another file"),
        (lambda north: north.delete(f"{THEIRS}plain/sub dir"), "no sub dir/g"),
        (lambda north: north.put(f"{THEIRS}plain/h", b"x"), "h, which the original has not"),
    ],
)
def test_what_differs_stays_and_is_copied_as_ever(spoil, says: str) -> None:
    world = copied_by_a_user()
    spoil(world.north)
    theirs = contents(world.north, f"{THEIRS}plain")
    assert take(world)[0] == f"sales.plain stays to be copied: {says}"
    assert contents(world.north, f"{THEIRS}plain") == theirs
    assert copied(world) == 2
    world.assert_complete(*EVERYTHING)


def test_an_original_that_changes_afterwards_is_copied_anew() -> None:
    world = copied_by_a_user()
    take(world)
    world.users.overwrite("orders", ("1",), {"a": b"two"})
    assert copied(world) == 1
    world.assert_complete(*EVERYTHING)


def test_killed_at_any_change_it_goes_on_and_no_copy_lies() -> None:
    for world in left_by_kills(copied_by_a_user, take):
        take(world)
        world.settle()
        world.assert_complete(*EVERYTHING)


def test_where_nothing_needs_a_copy_that_is_said() -> None:
    world = copied_by_a_user()
    world.settle()
    with pytest.raises(ActNow, match=r"(?s)nothing of sales\.plain needs a copy.*1 copies, each of them fresh"):
        taking(world, "plain").run(world.ports())
    with pytest.raises(ActNow, match=r"(?s)nothing of sales\.recent needs a copy.*a view is not copied"):
        taking(world, "recent").run(world.ports())


def test_files_of_tables_and_of_our_own_are_not_moved() -> None:
    world = copied_by_a_user()
    world.settle()
    ours = world.marked()["plain"][1].location
    world.users.insert("plain", None, {"more": b"more"})
    world.users.create_table("of_ann", location=f"{THEIRS}plain")
    world.users.create_table("elsewhere", ("day",))
    world.users.add_partitions("elsewhere", {("1",): {}})
    world.users.set_partition_location("elsewhere", ("1",), f"{THEIRS}orders/day=1")
    for directory, says in (
        (f"{THEIRS}orders", "partition day=1 of table sales.elsewhere"),
        (f"{THEIRS}plain", "table sales.of_ann"),
        (THEIRS.rstrip("/"), "table sales.of_ann"),
        (ours, "bears the mark copies:near"),
    ):
        taken = TakeCopies(world.placement, TableName("sales", "plain"), directory, {"run": "take"})
        before = world.north.paths()
        with pytest.raises(ActNow, match="is no copy that a user has made") as refused:
            taken.run(world.ports())
        assert says in str(refused.value)
        assert world.north.paths() == before


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_is_replaced_after_it_was_compared_is_not_taken(when: str) -> None:
    """Right before it is moved, and between the look and the move."""
    world = copied_by_a_user()
    rename, status = world.north.rename, world.north.status
    path = f"{THEIRS}plain/f"

    def renamed(source: str, target: str) -> bool:
        if source == path:
            world.north.put(path, b"other")
        return rename(source, target)

    def looked(one: str) -> object:
        if one == path:
            world.north.put(path, b"other")
        return status(one)

    world.north.rename, world.north.status = (rename, looked) if when == "before" else (renamed, status)  # type: ignore
    assert taking(world, "plain").run(world.ports())[0].endswith("f has changed since it was compared")
    world.north.rename, world.north.status = rename, status  # type: ignore[method-assign]
    assert world.north.read(path) == b"other"
    world.settle()
    world.assert_complete(*EVERYTHING)


def replaced_when_it_is_moved(world: CopiesWorld, path: str) -> None:
    """Let a user replace a file between our last look at it and our move."""
    rename = world.north.rename

    def renamed(source: str, target: str) -> bool:
        if source == path:
            world.north.rename = rename  # type: ignore[method-assign]
            world.north.put(path, b"other")
        return rename(source, target)

    world.north.rename = renamed  # type: ignore[method-assign]


@pytest.mark.parametrize("after_effect", [False, True])
def test_killed_at_any_change_no_replaced_file_is_in_staging_and_it_gets_its_name_back(after_effect: bool) -> None:
    path, at, is_through = f"{THEIRS}plain/f", 0, False
    while not is_through:
        at, world = at + 1, copied_by_a_user()
        replaced_when_it_is_moved(world, path)
        try:
            take(world, KillSwitch(at, after_effect=after_effect))
            is_through = True
        except Killed:
            world.lease.lose_holders()
        world.north.__dict__.pop("rename", None)
        content = {one: world.north.read(one) for one in world.north.paths() if not is_directory(world, one)}
        assert not [one for one, said in content.items() if said == b"other" and "/staging/" in one], at
        was_replaced = b"other" in content.values()
        take(world)
        assert not was_replaced or world.north.read(path) == b"other", at
        world.settle()
        world.assert_complete(*EVERYTHING)
    assert at > 10


def is_directory(world: CopiesWorld, path: str) -> bool:
    status = world.north.status(path)
    return status is not None and status.is_directory


def test_what_is_taken_while_a_run_copies_is_not_copied_again() -> None:
    """The run has listed before, and knows nothing of it."""
    world = a_world()
    listed = ListCopies(Work(world.placement)).run(world.ports())
    for batch in listed.batches:
        CopyObjects(Work(world.placement, batch=batch.name, dump=listed.dump)).run(world.ports())
    world.users.add_partitions("orders", {("9",): {"n": b"nine"}})
    world.north.put(f"{THEIRS}orders/day=9/n", b"nine")
    assert "sales.orders day=9 is taken over: 1 files" in taking(world, "orders").run(world.ports())
    PublishCopies(Work(world.placement)).run(world.ports())
    assert copied(world) == 0
    world.assert_complete(*EVERYTHING, "orders day=9")
    assert not [one for one in world.north.paths() if "/base/" in one or one.endswith("taken.json")]
