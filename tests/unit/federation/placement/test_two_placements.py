"""Two placements of the same tables, and a move beside its own marks: none makes copies of another stale."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.worlds.copies_world import CopiesWorld
from tests.unit.federation.placement.test_marks_dated_anew import lose_marks
from tests.unit.federation.placement.test_move_primary import a_world, move, moving
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.ports import TreePorts, WritePorts
from twinhive.federation.placement.list_copies import CopiesListed, ListCopies
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase


def with_orders(*days: str) -> CopiesWorld:
    world = CopiesWorld()
    world.users.create_table("orders", ("day",))
    world.users.create_table("other", files={"o": b"o"})
    world.users.add_partitions("orders", {(day,): {"f": day.encode()} for day in days})
    world.settle()
    return world


class Far:
    """Another placement of the same tables, on west."""

    def __init__(self, world: CopiesWorld) -> None:
        self.world, self.files = world, InMemoryFiles("hdfs://west")
        self.placement = replace(
            world.placement,
            name="far",
            replica=DatabaseAddress("west", "sales"),
            staging_root="hdfs://west/twinhive/staging",
            copies=KeptCopies("hdfs://west/twinhive/copies", default_cluster="east"),
        )

    def run(self) -> CopiesListed:
        world, lease = self.world, InMemoryLease()
        ports = WritePorts(
            source=world.metastore,
            replica=world.metastore,
            source_files=world.files,
            replica_files=self.files,
            dump_files=self.files,
            lease=lease,
            source_marker=MetastoreMarker(world.metastore),
            trees=TreePorts(world.files, self.files, lease, world.files),
        )
        found: CopiesListed = run_phase(COPIES, self.placement, ports, {"run": "r"}, lambda line: None)["list_copies"]
        return found

    def settle(self) -> None:
        for _ in range(6):
            if self.run().idle:
                return
        raise AssertionError("it does not settle")


def test_two_placements_that_date_at_once_leave_each_other_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    world = with_orders(*"1234")
    far = Far(world)
    for _ in range(2):
        world.settle()
        far.settle()
    lose_marks(world)
    date, done = ListCopies._date_marks_anew, list[CopiesListed]()

    def with_far_between(one: ListCopies, *given: Any) -> int:
        if one.work.policy.name == "near" and not done:
            done.append(far.run())
        return date(one, *given)

    with monkeypatch.context() as patched:
        patched.setattr(ListCopies, "_date_marks_anew", with_far_between)
        world.run()
    again = far.run()
    assert (again.needed, again.unmarked) == (0, 0)


@pytest.mark.parametrize("table", ["plain", "orders"])
def test_a_move_goes_on_though_the_log_has_lost_the_marks_of_its_copies(table: str) -> None:
    world = a_world()
    mover, log = moving(table), world.metastore._log
    for _ in range(2):
        mover._copy(world.ports())  # and killed behind it
        for _ in range(3):
            log.emit("OPEN_TXN", None, None, {})
    log.expire(world.metastore.current_event_id() - 1)
    log.emit("OPEN_TXN", None, None, {})
    move(world, table)
