"""Random histories of changes, copies and kills: what a reader may read on north is what the primary holds."""

import random
from collections.abc import Callable

import pytest

from tests.support.seeds import cases
from tests.support.worlds.copies_world import CopiesWorld, a_placement
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.names import TableName
from twinhive.federation.placement.copies_status import copies_of

PARTITIONS = [("1",), ("a b/c:ü",), ("%2F",), ("10",)]


class Users:
    """Do something at random; what cannot be done now is left."""

    def __init__(self, world: CopiesWorld, chance: random.Random) -> None:
        self.world, self.users, self.chance, self.count = world, world.users, chance, 0

    def act(self) -> None:
        self.count += 1
        try:
            self.chance.choice(self._acts())()
        except (TwinhiveError, KeyError, IndexError, ValueError, AssertionError):
            return

    def _acts(self) -> list[Callable[[], object]]:
        table, values, content = (
            self.chance.choice("ab"),
            self.chance.choice(PARTITIONS),
            {f"f{self.count}": b"x" * self.count},
        )
        here = values if table == "a" else None
        return [
            lambda: self.users.create_table(table, ("day",) if table == "a" else ()),
            lambda: self.users.add_partitions("a", {values: content}),
            lambda: self.users.insert(table, here, content),
            lambda: self.users.overwrite(table, here, content),
            lambda: self.users.alter_partitions("a", [values], {"x": str(self.count)}),
            lambda: self.users.set_parameters(table, {"x": str(self.count)}),
            lambda: self.users.rename_partition("a", values, self.chance.choice(PARTITIONS)),
            lambda: self.users.drop_partitions("a", [values]),
            lambda: self.users.rename_table(table, self.chance.choice("ab")),
            lambda: self.users.drop_table(table) if self.chance.random() < 0.3 else None,
            lambda: self.users.truncate(table, [values] if table == "a" else None),
            lambda: self.world.files.put(f"{self.users.location(table, here)}/silent{self.count}", b"s"),
            lambda: self._write_below(self.users.location(table, here)),
            lambda: self.world.files.make_directories(f"{self.users.location(table, here)}/in/empty"),
        ]

    def _write_below(self, place: str) -> None:
        path = f"{place}/in/it/silent{self.count % 3}"
        if self.world.files.status(path) is not None:
            self.world.files.delete_file(path)
        self.world.files.put(path, b"x" * self.count)


def run_once(world: CopiesWorld, users: Users, chance: random.Random) -> None:
    """Run, mostly until a kill; users may go on while files are copied."""
    original = world.files.open

    def opened(path: str, **options: object) -> object:
        users.act()
        return original(path, **options)

    if chance.random() < 0.3:
        world.files.open = opened
    switch = KillSwitch(chance.randrange(1, 60), after_effect=chance.random() < 0.5)
    try:
        world.run(killable(world.ports(), switch))
    except (Killed, TwinhiveError):
        world.lease.lose_holders()
    finally:
        world.files.__dict__.pop("open", None)


@pytest.mark.parametrize("seed", cases(40, few=10, kind=7))
def test_no_copy_lies_whatever_happens_and_in_the_end_all_have_one(seed: int) -> None:
    chance = random.Random(seed)
    world = CopiesWorld(a_placement(options={"grace_seconds": chance.choice([0, 1000])}))
    users = Users(world, chance)
    users.users.create_table("a", ("day",))
    users.users.create_table("b")
    for _ in range(25):
        for _ in range(chance.randrange(4)):
            users.act()
        world.assert_no_copy_lies()
        run_once(world, users, chance)
        world.assert_no_copy_lies()
    world.settle()
    expected, left_out = [], set()
    for found in copies_of(world.ports(), world.placement):
        left_out |= {one.rpartition(": ")[0].removeprefix("sales.") for one in found.left_out}
        assert found.missing == 0
        reasons = [one.rpartition(": ")[2] for one in found.left_out]
        assert {reason for reason in reasons if not reason.startswith("its directory is, or lies in")} <= {
            "it has no directory"
        }
    for name in world.tables():
        table = world.metastore.table(TableName("sales", name))
        names = world.metastore.partition_names(table.name) if table.partition_keys else [""]
        expected += [f"{name} {one}".strip() for one in names if f"{name} {one}".strip() not in left_out]
    assert sorted(world.fresh()) == sorted(world.marked()) == sorted(expected)
    world.assert_no_copy_lies()
