"""What people, and clocks, do to the primary while its copies are made, on a real metastore and two real HDFS."""

import itertools
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.integration.one_metastore.test_copies import Placed, placed
from tests.support.worlds.copies_world import contents
from tests.support.worlds.fake_world import Killable
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.files import Attributes
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.model.sets.own_tables import COPY_MARKS
from twinhive.core.ports.proved_writes import unproved
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase

pytestmark = [pytest.mark.sandbox, pytest.mark.spark, pytest.mark.thorough]
__all__ = ["placed"]
DAY, OTHER = ("1",), ("a b/c:ü",)


def set_time(placed: Placed, place: str, seconds: float) -> None:
    placed.east.set_attributes(place, Attributes(modified_ms=int((time.time() + seconds) * 1_000)))


def state(placed: Placed, place: str) -> DirectoryState:
    status = placed.east.status(place)
    assert status is not None
    return DirectoryState.of(status)


@pytest.mark.parametrize("is_copied", [False, True], ids=["before it has a copy", "when it has one"])
def test_a_directory_of_a_time_to_come_has_no_copy_as_nothing_shows_who_writes_there(
    placed: Placed, is_copied: bool
) -> None:
    if is_copied:
        placed.settle()
    place = placed.users.location("plain")
    set_time(placed, place, 600)
    before = state(placed, place)
    placed.east.write(f"{place}/late", b"late")
    assert state(placed, place) == before, "HDFS set a time back"
    placed.settle()
    assert [name for name, (_, mark) in placed.marks().items() if mark is None] == ["plain"]
    told = placed.type("copies", placed.name)["placements"][0]
    left_out = [line for table in told["tables"] for line in table["left_out"]]
    assert len(left_out) == 1 and "of a time to come" in left_out[0], left_out
    set_time(placed, place, -1)
    placed.settle()
    placed.assert_copied()


class Unanswered:
    """Let a user act before the n-th call that changes the metastore, and lose the answer to that call."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self._left, self._act, self.was_there = at, act, False

    def change(self, effect: Callable[[], object]) -> object:
        self._left -= 1
        if self._left:
            return effect()
        self.was_there = True
        self._act()
        effect()
        raise Unreachable("no answer", found="a time-out", expected="an answer", next_step="try again")


def switched(placed: Placed, number: int) -> None:
    """Be a user who lets a partition name a new directory, and removes the old one, as Hive's INSERT OVERWRITE may."""
    old = placed.users.location("orders", DAY)
    new = f"{placed.users.location('orders')}/day=1 of {number}"
    placed.east.write(f"{new}/n", b"switched %d" % number)
    placed.users.set_partition_location("orders", DAY, new)
    placed.east.delete(old)


def test_what_a_user_switches_while_a_run_looks_stays_though_the_answer_to_our_call_is_lost(placed: Placed) -> None:
    """And nothing of people's is written at all: the log tells of no other event of their tables than their own."""
    metastore, users = placed.metastore, placed.users
    for at in itertools.count(1):
        users.insert("plain", None, {f"more {at}": b"more"})
        users.insert("orders", OTHER, {f"more {at}": b"more"})
        wiring = placed.policies.wiring(placed.name)
        moment = Unanswered(at, lambda at=at: switched(placed, at))
        ports = wiring.write_ports()
        lost = replace(ports, replica=Killable(unproved(ports.replica), moment))  # type: ignore[arg-type]
        begin = metastore.current_event_id()
        with suppress(Unreachable):
            run_phase(COPIES, wiring.policy, lost, {"run": "lost"}, lambda line: None)
        if not moment.was_there:
            break
        assert contents(placed.east, users.location("orders", DAY)) == {"n": b"switched %d" % at}
        placed.settle()
        assert contents(placed.east, users.location("orders", DAY)) == {"n": b"switched %d" % at}
        placed.assert_copied()
        rows = [row for row in metastore.events_after(begin, 1_000) if row.database == placed.database]
        of_people = [(row.event_type, row.table) for row in rows if row.table != COPY_MARKS.name]
        assert of_people == [("ALTER_PARTITION", "orders")], of_people
    assert at > 4, "a run makes more calls than that"
