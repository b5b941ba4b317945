"""A promotion has two witnesses: a metastore that is restored to before it makes no replica of a primary."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import copies_of, lease_of
from tests.support.worlds.external_world import ExternalWorld
from tests.support.worlds.fake_world import Killed, KillSwitch, backup, killable
from tests.unit.operations.failover import test_adopt
from tests.unit.operations.failover.test_failback import BACK, Switched
from tests.unit.operations.failover.test_failover import (
    HOLDER,
    assert_follows,
    parameters,
    planned,
    position,
    promotion,
    ready,
    unplanned,
)
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.directory_marks.staging import claim_staging
from twinhive.core.model.errors import ActNow, Refused
from twinhive.core.model.files import join
from twinhive.core.model.marks import PHASE, POLICY, Phase
from twinhive.core.step.promotion_note import (
    PromotionNote,
    promotion_note,
    promotion_note_path,
    write_promotion_note,
)
from twinhive.operations.failover.adopt import SEED, Adopt
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.promotion import PROMOTED, PROMOTED_AHEAD
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.runtime.pipeline.runner import run_bootstrap, run_whole

ROWS = b"rows of the new primary's users"


@pytest.fixture
def followed() -> Followed:
    return ready(Followed())


def users_of_west(followed: Followed) -> SourceWriter:
    return SourceWriter(followed.world.replica, followed.world.replica_files, "sales")


def use_west(followed: Followed) -> None:
    west = users_of_west(followed)
    west.insert("plain", None, {"rows_of_west": ROWS})
    west.add_partitions("orders", {("theirs",): [ROWS]})
    west.create_table("theirs", files=[ROWS])


def rows_of_west(followed: Followed) -> list[str]:
    files = followed.world.replica_files
    return [one for one in files.paths() if not files.status(one).is_directory and files.read(one) == ROWS]


def bring_over(followed: Followed) -> None:
    """Let the DAGs run that people have not paused: events, then what no event tells of, then housekeeping."""
    at_once = replace(followed.policy, options=replace(followed.policy.options, settle_seconds=0))
    for _ in range(3):
        followed.follow()
        run_whole("scan", at_once, followed.world.ports(), {"run": "s"}, followed.say)
        followed.world.source.pass_time(200_000)
        followed.world.replica.pass_time(200_000)


def restored(followed: Followed) -> Followed:
    """Take over, let users write, and restore the metastore to before that."""
    restore = backup(followed.world.replica)
    planned(followed).run(followed.world.ports())
    use_west(followed)
    restore()
    assert parameters(followed)[PHASE] == Phase.FOLLOWING.value
    return followed


def note_of(followed: Followed) -> PromotionNote | None:
    return promotion_note(followed.world.replica_files, followed.policy)


def test_nothing_is_brought_into_a_primary_whose_metastore_is_from_before_it_was_one(followed: Followed) -> None:
    restored(followed)
    rows = rows_of_west(followed)
    with pytest.raises(ActNow, match="as a note says, and its database does not: its metastore was restored") as raised:
        bring_over(followed)
    assert rows_of_west(followed) == rows and len(rows) == 3
    said = str(raised.value)
    assert f"--unplanned --at {position(followed)}" in said and promotion_note_path(followed.policy) in said
    followed.users.insert("plain", None, [b"by somebody at the old source"])
    with pytest.raises(ActNow, match="as a note says, and its database does not"):
        followed.follow()


def test_what_was_restored_says_again_that_it_has_taken_over_and_nothing_else_is_changed(followed: Followed) -> None:
    restored(followed)
    files = set(followed.world.replica_files.paths())
    at, tables = position(followed), followed.world.replica.table_names("sales")
    told = "\n".join(unplanned(followed, at).plan(followed.world.ports()))
    assert f"--unplanned --at {at}" in told and "restored" in told
    with pytest.raises(Refused, match="has not taken over at the event that was named"):
        unplanned(followed, at + 1).run(followed.world.ports())
    lines = unplanned(followed, at).run(followed.world.ports())
    assert any("says again that it has taken over" in line for line in lines)
    assert promotion(followed).position.event_id == at and promotion(followed).how.value == "planned"
    assert note_of(followed) == PromotionNote(at, promotion(followed).marks(), is_done=True)
    assert followed.world.replica.table_names("sales") == tables
    assert {one for one in files if "/lease/" not in one} <= set(followed.world.replica_files.paths())
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert note_of(followed) is None and not {PHASE, PROMOTED, POLICY} & parameters(followed).keys()
    assert len(rows_of_west(followed)) >= 2, "what its tables hold stays; what no table names is for forget to judge"


def test_what_users_say_of_a_database_while_it_is_put_back_stays(followed: Followed) -> None:
    restored(followed)
    replica, hold = followed.world.replica, followed.world.lease.hold

    class Proves:
        def __init__(self, lease: Any) -> None:
            self._lease, self._acts = lease, iter([{"team": "people"}])

        def confirm(self) -> None:
            self._lease.confirm()
            for said in self._acts:
                replica.set_database_parameters("sales", {**parameters(followed), **said})

    @contextmanager
    def held(*given: Any) -> Iterator[Proves]:
        with hold(*given) as lease:
            yield Proves(lease)

    followed.world.lease.hold = held  # type: ignore[method-assign]
    unplanned(followed).run(followed.world.ports())
    said = parameters(followed)
    assert (said.get("team"), said[PHASE]) == ("people", Phase.PROMOTED.value), said


def test_neither_an_abort_nor_forget_takes_a_restored_primary_for_a_replica(followed: Followed) -> None:
    restored(followed)
    rows, said = rows_of_west(followed), parameters(followed)
    for operation in (AbortFailover(followed.policy, HOLDER), Forget(followed.policy, HOLDER)):
        with pytest.raises(ActNow, match="as a note says, and its database does not"):
            operation.run(followed.world.ports())
    assert (rows_of_west(followed), parameters(followed)) == (rows, said)


@pytest.mark.parametrize("is_planned", [True, False])
def test_killed_at_any_change_and_restored_no_row_of_its_users_is_lost(followed: Followed, is_planned: bool) -> None:
    followed.users.overwrite("plain", None, {"data": b"other rows"})
    followed.follow()
    at, restore = position(followed), backup(followed.world.replica)

    def way(world: Followed) -> Failover | UnplannedFailover:
        return planned(world) if is_planned else unplanned(world, at)

    seen, begin, change, is_killed = set(), copies_of(followed), 0, True
    while is_killed:
        left, change = begin(), change + 1
        try:
            way(left).run(killable(left.world.ports(), KillSwitch(change, after_effect=False)))
            is_killed = False
        except Killed:
            lease_of(left).lose_holders()
        was_promoted = parameters(left)[PHASE] == Phase.PROMOTED.value
        if was_promoted:
            use_west(left)
        rows = rows_of_west(left)
        restore(left.world.replica)
        is_noted = note_of(left) is not None
        with suppress(ActNow):
            bring_over(left)
            assert not is_noted
        assert rows_of_west(left) == rows
        assert is_noted or not was_promoted
        seen.add((was_promoted, is_noted))
        if is_noted:
            unplanned(left, at).run(left.world.ports())
            assert parameters(left)[PHASE] == Phase.PROMOTED.value and rows_of_west(left) == rows
    assert seen >= {(False, False), (False, True), (True, True)}


def test_a_failover_that_was_killed_right_before_its_call_can_be_given_up(followed: Followed) -> None:
    said = {PROMOTED: "log-east:8:0:@log-west:1:0:#planned#sales"}
    write_promotion_note(followed.world.replica_files, followed.policy, PromotionNote(8, said))
    followed.users.insert("plain", None, [b"more"])
    with pytest.raises(ActNow, match="killed too early") as raised:
        followed.follow()
    assert "twinhive failover sales --abort" in str(raised.value)
    AbortFailover(followed.policy, HOLDER).run(followed.world.ports())
    assert note_of(followed) is None
    followed.follow()
    assert_follows(followed)


def test_a_planned_failover_that_was_killed_right_before_its_call_is_proved_again_and_ends(followed: Followed) -> None:
    said = {PROMOTED: "log-east:8:0:@log-west:1:0:#planned#sales"}
    write_promotion_note(followed.world.replica_files, followed.policy, PromotionNote(8, said))
    assert any(
        "as a note says, and its database does not" in line for line in planned(followed).plan(followed.world.ports())
    )
    planned(followed).run(followed.world.ports())
    assert note_of(followed) == PromotionNote(8, promotion(followed).marks(), is_done=True)


def test_a_planned_failover_of_what_was_restored_is_refused(followed: Followed) -> None:
    restored(followed)
    with pytest.raises(ActNow, match="as a note says, and its database does not"):
        planned(followed).run(followed.world.ports())
    assert parameters(followed)[PHASE] == Phase.FOLLOWING.value


def test_where_people_may_have_written_already_no_directory_is_taken_for_unused(followed: Followed) -> None:
    """The note of a try that was killed: its call may have been done, and the metastore be from before it."""
    followed.users.rename_partition("orders", ("a b",), ("renamed",))
    followed.users.insert("orders", ("renamed",), [b"old"])
    followed.follow()
    table = followed.world.replica.table(followed.users.name("orders"))
    [name] = [one for one in followed.world.replica.partition_names(table.name) if "renamed" in one]
    followed.users.drop_partitions("orders", [("renamed",)])
    followed.follow()
    said = {PROMOTED: f"log-east:{position(followed)}:0:@log-west:1:0:#planned#sales"}
    write_promotion_note(followed.world.replica_files, followed.policy, PromotionNote(position(followed), said))
    planned(followed).run(followed.world.ports())
    assert parameters(followed)[PHASE] == Phase.PROMOTED.value
    assert followed.world.replica_files.status(join(table.location, name)) is not None


def unreadable(followed: Followed) -> None:
    followed.world.replica_files.write(promotion_note_path(followed.policy), b"{")


def test_a_note_that_cannot_be_read_is_a_witness_all_the_same(followed: Followed) -> None:
    restored(followed)
    unreadable(followed)
    for change in (bring_over, lambda one: unplanned(one).run(one.world.ports())):
        with pytest.raises(ActNow, match="a text that cannot be read"):
            change(followed)
    assert parameters(followed)[PHASE] == Phase.FOLLOWING.value


def drop_and_begin_anew(followed: Followed) -> None:
    followed.world.replica.drop_database("sales")
    run_bootstrap(followed.policy, followed.world.ports(), {"run": "b2"}, followed.say)


def test_a_bootstrap_where_no_database_is_any_more_ends_the_note(followed: Followed) -> None:
    unplanned(followed).run(followed.world.ports())
    for table in followed.world.replica.table_names("sales"):
        followed.world.replica.drop_table(users_of_west(followed).name(table), delete_data=True)
    drop_and_begin_anew(followed)
    assert note_of(followed) is None
    assert_follows(followed)


def test_adopting_ends_the_note_of_what_was_there_before() -> None:
    world = test_adopt.seeded(**{SEED: "sales"})
    note = PromotionNote(8, {PROMOTED: "an old one"})
    claim_staging(world.replica_files, test_adopt.INSIDE)
    write_promotion_note(world.replica_files, test_adopt.INSIDE, note)
    Adopt(test_adopt.INSIDE, HOLDER).run(world.ports())
    test_adopt.follow(world)
    assert promotion_note(world.replica_files, test_adopt.INSIDE) is None


def test_there_and_back_a_note_stands_only_where_the_primary_is() -> None:
    switched = Switched()
    there, back = switched.there, BACK
    east, west = switched.world.source_files, switched.world.replica_files
    for _ in range(2):
        assert promotion_note(west, there) is not None
        switched.fail_back()
        assert promotion_note(west, there) is not None, "west is the primary still"
        Failover(back, HOLDER, wait=lambda seconds: None).run(switched.ports())
        assert promotion_note(east, back) is not None
        Failback(there, HOLDER).run(switched.world.ports())
        assert promotion_note(west, there) is None
        switched.go_on(there, switched.world.ports)
        Failover(there, HOLDER, wait=lambda seconds: None).run(switched.world.ports())


def test_external_data_is_not_brought_into_a_restored_primary_either() -> None:
    world = ExternalWorld()
    world.put("/data/events/f")
    world.cycle()
    listed, restore = world.listed(), backup(world.world.replica)
    UnplannedFailover(world.policy, 0, "east is gone", HOLDER).run(world.ports())
    world.world.replica_files.put("hdfs://west/ext/data/events/of_west", ROWS)
    restore()
    for again in (lambda: world.cycle(), lambda: world.sync(listed)):
        with pytest.raises(ActNow, match="as a note says, and its database does not"):
            again()
    assert world.there("/data/events")["of_west"] == ROWS


def test_a_promotion_that_is_put_back_names_what_was_newer(followed: Followed) -> None:
    marks = {PROMOTED: f"log-east:{position(followed)}:0:@log-west:1:0:#unplanned#sales", PROMOTED_AHEAD: "orders"}
    note = PromotionNote(position(followed), marks)
    write_promotion_note(followed.world.replica_files, followed.policy, note)
    unplanned(followed).run(followed.world.ports())
    assert promotion(followed).ahead == "orders"


def test_the_note_is_asked_once_for_each_lease_and_nothing_is_asked_of_the_metastore_without_one(
    followed: Followed,
) -> None:
    asked: list[str] = []
    original = followed.world.replica_files.status

    def status(path: str) -> Any:
        asked.append(path)
        return original(path)

    followed.users.insert("plain", None, [b"more"])
    followed.world.replica_files.status = status
    held: list[str] = []
    hold = followed.world.lease.hold

    def counted(directory: str, *given: Any) -> Any:
        held.append(directory)
        return hold(directory, *given)

    followed.world.lease.hold = counted
    followed.follow()
    ours = [one for one in held if one.endswith("/lease")]
    assert asked.count(promotion_note_path(followed.policy)) == len(ours) > 0
