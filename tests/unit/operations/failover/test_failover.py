"""A replica takes over: proved equal, or at the event it has reached; killed at any change; refused where it must."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.external_world import ExternalWorld
from tests.support.worlds.fake_world import REPLICA_ADDRESS, killable, tuned
from tests.unit.operations.failover.test_readiness import READY
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import (
    ActNow,
    Foreign,
    InvalidSettings,
    LeaseHeld,
    LeaseLost,
    Missing,
    Promoted,
    Refused,
    TryAgain,
    Unreachable,
)
from twinhive.core.model.files import join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import LAST_ID, PHASE, POLICY, TARGET_FOR, Phase
from twinhive.core.model.quarantine import with_frozen
from twinhive.core.ports.proved_writes import unproved
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.promotion import PROMOTED, How, Promotion
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.operations.operation_kinds import KINDS, OperationFields, operation_of
from twinhive.replication.incremental.event_reached import missing_of_database
from twinhive.replication.replica.begun_window import note_begun_window
from twinhive.runtime.pipeline.phases import PHASES, stages_of
from twinhive.runtime.pipeline.runner import run_whole
from twinhive.runtime.pipeline.switches import FAILOVER, SWITCHES
from twinhive.transfer.tree.work_directories import Places

HOLDER = {"run": "terminal-1", "task": "failover", "by": "ann"}
PARTITIONED = ("orders", "no_partitions")


def ready(followed: Followed) -> Followed:
    followed.world.replica.configurations[REPLICA_ADDRESS] |= READY
    return followed


@pytest.fixture
def followed() -> Followed:
    return ready(Followed())


def planned(followed: Followed, meanwhile: Callable[[], object] = lambda: None) -> Failover:
    return Failover(followed.policy, HOLDER, wait=lambda seconds: meanwhile())


def unplanned(followed: Followed, event_id: int | None = None) -> UnplannedFailover:
    return UnplannedFailover(followed.policy, event_id or position(followed), "east is gone", HOLDER)


def parameters(followed: Followed) -> dict[str, str]:
    return dict(followed.world.replica.database("sales").parameters)


def position(followed: Followed) -> int:
    return int(parameters(followed)[LAST_ID])


def promotion(followed: Followed) -> Promotion:
    found = Promotion.read(parameters(followed))
    assert found is not None
    return found


def assert_follows(followed: Followed) -> None:
    said = parameters(followed)
    assert said[PHASE] == Phase.FOLLOWING.value
    assert PROMOTED not in said
    followed.users.insert("plain", None, [b"later"])
    followed.follow()
    followed.assert_twin()


def test_an_equal_replica_takes_over_and_no_hive_calls_it_a_replica(followed: Followed) -> None:
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    at, ours = position(followed), followed.world.replica.current_event_id()
    lines = planned(followed).run(followed.world.ports())
    found, said = promotion(followed), parameters(followed)
    assert (found.how, found.position.event_id, found.source_log) == (How.PLANNED, at, "log-east")
    assert found.begin.event_id == ours
    assert not {LAST_ID, TARGET_FOR} & said.keys()
    assert said[POLICY] == followed.policy.name
    assert any("equal at event" in line for line in lines) and any("keep writers away" in line for line in lines)
    assert planned(followed).run(followed.world.ports()) == planned(followed).plan(followed.world.ports()) == lines[-2:]
    assert unplanned(followed, at).run(followed.world.ports()) == lines[-2:]


def test_a_terminal_takes_the_steps_of_the_dag_in_their_order(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def noted(step: str, stage: str) -> None:
        real = getattr(Failover, step)
        monkeypatch.setattr(Failover, step, lambda *given: [taken.append(stage), real(*given)][1])

    for step, stage in (("fence", "fence"), ("prove_quiet", "prove_quiet"), ("prove_equal", "verify")):
        noted(step, stage)
    noted("promote", "promote")
    Failover(followed.policy, HOLDER, wait=lambda seconds: None, catch_up=lambda token: taken.append("catch_up")).run(
        followed.world.ports()
    )
    before = ["prepare", "approve", "fence", "start_external"]
    assert [stage.name for stage in SWITCHES[FAILOVER]] == [*before, *taken[1:]]
    assert taken[0] == "fence"


def test_the_source_must_be_quiet_for_as_long_as_the_policy_says(followed: Followed) -> None:
    waited: list[float] = []
    Failover(replace(followed.policy, quiet_seconds=90.0), HOLDER, wait=waited.append).run(followed.world.ports())
    assert waited[0] == 90.0


def test_nothing_is_brought_into_it_from_then_on(followed: Followed) -> None:
    planned(followed).run(followed.world.ports())
    before = parameters(followed)
    followed.users.insert("plain", None, [b"too late"])
    for phase in PHASES:
        if phase == "external":
            continue
        with pytest.raises(Promoted, match="has taken over"):
            run_whole(phase, followed.policy, followed.world.ports(), {"run": "r"}, followed.say)
    fields = {"table": "plain", "event_id": 3, "reason": "why"}
    for kind in KINDS.values():
        if kind.name.startswith("fail") or kind.name in ("status", "forget", "pause", "unpause", "unlock"):
            continue
        given = OperationFields(**{name: fields[name] for name in kind.needs})
        with pytest.raises(Promoted):
            operation_of(kind.name, followed.policy, HOLDER, given).run(followed.world.ports())
    with pytest.raises(Promoted, match="no event reaches it"):
        missing_of_database(followed.policy.name, before, 3, None, position=False)
    assert parameters(followed) == before
    rows = dict(read_status(followed.world.ports(), followed.policy).rows())
    assert rows["phase"] == "promoted"


def test_it_is_told_also_where_the_old_source_does_not_answer(followed: Followed) -> None:
    """Who is called at night must not read of a server that is gone for good, and try again."""
    planned(followed).run(followed.world.ports())
    silent(followed)
    for phase in PHASES:
        if phase == "external":
            continue
        with pytest.raises(Promoted, match="has taken over"):
            run_whole(phase, followed.policy, followed.world.ports(), {"run": "r"}, followed.say)
    for stage in [one for phase in PHASES if phase != "external" for one in stages_of(phase) if not one.mapped_over]:
        with suppress(ActNow):  # what a person reads; nothing is tried again
            stage.step(Work(followed.policy)).run(followed.world.ports())


def test_a_policy_whose_replica_stays_the_primary_is_ended(followed: Followed) -> None:
    planned(followed).run(followed.world.ports())
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert not {PHASE, PROMOTED, POLICY} & parameters(followed).keys()


def behind(followed: Followed) -> None:
    followed.users.insert("plain", None, [b"more"])


def frozen(followed: Followed) -> None:
    said = with_frozen(parameters(followed), "plain", "4 broken")
    followed.world.replica.set_database_parameters("sales", said)


def without_a_log(followed: Followed) -> None:
    followed.world.replica.configurations[REPLICA_ADDRESS]["metastore.transactional.event.listeners"] = ""


def written_silently(followed: Followed) -> None:
    followed.world.source_files.put(f"{followed.users.location('plain')}/silent", b"s")


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (behind, TryAgain, "is not at the source's newest event"),
        (frozen, ActNow, "quarantined"),
        (without_a_log, Refused, "keeps no notification log"),
        (written_silently, TryAgain, "is not proved equal"),
    ],
)
def test_what_is_in_the_way_is_said_and_nothing_is_changed(
    followed: Followed, spoil: Callable[[Followed], None], error: type[Exception], says: str
) -> None:
    spoil(followed)
    before = parameters(followed)
    with pytest.raises(error, match=says):
        planned(followed).run(followed.world.ports())
    assert parameters(followed) == before


def test_a_source_that_is_written_is_not_left(followed: Followed) -> None:
    with pytest.raises(ActNow, match=r"(?s)is still written.*INSERT plain"):
        planned(followed, lambda: followed.users.insert("plain", None, [b"late"])).run(followed.world.ports())
    followed.follow()
    assert_follows(followed)


def test_who_writes_what_no_policy_brings_does_not_keep_others_from_a_failover(followed: Followed) -> None:
    iceberg = {"table_type": "ICEBERG", "metadata_location": "v1", "storage_handler": "iceberg"}
    followed.users.create_table("ice", files=(), parameters=iceberg)
    followed.follow()
    versions = iter(range(100))
    planned(followed, lambda: followed.users.set_parameters("ice", {"metadata_location": f"v{next(versions)}"})).run(
        followed.world.ports()
    )
    assert promotion(followed).how is How.PLANNED
    assert next(versions) > 0, "they have written meanwhile"


def test_a_table_that_is_renamed_and_becomes_one_that_no_policy_brings_is_news(followed: Followed) -> None:
    def rename() -> None:
        followed.users.rename_table("plain", "other")
        followed.users.set_parameters("other", {"transactional": "true"})

    with pytest.raises(ActNow, match=r"(?s)is still written.*ALTER_TABLE"):
        planned(followed, rename).run(followed.world.ports())


def test_a_table_that_becomes_one_that_no_policy_brings_is_news(followed: Followed) -> None:
    def turn() -> None:
        followed.users.set_parameters("plain", {"transactional": "true", "transactional_properties": "insert_only"})

    with pytest.raises(ActNow, match=r"(?s)is still written.*ALTER_TABLE plain"):
        planned(followed, turn).run(followed.world.ports())


@pytest.mark.parametrize("is_applied", [False, True])
def test_what_is_written_while_both_sides_are_compared_is_noticed(followed: Followed, is_applied: bool) -> None:
    original, calls = followed.world.replica.set_database_parameters, []
    ports = followed.world.ports()

    def release(*_: object, **__: object) -> None:
        raise AssertionError("it was promoted")

    replica = unproved(ports.replica)
    listing = replica.table_names

    def listed(database: str) -> list[str]:
        if not calls:
            calls.append(database)
            followed.users.insert("plain", None, [b"late"])
            if is_applied:
                followed.world.replica.set_database_parameters = original
                followed.follow()
                followed.world.replica.set_database_parameters = release
        return listing(database)

    followed.world.replica.set_database_parameters = release
    operation = Failover(followed.policy, HOLDER, wait=lambda seconds: setattr(replica, "table_names", listed))
    try:
        with pytest.raises((ActNow, TryAgain), match="is still written" if is_applied else None):
            operation.run(ports)
    finally:
        followed.world.replica.set_database_parameters = original
    assert calls


@pytest.mark.parametrize("is_planned", [True, False])
def test_killed_at_any_change_it_follows_or_has_taken_over_and_a_rerun_ends_alike(
    followed: Followed, is_planned: bool
) -> None:
    followed.users.overwrite("plain", None, {"data": b"other rows"})
    followed.follow()
    at = position(followed)

    def way(world: Followed) -> Failover | UnplannedFailover:
        return planned(world) if is_planned else unplanned(world, at)

    def act(world: Followed, switch: Any) -> None:
        way(world).run(killable(world.world.ports(), switch))

    for left in left_by_kills(lambda: followed, act):
        said = parameters(left)
        if said[PHASE] == Phase.FOLLOWING.value:
            assert said[LAST_ID] == str(at)
        way(left).run(left.world.ports())
        assert promotion(left).position.event_id == at


class Asked:
    """Pass everything on to a metastore, and count its calls."""

    def __init__(self, port: Any) -> None:
        self._port, self.calls = port, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)

        def counted(*given: Any, **named: Any) -> Any:
            self.calls[name] += 1
            return found(*given, **named)

        return counted if callable(found) else found


@pytest.mark.parametrize("has_ended", [True, False])
def test_a_promotion_asks_for_stamps_of_partitions_only_where_a_window_has_not_ended(
    followed: Followed, has_ended: bool
) -> None:
    """Then in bulk: once for what the plan names, once under the lease."""
    followed.users.create_table("large", keys=("p",))
    followed.users.add_partitions("large", {(str(number),): {"f": b"x"} for number in range(100)})
    followed.follow()
    if not has_ended:
        note_begun_window(followed.world.replica_files, followed.policy, position(followed) + 1)
    asked, tables = Asked(followed.world.replica), 0 if has_ended else len(PARTITIONED) + 1
    unplanned(followed).run(replace(followed.world.ports(), replica=asked))
    assert promotion(followed).how is How.UNPLANNED
    assert asked.calls["partition_names"] == 2 * tables and asked.calls["partitions"] <= 2 * tables
    assert "partition_locations" not in asked.calls
    assert asked.calls.total() - asked.calls["partition_names"] - asked.calls["partitions"] <= 30, asked.calls


def test_rows_of_a_dropped_partition_in_hives_own_place_do_not_come_back(followed: Followed) -> None:
    """A renamed partition lies there: who adds one of its name on the new primary must not find old rows."""
    followed.users.rename_partition("orders", ("a b",), ("renamed",))
    followed.users.insert("orders", ("renamed",), [b"old"])
    followed.follow()
    table = followed.world.replica.table(followed.users.name("orders"))
    (name,) = [one for one in followed.world.replica.partition_names(table.name) if "renamed" in one]
    place = join(table.location, name)
    followed.users.drop_partitions("orders", [("renamed",)])
    followed.follow()
    assert followed.world.replica_files.status(place) is not None
    followed.world.replica_files.pass_time(followed.policy.options.grace_seconds + 1)
    lines = unplanned(followed).run(followed.world.ports())
    assert followed.world.replica_files.status(place) is None
    assert any(place in line for line in lines)


def silent(followed: Followed) -> Followed:
    """Let nobody answer at the source any more."""

    def gone(*_: object, **__: object) -> object:
        raise Unreachable("the source does not answer")

    for side in (followed.world.source, followed.world.source_files):
        for name in dir(type(side)):
            if not name.startswith("_") and callable(getattr(side, name)):
                setattr(side, name, gone)
    return followed


def test_unplanned_it_takes_over_where_it_is_and_asks_nothing_of_the_source(followed: Followed) -> None:
    followed.users.insert("plain", None, [b"lost"])
    followed.world.replica.set_database_parameters("sales", with_frozen(parameters(followed), "orders", "4 broken"))
    at = position(followed)
    silent(followed)
    told = "\n".join(unplanned(followed).plan(followed.world.ports()))
    assert f"after event {at}" in told and "quarantined: orders" in told and f"--at {at}" in told
    lines = unplanned(followed).run(followed.world.ports())
    assert "reason: east is gone" in lines
    assert (promotion(followed).how, promotion(followed).position.event_id) == (How.UNPLANNED, at)


def test_who_names_another_event_has_not_seen_what_is_lost(followed: Followed) -> None:
    with pytest.raises(Refused, match="cannot take over at the event that was named"):
        unplanned(followed, position(followed) + 1).run(followed.world.ports())
    with pytest.raises(InvalidSettings, match="reason is missing"):
        replace(unplanned(followed), reason=" ").run(followed.world.ports())
    assert_follows(followed)


def test_in_the_middle_of_a_window_whose_states_are_mixed_it_is_refused() -> None:
    followed = ready(Followed(tuned(consistency="window_end")))
    table = followed.world.replica.table(followed.users.name("plain"))
    stamp = f"log-east:{position(followed) + 5}"
    followed.world.replica.alter_table(table.name, table.with_parameters({**table.parameters, "twinhive.stamp": stamp}))
    with pytest.raises(ActNow, match=r"(?s)in the middle of a window.*plain"):
        unplanned(followed).run(followed.world.ports())
    with pytest.raises(ActNow, match="in the middle of a window"):
        unplanned(followed).plan(followed.world.ports())
    every = replace(followed.policy, options=replace(followed.policy.options, consistency="every_event"))
    replace(unplanned(followed), policy=every).run(followed.world.ports())
    assert promotion(followed).how is How.UNPLANNED and promotion(followed).ahead == "plain"


@pytest.mark.parametrize(
    ("change", "error"),
    [({POLICY: "other"}, Foreign), ({PHASE: "loading"}, ActNow), (None, Missing)],
)
def test_what_is_no_replica_does_not_take_over(
    followed: Followed, change: dict[str, str] | None, error: type[Exception]
) -> None:
    if change is None:
        followed.world.replica.drop_database("sales")
    else:
        followed.world.replica.set_database_parameters("sales", {**parameters(followed), **change})
    for way in (planned(followed), UnplannedFailover(followed.policy, 1, "why", HOLDER)):
        with pytest.raises(error):
            way.run(followed.world.ports())
        with pytest.raises(error):
            way.plan(followed.world.ports())


def test_an_apply_that_wakes_up_after_the_promotion_changes_nothing(followed: Followed) -> None:
    followed.users.insert("plain", None, [b"more"])
    ports, woken = followed.world.ports(), []
    original = followed.world.replica.alter_table

    def late(*given: object, **named: object) -> object:
        followed.world.replica.alter_table = original
        with pytest.raises(LeaseHeld, match="is being changed by other work"):
            unplanned(followed).run(followed.world.ports())
        Unlock(followed.policy, HOLDER).run(followed.world.ports())
        unplanned(followed).run(followed.world.ports())
        woken.append(parameters(followed))
        return original(*given, **named)

    followed.world.replica.alter_table = late
    with pytest.raises((TryAgain, ActNow)):
        followed.run_with(ports)
    assert woken and parameters(followed) == woken[0]


@pytest.mark.parametrize("was_killed", [False, True])
def test_a_copy_of_external_data_that_is_under_way_is_stopped(was_killed: bool) -> None:
    """It would delete what users write beside it; also where a first try was killed right after its call."""
    world = ExternalWorld()
    world.put("/data/events/f")
    world.cycle()
    record, ports = world.record("/data/events"), world.ports()
    assert record is not None
    failover = UnplannedFailover(world.policy, 0, "east is gone", HOLDER)
    if was_killed:
        failover.run(ports)
    place = Places(record.target, is_new=False).lease
    with pytest.raises(LeaseLost), ports.trees.lease.hold(place, {"run": "old"}, LeaseKind.COPY) as lease:
        assert f"stopped: a copy into {record.target}" in failover.run(ports)
        lease.confirm()
        pytest.fail("it may still delete what users write")
    assert not any(line.startswith("stopped") for line in failover.run(ports))


def test_a_mark_is_read_as_it_was_written() -> None:
    said = Promotion("log:1", Position(7, 9, "ab"), "other", Position(3), How.PLANNED, "sales")
    assert Promotion.read({PROMOTED: str(said)}) == Promotion.read(said.marks()) == said
    newer = replace(said, ahead="orders, partitions of a#b@c")
    assert Promotion.read(newer.marks()) == newer and str(newer) == str(said)
    assert Promotion.read(said.written(newer.written({LAST_ID: "7"}))) == said, "nothing of an earlier one stays"
    for text in ("", "x", "log:1:2@other:3:4:5#planned#sales", str(said).replace("planned", "else")):
        assert Promotion.read({PROMOTED: text}) is None
