"""Writers are kept away while a replica takes over: rung by rung, killed anywhere, taken away again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import SOURCE_ADDRESS, killable
from tests.support.worlds.twins import contents
from tests.unit.incremental.test_incremental import Followed
from tests.unit.operations.test_failover import HOLDER, parameters, promotion, ready
from twinhive.model.errors import ActNow, Foreign, Promoted, Refused
from twinhive.model.marks import PHASE
from twinhive.model.policy import Policy
from twinhive.model.switching.fence import COMMAND, FENCED, QUOTA, FenceMark, FenceRules
from twinhive.operations.failover import Failover
from twinhive.operations.fence.lifting import AbortFailover
from twinhive.operations.forget import Forget
from twinhive.pipeline.phases import INCREMENTAL
from twinhive.pipeline.runner import run_phase

HOME = "hdfs://east/warehouse/managed/sales.db"


class Hook:
    """Stand for the operator's command; `shut` is what it has done to the writers."""

    def __init__(self) -> None:
        self.shut = False

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        assert environment["TWINHIVE_DATABASE"] == "sales"
        self.shut = list(words) == ["shut"]


class Fenced(Followed):
    """A replica that follows, whose policy keeps writers away."""

    def __init__(self, *rungs: str) -> None:
        super().__init__()
        ready(self)
        self.hook = Hook()
        rules = FenceRules(rungs, ("shut",), ("true",)) if COMMAND in rungs else FenceRules(rungs)
        self.policy: Policy = replace(self.policy, fence=rules)
        self.world.source.configurations[SOURCE_ADDRESS]["metastore.warehouse.dir"] = "hdfs://east/warehouse/managed"
        self.world.source_files.set_name_quota(HOME, 5_000)

    def failover(self, ports: Any = None) -> Failover:
        """Return a planned failover, which follows to the end behind its fence."""

        def follow(since: float) -> None:
            while not run_phase(INCREMENTAL, self.policy, self.world.ports(), {"run": "i"}, self.say)["window"].idle:
                pass

        return Failover(self.policy, HOLDER, wait=lambda seconds: None, catch_up=follow, run_command=self.hook)

    def abort(self) -> AbortFailover:
        return AbortFailover(self.policy, HOLDER, run_command=self.hook)

    @property
    def mark(self) -> FenceMark | None:
        database = self.world.source.database("sales")
        assert database is not None
        return FenceMark.read(database.parameters)

    @property
    def quota(self) -> int | None:
        return self.world.source_files.name_quota(HOME)

    def assert_open(self) -> None:
        """Prove that users write as if nothing had been."""
        assert (self.mark, self.quota, self.hook.shut) == (None, 5_000, False)
        assert self.world.replica_files.status(f"{self.policy.staging}/control/fence.json") is None
        self.users.insert("plain", None, [b"later"])
        self.follow()
        world = self.world
        assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)

    def assert_shut(self) -> None:
        assert self.mark is not None and self.quota == 1
        assert self.hook.shut == (COMMAND in self.policy.fence.rungs)


@pytest.fixture
def fenced() -> Fenced:
    return Fenced(QUOTA, COMMAND)


def test_writers_have_no_room_any_more_and_the_replica_takes_over(fenced: Fenced) -> None:
    fenced.users.insert("plain", None, [b"just before"])
    lines = fenced.failover().run(fenced.world.ports())
    assert any(f"no new file gets into {HOME}" in line for line in lines)
    fenced.assert_shut()
    assert promotion(fenced).position.event_id == fenced.world.source.current_event_id()
    with pytest.raises(Refused, match="quota"):
        fenced.users.insert("plain", None, [b"too late"])


def test_a_dry_run_shows_each_rung_and_sets_none(fenced: Fenced) -> None:
    told = "\n".join(fenced.failover().plan(fenced.world.ports()))
    assert f"would let no new file into {HOME}" in told and "would run: shut" in told and "--abort" in told
    assert fenced.mark is None and not fenced.hook.shut
    fenced.assert_open()


@pytest.mark.parametrize("rungs", [(QUOTA,), (COMMAND,), (COMMAND, QUOTA)])
def test_killed_at_any_change_it_is_aborted_or_goes_on(rungs: tuple[str, ...]) -> None:
    def act(fenced: Fenced, switch: Any) -> None:
        fenced.failover().run(killable(fenced.world.ports(), switch))

    for left in left_by_kills(lambda: Fenced(*rungs), act):
        if parameters(left)[PHASE] == "promoted":
            with pytest.raises(Promoted, match="cannot be aborted"):
                left.abort().run(left.world.ports())
            continue
        left.abort().run(left.world.ports())
        left.assert_open()
    for left in left_by_kills(lambda: Fenced(*rungs), act):
        left.failover().run(left.world.ports())
        left.assert_shut() if QUOTA in rungs else None
        assert parameters(left)[PHASE] == "promoted"


def test_an_abort_that_is_killed_is_run_again_to_the_same_end(fenced: Fenced) -> None:
    def begin() -> Fenced:
        begun = Fenced(QUOTA, COMMAND)
        begun.failover().fence(begun.world.ports())
        return begun

    def act(one: Fenced, switch: Any) -> None:
        one.abort().run(killable(one.world.ports(), switch))

    for left in left_by_kills(begin, act):
        left.abort().run(left.world.ports())
        left.assert_open()
        assert left.abort().run(left.world.ports()) == left.abort().plan(left.world.ports())


def test_a_writer_that_ignores_the_fence_is_found_and_nothing_is_promoted(fenced: Fenced) -> None:
    def ignore(_: float) -> None:
        table = fenced.world.source.table(fenced.users.name("plain"))
        fenced.world.source.alter_table(table.name, table.with_parameters({**table.parameters, "by": "alter"}))

    operation = replace(fenced.failover(), wait=ignore)
    with pytest.raises(ActNow, match=r"(?s)still written behind its fence.*ALTER_TABLE.*failover sales --abort"):
        operation.run(fenced.world.ports())
    assert parameters(fenced)[PHASE] == "following"
    fenced.abort().run(fenced.world.ports())
    fenced.follow()
    fenced.assert_open()


def test_a_file_that_was_open_before_the_fence_is_waited_for(fenced: Fenced) -> None:
    fenced.world.source_files.opened.add(f"{HOME}/plain/_part")
    with pytest.raises(ActNow, match=r"(?s)open for writing.*plain/_part"):
        fenced.failover().run(fenced.world.ports())
    fenced.world.source_files.opened.clear()
    fenced.failover().run(fenced.world.ports())


def test_a_fence_that_somebody_opened_is_noticed(fenced: Fenced) -> None:
    operation = fenced.failover()
    operation.fence(fenced.world.ports())
    fenced.world.source_files.set_name_quota(HOME, None)
    operation.catch_up(0.0)
    with pytest.raises(ActNow, match="somebody has opened the fence"):
        operation.prove_quiet(fenced.world.ports())
    fenced.world.source_files.set_name_quota(HOME, 1)
    fenced.abort().run(fenced.world.ports())
    with pytest.raises(ActNow, match="is not fenced as its policy says"):
        operation.prove_quiet(fenced.world.ports())


def test_a_failover_that_was_aborted_and_begun_again_meanwhile_proves_all_anew(fenced: Fenced) -> None:
    operation, ports = fenced.failover(), fenced.world.ports()
    operation.fence(ports)
    operation.catch_up(0.0)
    end = operation.prove_quiet(ports)
    token = fenced.mark.token
    fenced.abort().run(ports)
    with pytest.raises(ActNow, match="not fenced"):
        operation.promote(ports, end, operation.clock(), token)
    operation.fence(ports)
    with pytest.raises(ActNow, match="taken away meanwhile"):
        operation.promote(ports, end, operation.clock(), token)


def test_a_table_that_came_after_the_fence_is_a_hole(fenced: Fenced) -> None:
    operation, ports = fenced.failover(), fenced.world.ports()
    operation.fence(ports)
    table = fenced.world.source.table(fenced.users.name("plain"))
    fenced.world.source_files.put("hdfs://east/elsewhere/t/f", b"f")
    located = replace(table, location="hdfs://east/elsewhere/t")
    fenced.world.source.alter_table(table.name, located)
    with pytest.raises(ActNow, match=r"(?s)not fenced as its policy says.*hdfs://east/elsewhere/t"):
        operation.prove_quiet(ports)


def test_the_fence_of_another_policy_is_left_alone(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    other = replace(fenced.policy, name="other")
    with pytest.raises(Foreign, match="fenced by another failover"):
        replace(fenced.failover(), policy=replace(other, name="other"))._fence.run(fenced.world.ports())


def test_a_quota_that_would_keep_others_out_is_refused(fenced: Fenced) -> None:
    database = fenced.world.source.database("sales")
    inner = replace(database, name="inner", managed_location=f"{HOME}/inner", location=None, parameters={})
    fenced.world.source.create_database(inner)
    with pytest.raises(Refused, match="others would be kept out"):
        fenced.failover().run(fenced.world.ports())
    assert fenced.quota == 5_000


def test_only_directories_of_its_tables_are_fenced_where_a_policy_selects_some(fenced: Fenced) -> None:
    fenced.policy = replace(fenced.policy, include=("plain",))
    told = fenced.failover()._fence.plan(fenced.world.ports())
    assert [line for line in told if "no new file" in line] == [
        f"would let no new file into {HOME}/plain (quota of names 1)"
    ]


def test_a_note_that_is_gone_is_said_and_nobody_guesses(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.world.replica_files.delete_file(f"{fenced.policy.staging}/control/fence.json")
    with pytest.raises(ActNow, match="nobody knows any more what was there"):
        fenced.abort().run(fenced.world.ports())


def test_a_table_that_lost_its_directory_behind_the_fence_is_named(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.world.source_files.delete(f"{HOME}/plain")
    assert any("TRUNCATE" in line and "plain" in line for line in fenced.abort().run(fenced.world.ports()))


def test_forgetting_lets_the_writers_in_again(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.hook.shut = False
    lines = Forget(replace(fenced.policy, fence=FenceRules()), HOLDER).run(fenced.world.ports())
    assert fenced.mark is None and fenced.quota == 5_000
    assert any("its writers may write" in line for line in lines)


def test_without_rungs_nothing_is_fenced() -> None:
    fenced = Fenced()
    assert "people keep writers away" in "\n".join(fenced.failover().plan(fenced.world.ports()))
    fenced.failover().run(fenced.world.ports())
    assert FENCED not in fenced.world.source.database("sales").parameters and fenced.quota == 5_000
